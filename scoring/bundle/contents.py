"""What a study bundle holds: a study's people under their pseudonyms, their answers, the gold, and
the figures that follow. No text that is not an answer or gold, no comment, no moment in time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import product
from typing import Any

from annotation.models import (
    Assignment,
    Batch,
    Example,
    Gold,
    Item,
    ItemSet,
    Judgement,
    ReferencePolicy,
    Study,
    Task,
)
from scoring.bundle.figures import KEY, NUMBERS
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader, shots_of_batch
from scoring.cells.rows import Row
from scoring.cells.scope import Choices
from scoring.core.intervals import ESTIMANDS
from scoring.core.s1 import SCORER_VERSION

FORMAT = "baseliner-study-bundle"
VERSION = 1
# An assignment's judgements are read together, and no more at once than of these many.
ASSIGNMENTS_AT_ONCE = 20

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class Wanted:
    """What a bundle is asked to hold besides the people that count."""

    texts: bool = False
    simulated: bool = False
    with_excluded: bool = False


class Contents:
    """The rows of each file of one study's bundle. Numbers stand for batches and assignments."""

    def __init__(self, study: Study, wanted: Wanted) -> None:
        self.study, self.wanted = study, wanted
        self._batches = list(
            study.batches.select_related("task", "training_set", "test_set", "gold_version")
        )
        self._numbers = {batch.pk: number for number, batch in enumerate(self._batches, start=1)}
        self._assignments = list(self._chosen_assignments())
        self._tasks = list({batch.task_id: batch.task for batch in self._batches}.values())
        # One gold for everything in the bundle: the latest at this moment.
        self._versions = {task.pk: task.latest_gold_version().number for task in self._tasks}

    def about(self) -> dict[str, Any]:
        """What study.json says."""
        study, rules = self.study, dict(self.study.frozen.get("rules", {}))
        consent = rules.pop("consent_text", "")
        return {
            "format": FORMAT,
            "version": VERSION,
            "study": study.slug,
            "title": study.title,
            "state": study.state,
            "benchmark": study.benchmark.name,
            "benchmark_source": study.benchmark.source,
            "channel": study.channel.slug,
            "scorer_version": study.frozen.get("scorer_version", SCORER_VERSION),
            "rules": rules,
            "people": len({a.annotator_id for a in self._assignments if not a.is_simulated}),
            "texts": self.wanted.texts,
            "simulated": self.wanted.simulated,
            "with_excluded": self.wanted.with_excluded,
            **({"consent_text": consent} if self.wanted.texts else {}),
        }

    def tasks(self) -> Rows:
        for task in self._tasks:
            shown = next(batch.description for batch in self._batches if batch.task_id == task.pk)
            yield {
                "task": task.slug,
                "kind": task.kind,
                "max_spans": task.max_spans,
                "language": task.language,
                "reference_policy": task.reference_policy,
                "normalisation": task.normalisation,
                "gold_version": self._versions[task.pk],
                "description_hash": sha256(shown.encode()).hexdigest(),
                **({"title": task.title, "description": shown} if self.wanted.texts else {}),
            }

    def batches(self) -> Rows:
        for batch in self._batches:
            yield {
                "batch": self._numbers[batch.pk],
                "task": batch.task.slug,
                "shots": shots_of_batch(batch),
                "split": batch.split,
                "chain": batch.chain,
                "episode": batch.test_set.episode,
                "training_set": batch.training_set.name if batch.training_set else None,
                "test_set": batch.test_set.name,
                "wanted": batch.wanted,
                "shown_gold_version": batch.gold_version.number if batch.gold_version else None,
                "training_checksum": batch.training_set.checksum if batch.training_set else None,
                "test_checksum": batch.test_set.checksum,
            }

    def items(self) -> Rows:
        for task, item_set in self._item_sets():
            items = Item.objects.filter(item_set=item_set).select_related("example")
            for item in items.order_by("position"):
                yield {
                    "task": task.slug,
                    "set": item_set.name,
                    "role": item_set.role,
                    "position": item.position,
                    "item": item.source_id,
                    "example": item.example.identity,
                    "content_hash": item.example.content_hash,
                    "context_hash": item.example.context_hash,
                }

    def gold(self) -> Rows:
        for task in self._tasks:
            golds = Gold.objects.filter(
                example__in=self._examples(task).values("pk"),
                version__number__lte=self._versions[task.pk],
            )
            golds = golds.select_related("example", "version")
            for gold in golds.order_by("version__number", "example__pk"):
                yield {
                    "task": task.slug,
                    "example": gold.example.identity,
                    "version": gold.version.number,
                    "alternatives": gold.alternative_texts(),
                }

    def assignments(self) -> Rows:
        for number, assignment in enumerate(self._assignments, start=1):
            yield {
                "assignment": number,
                "batch": self._numbers[assignment.batch_id],
                "annotator": assignment.annotator.pseudonym,
                "outcome": assignment.outcome,
                "excluded": hasattr(assignment, "exclusion"),
                "simulated": assignment.is_simulated,
                "training_score": assignment.training_score,
                "passed": assignment.screening.get("passed"),
                "new_resume_link": assignment.resume_renewed_at is not None,
                "training_ended_ms": _since(assignment, assignment.training_ended_at),
                "finished_ms": _since(assignment, assignment.finished_at),
                "paid_ms": assignment.paid_ms,
            }

    def judgements(self) -> Rows:
        """A few assignments at a time: no cursor stays open while the bundle is written."""
        for start in range(0, len(self._assignments), ASSIGNMENTS_AT_ONCE):
            some = self._assignments[start : start + ASSIGNMENTS_AT_ONCE]
            number = {assignment.pk: start + place for place, assignment in enumerate(some, 1)}
            given = Judgement.objects.filter(assignment__in=some).select_related("example")
            by_pk = {assignment.pk: assignment for assignment in some}
            for judgement in sorted(given, key=lambda j: (number[j.assignment_id], j.step)):
                assignment = by_pk[judgement.assignment_id]
                yield _judgement(judgement, assignment, number[assignment.pk])

    def figures(self) -> Rows:
        """The cells of people under each policy and for each estimand, as the tables have them."""
        kinds = [False, True] if self.wanted.simulated else [False]
        excluded = [False, True] if self.wanted.with_excluded else [False]
        for references, estimand, with_excluded, simulated in product(
            ReferencePolicy.values, ESTIMANDS, excluded, kinds
        ):
            choices = Choices(references=references, estimand=estimand, with_excluded=with_excluded)
            for cell in CellReader(choices).people(self.study, simulated=simulated):
                yield _figure(cell_row(cell, choices), estimand, with_excluded=with_excluded)

    def texts(self) -> Rows:
        for task in self._tasks:
            for example in self._examples(task).order_by("pk").iterator(chunk_size=500):
                yield {
                    "task": task.slug,
                    "example": example.identity,
                    "context": example.context,
                    "question": example.question,
                    "candidates": example.candidates,
                }

    def _chosen_assignments(self) -> Iterable[Assignment]:
        """In the order of the tables, so that the same data give the same figures."""
        chosen = self.study.assignments.select_related("annotator__channel", "exclusion")
        chosen = chosen if self.wanted.simulated else chosen.of_people()
        if not self.wanted.with_excluded:
            chosen = chosen.filter(exclusion__isnull=True)
        return chosen.order_by("joined_at", "pk")

    def _item_sets(self) -> Iterator[tuple[Task, ItemSet]]:
        seen: set[int] = set()
        for batch in self._batches:
            for item_set in _sets_of(batch):
                if item_set.pk not in seen:
                    seen.add(item_set.pk)
                    yield batch.task, item_set

    def _examples(self, task: Task) -> Any:
        sets = [item_set.pk for of, item_set in self._item_sets() if of.pk == task.pk]
        items = Item.objects.filter(item_set__in=sets)
        return Example.objects.filter(pk__in=items.values("example"))


