"""What a study bundle holds: a study's people under their pseudonyms, their answers, the gold, and
the figures that follow. No text that is not an answer or gold, no comment, no moment in time.

What each column of a file means, and where a row has it, is in contents.toml."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import reduce
from hashlib import sha256
from itertools import chain, product
from typing import Any

from annotation import models
from annotation.models.benchmark import cluster_of
from scoring.bundle.figures import NUMBERS
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader, shots_of_batch
from scoring.cells.rows import BY_KEY
from scoring.cells.scope import Choices
from scoring.core.intervals import ESTIMANDS
from scoring.core.s1 import SCORER_VERSION
from scoring.tables.table import Column, columns_in

FORMAT = "baseliner-study-bundle"
VERSION = 1
# An assignment's judgements are read together, and no more at once than of these many.
ASSIGNMENTS_AT_ONCE = 20
TEXTS = "texts.jsonl"

Rows = Iterator[dict[str, Any]]
# By field what it means; and by names with dots where a row has it, if not under the field's name.
Columns = Mapping[str, Column]


def _as_compared(*keys: str) -> Columns:
    return {key: BY_KEY[key] for key in keys}


FILES: dict[str, Columns] = {
    **{
        f"{name}.jsonl": columns_in(__file__, name)
        for name in ("tasks", "batches", "items", "gold", "assignments", "judgements")
    },
    "figures.jsonl": {
        **_as_compared("kind", "task", "shots", "pool", "references"),
        "asked": BY_KEY["estimand"],
        **columns_in(__file__, "figures"),
        **_as_compared("ci_method", *NUMBERS, "gold_version", "normalisation"),
    },
    TEXTS: columns_in(__file__, "texts"),
}


class Contents:
    """The rows of each file of one study's bundle: besides the people that count, with texts, with
    simulated annotators and with excluded ones. Numbers stand for batches and assignments."""

    def __init__(
        self, study: models.Study, *, texts: bool, simulated: bool, with_excluded: bool
    ) -> None:
        self.study = study
        self.with_texts, self.with_excluded = texts, with_excluded
        self.simulated = simulated or study.is_demonstration
        self._batches = list(
            study.batches.select_related(
                "task", "training_set", "test_set", "check_set__task", "gold_version"
            )
        )
        self._numbers = {batch.pk: number for number, batch in enumerate(self._batches, start=1)}
        chosen = study.assignments.select_related("annotator__channel", "exclusion")
        chosen = chosen if self.simulated else chosen.of_people()
        if not with_excluded:
            chosen = chosen.filter(exclusion__isnull=True)
        # In the order of the tables, so that the same data give the same figures.
        self._assignments = list(chosen.order_by("joined_at", "pk"))
        checked = [batch.check_set.task for batch in self._batches if batch.check_set]
        tasks = [*(batch.task for batch in self._batches), *checked]
        self._tasks = list({task.pk: task for task in tasks}.values())
        # One gold for everything in the bundle: the latest at this moment.
        self._versions = {task.pk: task.latest_gold_version().number for task in self._tasks}

    @property
    def files(self) -> Mapping[str, Columns]:
        return {name: fields for name, fields in FILES.items() if name != TEXTS or self.with_texts}

    def rows(self, file: str) -> Rows:
        yield from getattr(self, f"_rows_of_{file.removesuffix('.jsonl')}")(FILES[file])

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
            "scorer_version": SCORER_VERSION,
            "rules": rules,
            "people": len({a.annotator_id for a in self._assignments if not a.is_simulated}),
            "texts": self.with_texts,
            "simulated": self.simulated,
            "with_excluded": self.with_excluded,
            **({"consent_text": consent} if self.with_texts else {}),
        }

    def _rows_of_tasks(self, columns: Columns) -> Rows:
        for task in self._tasks:
            shown = self._description(task)
            row = _row(
                columns,
                task,
                gold_version=self._versions[task.pk],
                description_hash=sha256(shown.encode()).hexdigest(),
                description=shown,
            )
            left_out = () if self.with_texts else ("title", "description")
            yield {name: value for name, value in row.items() if name not in left_out}

    def _description(self, task: models.Task) -> str:
        """The description as annotators saw it, in the work or before the checks."""
        descriptions = [batch.description for batch in self._batches if batch.task_id == task.pk]
        checks = [
            batch.check_description
            for batch in self._batches
            if batch.check_set and batch.check_set.task_id == task.pk
        ]
        return [*descriptions, *checks][0]

    def _rows_of_batches(self, columns: Columns) -> Rows:
        for batch in self._batches:
            yield _row(columns, batch, batch=self._numbers[batch.pk], shots=shots_of_batch(batch))

    def _rows_of_items(self, columns: Columns) -> Rows:
        for item_set in self._item_sets():
            items = models.Item.objects.filter(item_set=item_set).select_related("example")
            for item in items.order_by("position"):
                item.item_set, example = item_set, item.example
                group = self.study.cluster_group(item_set.task.slug)
                cluster = cluster_of(example.context_hash, example.groups, group)
                yield _row(columns, item, cluster=cluster)

    def _rows_of_gold(self, columns: Columns) -> Rows:
        for task in self._tasks:
            golds = models.Gold.objects.filter(
                example__in=self._examples(task).values("pk"),
                version__number__lte=self._versions[task.pk],
            )
            golds = golds.select_related("example__task", "version")
            for gold in golds.order_by("version__number", "example__pk"):
                yield _row(columns, gold, alternatives=gold.alternative_texts())

    def _rows_of_assignments(self, columns: Columns) -> Rows:
        for number, assignment in enumerate(self._assignments, start=1):
            yield _row(
                columns,
                assignment,
                assignment=number,
                batch=self._numbers[assignment.batch_id],
                excluded=hasattr(assignment, "exclusion"),
                check_score=assignment.check_screening.get("score"),
                passed=assignment.screening.get("passed"),
                new_resume_link=assignment.resume_renewed_at is not None,
                training_ended_ms=_since(assignment, assignment.training_ended_at),
                finished_ms=_since(assignment, assignment.finished_at),
            )

    def _rows_of_judgements(self, columns: Columns) -> Rows:
        """A few assignments at a time: no cursor stays open while the bundle is written."""
        for start in range(0, len(self._assignments), ASSIGNMENTS_AT_ONCE):
            some = self._assignments[start : start + ASSIGNMENTS_AT_ONCE]
            number = {assignment.pk: start + place for place, assignment in enumerate(some, 1)}
            answers = models.Judgement.objects.filter(assignment__in=some).select_related("example")
            by_pk = {assignment.pk: assignment for assignment in some}
            for judgement in sorted(answers, key=lambda j: (number[j.assignment_id], j.step)):
                assignment = by_pk[judgement.assignment_id]
                yield _row(
                    columns,
                    judgement,
                    assignment=number[assignment.pk],
                    shown_ms=_since(assignment, judgement.shown_at),
                    submitted_ms=_since(assignment, judgement.submitted_at),
                )

    def _rows_of_figures(self, columns: Columns) -> Rows:
        """The cells of people under each policy and for each estimand, as the tables have them."""
        kinds = [False, True] if self.simulated else [False]
        excluded = [False, True] if self.with_excluded else [False]
        for references, estimand, with_excluded, simulated in product(
            models.ReferencePolicy.values, ESTIMANDS, excluded, kinds
        ):
            choices = Choices(references=references, estimand=estimand, with_excluded=with_excluded)
            for cell in CellReader(choices).people(self.study, simulated=simulated):
                row = cell_row(cell, choices)
                yield _row(columns, row, asked=estimand, with_excluded=with_excluded)

    def _rows_of_texts(self, columns: Columns) -> Rows:
        for task in self._tasks:
            examples = self._examples(task).select_related("task").order_by("pk")
            for example in examples.iterator(chunk_size=500):
                yield _row(columns, example)

    def _item_sets(self) -> Iterable[models.ItemSet]:
        sets = ((batch.check_set, batch.training_set, batch.test_set) for batch in self._batches)
        return {each.pk: each for each in chain.from_iterable(sets) if each}.values()

    def _examples(self, task: models.Task) -> Any:
        sets = [item_set.pk for item_set in self._item_sets() if item_set.task_id == task.pk]
        items = models.Item.objects.filter(item_set__in=sets)
        return models.Example.objects.filter(pk__in=items.values("example"))


def _row(columns: Columns, thing: object, **known: Any) -> dict[str, Any]:
    return {
        name: known[name]
        if name in known
        else reduce(_part, (column.source or name).split("."), thing)
        for name, column in columns.items()
    }


def _part(thing: Any, name: str) -> Any:
    return None if thing is None else getattr(thing, name)


def _since(assignment: models.Assignment, moment: datetime | None) -> int | None:
    """Milliseconds from the consent: how long things took, not when somebody was at work."""
    if moment is None:
        return None
    began = assignment.consented_at or assignment.joined_at
    return round((moment - began).total_seconds() * 1000)
