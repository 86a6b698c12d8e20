"""Print prompts of a task's batches, so that a model sees what people saw."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models.errors import BadInput
from scoring.prompts.formats import FORMATS
from scoring.prompts.prompting import Wanted, prompt_sets
from scoring.runs.importing import choose_benchmark
from scoring.runs.storing import find_task


class Command(BaseCommand):
    help = (
        "Print one JSON object per line with a prompt for every example: UniFew's multiple-choice "
        "questions, or the training set as demonstrations before each test example. Add "
        "`prediction` to the lines, name system and method, and import_runs takes them back. "
        "Prints the gold of training examples, never that of test examples. Stores nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", default="", help="needed if there are several")
        parser.add_argument("--task", default="", help="needed if there are several")
        parser.add_argument("--format", choices=list(FORMATS), default="icl")
        parser.add_argument("--shots", type=int, nargs="+", default=[], metavar="K")
        parser.add_argument("--split", type=int, nargs="+", default=[], metavar="N")
        parser.add_argument("--episode", type=int, nargs="+", default=[], metavar="N")
        parser.add_argument(
            "--seed", type=int, default=0, help="for the order of the training examples"
        )
        parser.add_argument("--output", type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            lines = self._lines(options)
            if options["output"] is None:
                for line in lines:
                    self.stdout.write(line)
                return
            with options["output"].open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
        except BadInput as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"Cannot write {options['output']}: {error.strerror}.") from error
        self.stderr.write(f"Written: {options['output']}")

    def _lines(self, options: dict[str, Any]) -> Iterator[str]:
        task = find_task(choose_benchmark(options["benchmark"]), options["task"])
        wanted = Wanted(options["shots"], options["split"], options["episode"])
        for prompts in prompt_sets(task, wanted=wanted, seed=options["seed"]):
            for line in FORMATS[options["format"]](prompts):
                yield json.dumps(line, ensure_ascii=False)
