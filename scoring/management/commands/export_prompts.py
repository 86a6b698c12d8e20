import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.management.arguments import RefusingCommand
from scoring.management.arguments import add_format, add_output, find_subject, put_lines
from scoring.prompts.formats import NAMES, templates_for, writer_of


class Command(RefusingCommand):
    help = (
        "Print one JSON object per line with a prompt for every example: the description, the "
        "training set and each test example as one text (icl) or as messages (chat); each example "
        "by itself (pairs); or UniFew's questions (unifew, with --templates). Add what the model "
        "answered as `answer`, and read_answers makes predictions of it. Prints the gold of "
        "training examples, never that of test examples. Stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--benchmark", default="", help="needed if there are several")
        add("--task", default="", help="needed if there are several")
        add("--study", default="", metavar="SLUG", help="as the people of this study saw it")
        add_format(parser, NAMES, "icl")
        wording = "question, joining and labels of each task, for the format unifew"
        add("--templates", type=Path, metavar="FILE", help=wording)
        add("--shots", type=int, nargs="+", default=[], metavar="K")
        add("--split", type=int, nargs="+", default=[], metavar="N")
        add("--episode", type=int, nargs="+", default=[], metavar="N")
        order = "for the order of the training examples, stored in every line"
        add("--seed", type=int, default=0, help=order)
        add_output(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        put_lines(self, _lines(options), options["output"])


def _lines(options: dict[str, Any]) -> Iterator[str]:
    form = options["format"]
    write = writer_of(form, templates_for(form, options["templates"]))
    chosen = {"limit": None, "splits": options["split"], "episodes": options["episode"]}
    subject = find_subject({**options, **chosen, "task": [options["task"]]})
    subject.benchmark.check_texts_may_leave()
    lines = (line for prompts in subject.prompt_sets() for line in write(prompts))
    for line in subject.benchmark.headed(lines):
        yield json.dumps(line, ensure_ascii=False)
