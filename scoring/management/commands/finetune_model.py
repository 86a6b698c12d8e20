import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from django.template.defaultfilters import pluralize

from annotation.access.rights import find_owner
from annotation.management.arguments import RefusingCommand, add_owner
from annotation.models.errors import BadInput
from scoring.management.arguments import add_subject, add_system, find_subject, put_lines
from scoring.models import Method, Run, shots_label
from scoring.prompts.formats import NAMES_BY_EXAMPLE
from scoring.runs.formats.plain_files import predictions_of
from scoring.runs.formats.records import run_fields
from scoring.tuning.settings import HEADS, OPTIONS
from scoring.tuning.tuning import LIMIT, Plan, Step, steps, tune, tuned_models

METHODS = (Method.FT, Method.PT)
as_json = partial(json.dumps, ensure_ascii=False)


class Command(RefusingCommand):
    help = (
        "Tunes the model in FOLDER (or of a hub's name) on each shot set or episode, asks it the "
        "test, and stores each as a run; zero-shot sets are only asked. Text-to-text models (T5) "
        "and encoders (BERT, RoBERTa, DeBERTa); the papers' settings where nothing else is said. "
        "Adds runs, and changes no others: what is there already is not done again. Needs "
        "requirements-models.txt."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("folder", metavar="FOLDER", help="weights, config and tokenizer")
        add("--checkpoint", type=Path, metavar="FILE", help="weights to load over those of FOLDER")
        add("--method", choices=METHODS, default=Method.FT)
        texts = (
            "for text-to-text models: as people see an example (pairs, the default), "
            "question and text alone (clues), or UniFew's questions (unifew, with --templates)"
        )
        add("--format", choices=NAMES_BY_EXAMPLE, default="", help=texts)
        wording = "wording of each task for --format unifew, or patterns and words for --method PT"
        add("--templates", type=Path, metavar="FILE", help=wording)
        head = (
            "of an encoder: those that CLUES describes (clues, the default), or BIO tags for "
            "pieces of the text (bio), which the system's name then says"
        )
        add("--head", choices=HEADS, default="", help=head)
        add("--device", default="auto", help="such as cpu or cuda (default: auto)")
        split = "choose the epoch by the loss on this split; the system's name says so"
        add("--validation-split", type=int, metavar="N", help=split)
        add("--dry-run", action="store_true", help="only show what would be done")
        add("--output", type=Path, metavar="FILE", help="also write the predictions there")
        add_subject(parser)
        runs = parser.add_argument_group("about the runs")
        runs.add_argument("--system", default="", help="default: the folder's name")
        runs.add_argument("--parameters", default="", help="such as 110M; default: counted")
        add_system(runs, protocol="how it was prepared before; may be given several times")
        settings = parser.add_argument_group("settings, by default those of the papers")
        for name, option in OPTIONS.items():
            settings.add_argument(f"--{name.replace('_', '-')}", **option)
        add_owner(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        plan = _plan(options)
        todo = steps(plan)
        self._show(plan, todo)
        if not options["dry_run"]:
            runs = list(self._runs(plan, todo))
            if options["output"] is not None:
                lines = chain.from_iterable(map(predictions_of, runs))
                put_lines(self, map(as_json, lines), options["output"])

    def _show(self, plan: Plan, todo: list[Step]) -> None:
        self.stdout.write(f"Model: {plan.source_name}, on {plan.model.source.device}")
        self.stdout.write(f"Settings: {plan.model.settings.in_words()}")
        left = (step for step in todo if step.left_out)
        left_out = Counter(f"{step.fields['task']}: {step.left_out}" for step in left)
        for reason, count in left_out.items():
            self.stdout.write(f"Left out, {count} × {reason}")
        open_steps = [step for step in todo if not step.left_out]
        done = sum(step.run is not None for step in open_steps)
        sets = f"{len(open_steps)} set{pluralize(open_steps)}"
        self.stdout.write(f"{sets}, {done} of them there already")
        if not open_steps:
            raise BadInput("Nothing is left to do: choose other tasks, shots or splits.")

    def _runs(self, plan: Plan, todo: list[Step]) -> Iterator[Run]:
        open_steps = [step for step in todo if not step.left_out]
        for number, step in enumerate(open_steps, start=1):
            where = f"{number} of {len(open_steps)}: {_named(step)}"
            if step.run is not None:
                yield step.run
                continue
            run, notes = tune(plan, step, progress=self._progress(where))
            self.stdout.write(f"{where}: run {run.pk}")
            for note in notes:
                self.stdout.write(f"    {note}")
            yield run

    def _progress(self, where: str) -> Any:
        """Show it on one line of a terminal; a log gets a line for each set alone."""

        def show(step: int, total: int, loss: float) -> None:
            if self.stderr.isatty():
                end = "\n" if step == total else ""
                self.stderr.write(f"\r{where}: step {step} of {total}, loss {loss:.3f}", ending=end)

        return show


def _named(step: Step) -> str:
    fields = step.fields
    if "episode" in fields:
        return f"{fields['task']}, episode {fields['episode']}"
    split = "" if fields.get("split") is None else f", split {fields['split']}"
    return f"{fields['task']}, {shots_label(fields['shots'])} shots{split}"


def _plan(options: dict[str, Any]) -> Plan:
    model = tuned_models().tuned_model(options)
    limit, split = options["limit"], options["validation_split"]
    said = {
        "system": model.named(options["system"] or Path(options["folder"]).resolve().name),
        "parameters": options["parameters"] or model.source.parameters,
        "repeat": options["seed"] or None,
        **{name: options[name] for name in ("method", "citation", "url", "protocol")},
    }
    return Plan(
        subject=find_subject(options),
        limit=limit,
        model=model,
        fields=run_fields(said),
        tuning={**model.as_plain(), "validation_split": split, LIMIT: limit},
        validation_split=split,
        source_name=options["folder"],
        owner=find_owner(options["owner"]),
    )
