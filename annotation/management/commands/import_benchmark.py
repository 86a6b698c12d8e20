"""Import a benchmark, and print what was found in it."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.template.defaultfilters import pluralize
from django.utils.text import slugify

from annotation.benchmarks.formats.drawing import Draw
from annotation.benchmarks.formats.known_sets import PARTS
from annotation.benchmarks.importing import import_benchmark, read_source
from annotation.benchmarks.looking import in_lines, looks
from annotation.benchmarks.storing import TaskReport
from annotation.management.arguments import ImportingCommand


class Command(ImportingCommand):
    help = (
        "Imports a benchmark from a folder or a zip file: adds its tasks, examples, gold and item "
        "sets, and updates those that no started study uses. Prints counts and the audit. If a "
        "file is bad, nothing is imported; importing the same files again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        layout = (
            "a folder or zip file with <Folder>/<stem>_test.jsonl and "
            "<Folder>/<stem>_train_<shots>_<split>.jsonl for every task; or a table (CSV, TSV, "
            "JSON, JSON lines, Parquet), or a folder or zip of tables, one task a file"
        )
        add("path", type=Path, help=layout)
        add("--name", help="the benchmark's name (default: from the path)")
        only = "import only this task, by its slug such as sst2; may be given several times"
        add("--task", action="append", metavar="TASK", help=only)
        add("--encoding", default="", help="of texts that are not UTF-8")
        sizes = "draw nested shot sets of these sizes, by label where labels repeat"
        add("--draw-shots", nargs="+", type=int, default=[], metavar="K", help=sizes)
        add("--splits", type=int, default=5, help="how often they are drawn")
        add("--seed", type=int, default=0, help="of the draw")
        labelled = "what they are drawn from (default: the labelled part beside the test set)"
        add("--from", dest="source", type=Path, metavar="FILE", help=labelled)
        test = "draw a test set of N too, where one file holds all labelled rows"
        add("--draw-test", type=int, default=0, metavar="N", help=test)
        lax = "leave out the columns of tables that are not used, whatever they hold"
        add("--leave-out-unused", action="store_true", help=lax)
        dry = "store nothing: show what was read, and the first items as people will see them"
        add("--dry-run", action="store_true", help=dry)
        super().add_arguments(parser)

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        path = options["path"].resolve()
        is_part = path.stem.lower() in PARTS
        stem = path.parent.name if is_part else path.stem if path.is_file() else path.name
        name = options["name"] or slugify(stem)[:80] or "benchmark"
        names = ("draw_shots", "splits", "seed", "source", "draw_test")
        draw = Draw(*(options[name] for name in names))
        how = {"encoding": options["encoding"], "lax": options["leave_out_unused"]}
        how["draw"] = draw if draw.shots else None
        if options["dry_run"]:
            read, _ignored = read_source(options["path"], options["task"], _quietly, **how)
            for line in chain.from_iterable(map(in_lines, looks(read, _quietly))):
                self.stdout.write(line)
            self.stderr.write("Nothing was stored: leave out --dry-run to store it.")
            return
        report = import_benchmark(
            options["path"], name=name, tasks=options["task"], owner=owner, **how
        )
        for task in report.tasks:
            for line in _lines(task):
                self.stdout.write(line)
        for name in report.ignored:
            self.stderr.write(f"Not read: {name}")
        where = "in the admin, or in a task.json beside its files"
        self.ask_for_descriptions(report.tasks, where=where)
        self.stderr.write(report.summary)


def _quietly(done: int, total: int, message: str) -> None:
    """Nobody watches a look."""


def _lines(task: TaskReport) -> Iterator[str]:
    yield (
        f"{task.slug}: {task.kind}, "
        f"{task.training_examples} training example{pluralize(task.training_examples)} in "
        f"{task.shot_sets} shot set{pluralize(task.shot_sets)}, "
        f"{task.test_examples} test example{pluralize(task.test_examples)} ({_news(task)})"
    )
    for finding in task.findings:
        yield f"  {finding.severity}: {finding.message}"
        for example in finding.examples:
            yield f"      {example}"
    yield ""


def _news(task: TaskReport) -> str:
    if task.created:
        return "new"
    counts = {
        "new examples": task.new_examples,
        "changed examples": task.changed_examples,
        "new golds": task.new_golds,
        "new or changed sets": task.new_sets,
        "changed fields": len(task.changed_fields),
    }
    news = [f"{name}: {count}" for name, count in counts.items() if count]
    return ", ".join(news) or "no change"
