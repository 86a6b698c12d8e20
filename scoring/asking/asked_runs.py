"""The prompts that are asked, and the run that a set of them fills: what of it has been answered
already, what comes in, and what is stored of it in the end.

A run that was interrupted is taken up where it ended; one with the same prompts and settings is
not asked again. Every reply is stored with its prediction, so nothing that was paid for is lost.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from annotation.jobs.pacing import write
from annotation.models import ItemSet, Task
from annotation.models.errors import BadInput
from scoring.asking.settings import Answered, ModelSettings
from scoring.models import Method, Prediction, Reply, Run
from scoring.prompts.formats import UNIFEW, Templates, writer_of
from scoring.prompts.prompting import PromptSet, Subject, as_labels, test_set_of
from scoring.runs.formats.records import run_fields
from scoring.runs.import_report import Counts, form_in_words
from scoring.runs.importing import ImportedRun
from scoring.runs.joining import ItemFinder
from scoring.runs.prompt_ids import HOW, PLACE
from scoring.runs.scores import keep_scores
from scoring.runs.storing import (
    Answers,
    StoredAlready,
    add_predictions,
    finish_run,
    open_run,
    pieces_of,
    storable_answer,
    storable_text,
)

# `pairs` shows no shots, and is for fine-tuning.
FORMATS = ("icl", UNIFEW, "chat")
FORMAT = "run_model"
# In the report of a run.
ASKED = "asked"
CUT_OFF = "max_tokens"


Line = dict[str, Any]


@dataclass(frozen=True)
class Prompts:
    """What is asked: the test prompts of a subject, in a wording."""

    subject: Subject
    form: str = FORMATS[0]
    templates: Templates | None = None

    def sets(self) -> Iterator[tuple[PromptSet, list[Line]]]:
        """Each with its prompts: those of its test examples."""
        write = writer_of(self.form, self.templates)
        for prompts in self.subject.prompt_sets():
            if self.form == UNIFEW and prompts.training:
                raise BadInput(
                    "The format unifew shows each example by itself, without shots, so only "
                    "zero-shot sets are asked with it: add --shots 0, or tune a model on the shots."
                )
            yield prompts, [line for line in write(prompts) if line["role"] == "test"]


def content_of(line: Line) -> Any:
    """What the model is shown of a line."""
    return line["messages"] if "messages" in line else line["prompt"]


def checksum_of(lines: Sequence[Line]) -> str:
    """SHA-256 over the ids and contents of prompts."""
    said = [[line["id"], content_of(line)] for line in lines]
    return sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


@dataclass
class AskedRun:
    """`missing` are the prompts without an answer, by example."""

    run: Run
    items: ItemFinder
    missing: dict[int, Line]

    @property
    def task(self) -> Task:
        return self.run.task

    @property
    def in_words(self) -> str:
        return f"{self.task.slug}, {self.run.label}"

    def take(self, answers: Sequence[tuple[int, Answered]]) -> None:
        """Store answers with what the model wrote, in one transaction."""
        read = {pk: self._read(pk, answered.text) for pk, answered in answers}
        write(lambda: self._store(read, dict(answers)))
        for pk in read:
            self.missing.pop(pk, None)

    def finish(self, settings: ModelSettings, client: str) -> ImportedRun:
        """The complete run, or the one that says exactly the same."""
        counts = Counts()
        begun = self.run.report
        asked = {**begun[ASKED], **self._told(settings), "client": client}
        report = {**counts.as_plain(), "notes": _notes(asked), "prompts": begun["prompts"]}
        try:
            finish_run(self.run, report={**report, ASKED: asked})
        except StoredAlready as error:
            self.run.delete()
            return ImportedRun(error.run, counts, (), is_new=False)
        keep_scores([self.run])
        self._take_the_place_of_parts()
        counts.matched, counts.missing = self.run.report["matched"], self.run.report["missing"]
        forms = form_in_words(self.run.report, self.items.item_set.choices)
        return ImportedRun(self.run, counts, (*self.run.report["notes"], *forms), is_new=True)

    def _take_the_place_of_parts(self) -> None:
        """A complete run of fewer prompts, whose answers this one has taken over, would count
        twice."""
        answered = self.run.predictions.values("example_id")
        same = Run.objects.complete().filter(
            report__asked__key=self.run.report[ASKED]["key"], owner=self.run.owner
        )
        for part in same.exclude(pk=self.run.pk):
            if not part.predictions.exclude(example_id__in=answered).exists():
                part.delete()

    def _read(self, example: int, text: str) -> tuple[str, ...]:
        line = self.missing[example]
        pieces = pieces_of(text, self.task.kind, options=line.get("options") or [])
        return storable_answer(as_labels(line, pieces))

    def _store(self, read: Answers, answers: Mapping[int, Answered]) -> None:
        add_predictions(self.run, read)
        predictions = Prediction.objects.filter(run=self.run, example_id__in=list(read))
        without = predictions.filter(reply=None).values_list("example_id", "pk")
        Reply.objects.bulk_create(_reply(pk, answers[example]) for example, pk in without)

    def _told(self, settings: ModelSettings) -> dict[str, Any]:
        """From the replies, so that it is whole however often the run was interrupted."""
        replies = Reply.objects.filter(prediction__run=self.run)
        sums = replies.aggregate(
            first=Min("created_at"),
            last=Max("created_at"),
            read=Sum("input_tokens", default=0),
            written=Sum("output_tokens", default=0),
            cut_off=Count("pk", filter=Q(stop_reason=CUT_OFF)),
        )
        return {
            "versions": sorted(set(replies.values_list("version", flat=True))),
            "from": sums["first"].isoformat(),
            "to": sums["last"].isoformat(),
            "input_tokens": sums["read"],
            "output_tokens": sums["written"],
            "cost": settings.cost(sums["read"], sums["written"]),
            "cut_off": sums["cut_off"],
        }


def asked_run(
    prompts: PromptSet,
    lines: Sequence[Line],
    settings: ModelSettings,
    *,
    owner: User | None,
    limit: int | None,
) -> AskedRun:
    """The run to fill, made or taken up, with the prompts that are still to be asked."""
    test_set = test_set_of(prompts)
    items = ItemFinder(test_set)
    by_example = {items.find(line["example"]): line for line in lines[:limit]}
    run, known = known_answers(test_set, lines, settings, owner=owner)
    missing = {pk: line for pk, line in by_example.items() if pk not in known}
    if run is None or (run.is_complete and missing):
        run = _opened(prompts, test_set, lines, settings, owner)
    if not run.is_complete:
        _copy(known, run)
    return AskedRun(run, items, missing)


def known_answers(
    test_set: ItemSet, lines: Sequence[Line], settings: ModelSettings, *, owner: User | None
) -> tuple[Run | None, Mapping[int, Prediction]]:
    """What earlier runs of the same prompts and settings hold: the one to go on with, if any, and
    the answer of each example."""
    runs = _same_runs(test_set, lines, settings, owner)
    answers: dict[int, Prediction] = {}
    for run in runs:
        for prediction in run.predictions.select_related("reply"):
            answers.setdefault(prediction.example_id, prediction)
    open_ones = [run for run in runs if not run.is_complete]
    return next(reversed(open_ones or list(runs)), None), answers


def _same_runs(
    test_set: ItemSet, lines: Sequence[Line], settings: ModelSettings, owner: User | None
) -> QuerySet[Run]:
    """Complete ones before the open one."""
    return Run.objects.filter(
        test_set=test_set,
        source_format=FORMAT,
        owner=owner,
        report__asked__key=_key(lines, settings),
    ).order_by("state", "pk")


def _key(lines: Sequence[Line], settings: ModelSettings) -> str:
    """The same for the same prompts to the same model in the same way."""
    said = json.dumps([checksum_of(lines), settings.answering()], sort_keys=True)
    return sha256(said.encode()).hexdigest()


def _opened(
    prompts: PromptSet,
    test_set: ItemSet,
    lines: Sequence[Line],
    settings: ModelSettings,
    owner: User | None,
) -> Run:
    said = {name: prompts.fields.get(name) for name in PLACE}
    fields = run_fields({**said, "system": settings.model, "method": Method.ICL})
    how = {name: lines[0][name] for name in HOW if name in lines[0]}
    with transaction.atomic():
        run = open_run(
            test_set=test_set,
            fields=fields,
            source_format=FORMAT,
            source_name=settings.model,
            owner=owner,
        )
        run.report = {
            "prompts": {**how, "checksum": checksum_of(lines)},
            ASKED: {
                "key": _key(lines, settings),
                **settings.answering(),
                "provider": settings.provider,
            },
        }
        run.save(update_fields=["report"])
    return run


def _copy(answers: Mapping[int, Prediction], run: Run) -> None:
    """Take over what a complete run on some of the prompts was told."""
    others = {pk: p for pk, p in answers.items() if p.run_id != run.pk}
    with transaction.atomic():
        add_predictions(run, {pk: tuple(p.answer) for pk, p in others.items()})
        keys = dict(run.predictions.filter(reply=None).values_list("example_id", "pk"))
        copies = [_copied(p.reply, keys[pk]) for pk, p in others.items() if pk in keys]
        Reply.objects.bulk_create(copies)


def _copied(reply: Reply, prediction: int) -> Reply:
    names = ("text", "version", "stop_reason", "input_tokens", "output_tokens")
    return Reply(prediction_id=prediction, **{name: getattr(reply, name) for name in names})


def _reply(prediction: int, answered: Answered) -> Reply:
    return Reply(
        prediction_id=prediction,
        text=storable_text(answered.text),
        version=storable_text(answered.version)[:200],
        stop_reason=answered.stop_reason[:40],
        input_tokens=answered.input_tokens,
        output_tokens=answered.output_tokens,
    )


def _notes(asked: Mapping[str, Any]) -> list[str]:
    if not asked["cut_off"]:
        return []
    return [f"{asked['cut_off']} answers were cut off after {asked['max_tokens']} tokens"]
