"""Sample few-shot episodes from a labelled data set."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils.text import slugify

from annotation.benchmarks import sampling
from annotation.benchmarks.archives import read_file
from annotation.benchmarks.formats.labelled import DEFAULT_QUESTION, LabelledData, read_labelled
from annotation.management.arguments import ImportingCommand
from annotation.models import Task, Transfer
from annotation.models.errors import BadInput
from scoring.core.episodes import EpisodeRules

PARAMETERS = {
    "few_shot": "how many few-shot episodes",
    "zero_shot": "how many zero-shot episodes",
    "least_classes": "fewest classes in an episode",
    "most_classes": "most classes in an episode",
    "least_shots": "fewest training examples per class",
    "most_shots": "most training examples per class",
    "kept": "share of a class's examples that the test part leaves for training",
    "zero_shot_kept": "the same for zero-shot episodes",
    "most_test": "most test examples per class",
}


class Command(ImportingCommand):
    done = "sampled"
    help = (
        "Sample episodes as FLEX has them from a table of texts with labels, or from an imported "
        "task. Adds one task with its item sets to "
        "a benchmark; running it again changes nothing and prints the same checksum."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("path", nargs="?", type=Path, help="the file; or give --from-task")
        add("--from-task", metavar="BENCHMARK/TASK", help="an imported task")
        add("--benchmark", help="add to this one (default: that of --from-task)")
        add("--task", help="the new task's slug (default: from the source)")
        add("--preset", choices=list(sampling.PRESETS), default="flex-domain")
        add("--seed", type=int, default=0)
        add("--expected", default="", help="the checksum that the result must have")
        super().add_arguments(parser)
        field = parser.add_argument_group("a file's fields").add_argument
        field("--text", action="append", metavar="FIELD", help="may be given several times")
        field("--label", default="label", metavar="FIELD")
        field("--question", default=DEFAULT_QUESTION)
        rule = parser.add_argument_group("parameters that override the preset's").add_argument
        for name, meaning in PARAMETERS.items():
            kind = float if name.endswith("kept") else int
            rule("--" + name.replace("_", "-"), type=kind, help=meaning)
        some = "an episode has some of the classes, not all"
        rule("--classes-transfer", action="store_true", default=None, help=some)
        rule("--transfer", choices=Transfer.values, help="tag of the new task")

    def act(self, owner: User | None, options: Mapping[str, Any]) -> None:
        source = _source_task(options["from_task"])
        data = _data(source, options)
        chosen = sampling.PRESETS[options["preset"]]
        count = len(set(data.labels.values()))
        if chosen.classes not in (None, count):
            raise BadInput(
                f"{data.file} has {count} classes, but the preset {options['preset']} is for "
                f"{chosen.classes}."
            )
        names = [field.name for field in fields(EpisodeRules)]
        changes = {name: options[name] for name in names if options[name] is not None}
        task, checksum, sets = sampling.sample(
            data,
            rules=sampling.changed(chosen.rules, changes),
            seed=options["seed"],
            benchmark=options["benchmark"] or (source.benchmark.name if source else ""),
            task=options["task"] or _slug(source, options["path"]),
            fields=_fields(source, options["transfer"] or chosen.transfer),
            expected=options["expected"],
            owner=owner,
        )
        news = "new" if task.created else "no change"
        self.stdout.write(
            f"{task.slug}: {sets} item sets from {len(data.examples)} examples of {count} classes, "
            f"seed {options['seed']} ({news})"
        )
        self.stdout.write(f"checksum {checksum}")
        for finding in task.findings:
            if finding.severity == "warning":
                self.stderr.write(finding.message)
        self.ask_for_descriptions([task])


def _source_task(named: str | None) -> Task | None:
    if not named:
        return None
    benchmark, _, slug = named.partition("/")
    task = Task.objects.filter(benchmark__name=benchmark, slug=slug).first()
    if task is None:
        raise BadInput(f"There is no task {named}; name one as BENCHMARK/TASK.")
    return task


def _data(source: Task | None, options: Mapping[str, Any]) -> LabelledData:
    path: Path | None = options["path"]
    if source is not None and path is None:
        return sampling.labelled_task(source)
    if source is not None or path is None:
        raise BadInput("Give either a file or --from-task.")
    if not options["benchmark"]:
        raise BadInput("Name the benchmark to add the task to with --benchmark.")
    fields = {"texts": options["text"] or ["text"], "label": options["label"]}
    return read_labelled(read_file(path), path.name, question=options["question"], **fields)


def _fields(source: Task | None, transfer: str) -> dict[str, Any]:
    """The new task's describing fields: those of the task it is sampled from."""
    if source is None:
        return {"transfer": transfer}
    copied = ("description", "language", "direction", "reference_policy", "exposure_key")
    return {"transfer": transfer, **{name: getattr(source, name) for name in copied}}


def _slug(source: Task | None, path: Path | None) -> str:
    if source is not None:
        return f"{source.slug}-episodes"[:80]
    return slugify(path.stem)[:80] if path else ""
