from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from annotation.access.rights import find_owner
from annotation.management.arguments import RefusingCommand, add_owner
from annotation.models.errors import BadInput
from scoring.management.arguments import add_system, put_lines
from scoring.models import Method
from scoring.runs.formats import reported
from scoring.runs.formats.detecting import find_sources
from scoring.runs.formats.json_files import read_opening
from scoring.runs.formats.records import NAMES, Reader, ReadOptions, run_fields
from scoring.runs.importing import choose_benchmark, import_predictions

FLAGS = {"yes": True, "no": False}


class Command(RefusingCommand):
    help = (
        "Imports predictions as runs, or reported scores. Adds runs with their predictions, or "
        "reported scores, and changes no existing ones: importing the same file again changes "
        "nothing. The format is detected; what matched, was unmatched, missing, duplicate or "
        "refused is printed. Options about the run override what the file says."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("path", type=Path, help="a file, or a folder of files")
        add("--benchmark", help="needed if there are several and none is named")
        add_owner(parser)
        group = parser.add_argument_group("about the run")
        said = group.add_argument
        said("--task", help="the task's slug, such as conll03")
        said("--system", help="such as BERT-Base")
        said("--method", choices=Method.values)
        said("--parameters", help="such as 110M")
        said("--shots", help="a number, or all for fully supervised")
        said("--split", help="a number")
        said("--repeat", help="number or seed, of several runs with the same shots and split")
        said("--episode", help="a number")
        said("--uses-labelled", choices=FLAGS, help="labelled data from elsewhere")
        said("--uses-unlabelled", choices=FLAGS, help="unlabelled data from elsewhere")
        add_system(group, protocol="may be given several times")
        several = "which filter, scorer or evaluation to use, if a file has several"
        add("--filter", default="", metavar="NAME", help=several)
        add("--epoch", type=int, help="of an Inspect log (default: all, each as a run)")
        pieces = "cuts free text into pieces (default: a JSON list, or one piece per line)"
        add("--separator", default="", help=pieces)
        none = "the word that stands for no answer in free text"
        add("--none", default="", metavar="WORD", help=none)
        labels = "what label numbers mean, from 0, in MT-DNN's files"
        add("--labels", nargs="+", default=[], metavar="LABEL", help=labels)
        again = (
            "store a run even if the system has given exactly its answers before, with other "
            "shots or another split"
        )
        add("--same-answers", action="store_true", help=again)
        differ = "store a run although its log judges some answers otherwise than the gold here"
        add("--accept-differences", action="store_true", help=differ)

    def handle(self, *args: Any, **options: Any) -> None:
        failed = []
        owner = find_owner(options["owner"])
        read_options = _read_options(options)
        readable, skipped = find_sources(options["path"])
        for reader, path in readable:
            try:
                self._import(reader, path, read_options, owner)
            except BadInput as error:
                failed.append(str(error))
        for path in skipped:
            self.stderr.write(f"Not read, because it is in no known format of predictions: {path}")
        if failed:
            raise CommandError("\n".join(failed))

    def _import(self, reader: Reader, path: Path, options: ReadOptions, owner: User | None) -> None:
        named = read_opening(path).get("benchmark") if path.is_file() else None
        in_file = named if isinstance(named, str) else ""
        benchmark = choose_benchmark(options.run.benchmark or in_file)
        about: dict[str, Any] = {"path": path, "benchmark": benchmark, "options": options}
        if reader is reported.READER:
            lines = _score_lines(reported.import_scores(**about))
        else:
            lines = import_predictions(reader=reader, owner=owner, **about).in_words()
        put_lines(self, lines, None)


def _read_options(options: Mapping[str, Any]) -> ReadOptions:
    said = {name: options[name] for name in NAMES}
    for name in ("uses_labelled", "uses_unlabelled"):
        said[name] = FLAGS.get(said[name])
    return ReadOptions(
        run=run_fields(said),
        choice=options["filter"],
        epoch=options["epoch"],
        # As a shell passes it: \t and \n stand for tab and line break.
        separator=options["separator"].replace("\\t", "\t").replace("\\n", "\n"),
        none_word=options["none"],
        labels=tuple(options["labels"]),
        same_answers=options["same_answers"],
        accept_differences=options["accept_differences"],
    )


def _score_lines(report: reported.ScoresReport) -> Iterator[str]:
    yield f"{report.file}: {reported.NAME}"
    for line in report.refused:
        yield f"  refused: {line}"
    if report.tasks_not_there:
        yield f"  figures of tasks that are not imported: {', '.join(report.tasks_not_there)}"
    yield (f"{report.added} new, {report.unchanged} there already, {len(report.refused)} refused")