def _sets_of(batch: Batch) -> Sequence[ItemSet]:
    return [batch.training_set, batch.test_set] if batch.training_set else [batch.test_set]


def _judgement(judgement: Judgement, assignment: Assignment, number: int) -> dict[str, Any]:
    return {
        "assignment": number,
        "role": judgement.role,
        "step": judgement.step,
        "example": judgement.example.identity,
        "answer": judgement.answer,
        "spans": judgement.spans,
        "shown_ms": _since(assignment, judgement.shown_at),
        "submitted_ms": _since(assignment, judgement.submitted_at),
        "paid_ms": judgement.paid_ms,
        "browser_ms": judgement.browser_ms,
        "first_action_ms": judgement.first_action_ms,
        "active_ms": judgement.active_ms,
    }


def _figure(row: Row, estimand: str, *, with_excluded: bool) -> dict[str, Any]:
    asked = {"asked": estimand, "with_excluded": with_excluded}
    return {
        **{name: asked[name] if name in asked else getattr(row, name) for name in KEY},
        "ci_method": row.ci_method,
        **{name: getattr(row, name) for name in NUMBERS},
        "gold_version": row.gold_version,
        "normalisation": row.normalisation,
    }


def _since(assignment: Assignment, moment: datetime | None) -> int | None:
    """Milliseconds from the consent: how long things took, not when somebody was at work."""
    if moment is None:
        return None
    return round(
        (moment - (assignment.consented_at or assignment.joined_at)).total_seconds() * 1000
    )
