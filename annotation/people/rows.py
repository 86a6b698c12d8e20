"""Everybody in a study, one row each: where they are, how fast, what they earned, what was noticed;
in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from statistics import median

from django.db.models import Count

from annotation import models
from annotation.access.rights import Right
from annotation.jobs.pacing import write
from annotation.kinds import answer_kind
from annotation.models import clock
from annotation.models.batch import sizes_of
from annotation.models.webhook import tell
from annotation.payments.ledger import Due, dues_of
from annotation.people.flags import Flag, flags_of
from annotation.people.summaries import MOST_FOR_A_PAGE, refresh
from annotation.studies.monitoring import Person, flagged_by_rule, people_of
from annotation.work.finishing import earned
from scoring.tables.table import Column, columns_in

# What a list can be narrowed to, and what its page calls it.
STATES = [("working", "at work"), *models.Outcome.choices, ("excluded", "excluded")]


class Row:
    """item_ms: the median milliseconds an item took those who completed the same cell, or 0; due:
    of those whose work has ended."""

    def __init__(
        self,
        study: models.Study,
        person: Person,
        items: int,
        item_ms: float,
        flags: Sequence[Flag],
        due: Due | None,
    ) -> None:
        self.person, self.items, self.flags, self.due = person, items, flags, due
        self.done = person.step + (person.state == models.WorkState.REVEALED)
        if person.outcome == models.Outcome.COMPLETED:
            self.done = items
        # Paid time so far, and beside the median of those who finished the cell, for as many items.
        usual = item_ms * self.done
        self.minutes = person.paid_ms / 60_000
        self.pace = person.paid_ms / usual if usual else None
        self.pay = due.total if due else earned(person.paid_ms, study.hourly_rate, study.currency)

    @property
    def needs_a_look(self) -> bool:
        """Problems are listed by item."""
        return any(flag.name != "problems" for flag in self.flags)

    @property
    def batch(self) -> str:
        return str(self.person.batch)

    @property
    def flag_names(self) -> str:
        return " ".join(flag.name for flag in self.flags)

    @property
    def evidence(self) -> str:
        return "; ".join(flag.sentence for flag in self.flags)

    @property
    def whereabouts(self) -> tuple[str, ...]:
        """What a page says beneath the state."""
        done = f"{self.done} of {self.items} items" if self.done < self.items else ""
        away = "away, place open" if self.is_away else ""
        return tuple(filter(None, [done, away, "excluded" if self.person.is_excluded else ""]))

    @property
    def is_at_work(self) -> bool:
        return not self.person.outcome

    @property
    def is_away(self) -> bool:
        """Unfinished, and the place is open to others: it was released, or was kept long enough."""
        until = self.person.lease_until
        return self.is_at_work and (until is None or until < clock.now())

    @property
    def state(self) -> str:
        return self.person.outcome or "working"

    @property
    def states(self) -> tuple[str, ...]:
        """The states by which a list finds them."""
        return (self.state, "excluded") if self.person.is_excluded else (self.state,)


def rows(study: models.Study) -> list[Row]:
    """People only; who declined has not worked."""
    refresh(study, most=MOST_FOR_A_PAGE)
    everybody = people_of(study)
    items = _items(study)
    paces = _paces(everybody, items)
    flags = _flags(study, everybody)
    dues = {due.person.pk: due for due in dues_of(study, [x for x in everybody if x.outcome])}
    listed = [
        Row(
            study,
            person,
            items[person.batch.pk],
            paces.get(_cell(person.batch), 0),
            flags[person.pk],
            dues.get(person.pk),
        )
        for person in everybody
    ]
    _keep_flagged(study, listed)
    return listed


def _items(study: models.Study) -> dict[int, int]:
    """How many each batch has."""
    batches = list(study.batches.all())
    sizes = sizes_of(batches)
    return {batch.pk: sum(sizes[pk] for pk in batch.set_ids) for batch in batches}


def _keep_flagged(study: models.Study, everybody: Iterable[Row]) -> None:
    """Write down who needs a look, for the page about all studies, which compares nobody, and for
    whom the study tells."""
    changed: dict[bool, list[Row]] = defaultdict(list)
    for row in everybody:
        if row.person.is_flagged not in (None, row.needs_a_look):
            changed[row.needs_a_look].append(row)
    for is_flagged, rows in changed.items():
        write(partial(_store_flagged, study, rows, is_flagged))


def _store_flagged(study: models.Study, those: Iterable[Row], is_flagged: bool) -> None:
    summaries = models.WorkSummary.objects.exclude(is_flagged=is_flagged)
    for row in those:
        is_new = summaries.filter(pk=row.person.pk).update(is_flagged=is_flagged)
        if is_new and is_flagged:
            about = {"person": row.person.pseudonym, "flags": [flag.name for flag in row.flags]}
            tell(study, models.HookEvent.FLAGGED, at=clock.now(), **about)


def row_of(study: models.Study, assignment_id: int) -> Row | None:
    return next((row for row in rows(study) if row.person.pk == assignment_id), None)


def _cell(batch: models.Batch) -> tuple[int, int]:
    return batch.task_id, batch.shots


def _paces(everybody: Iterable[Person], items: Mapping[int, int]) -> dict[tuple[int, int], float]:
    """The median milliseconds that an item took those who completed a cell, by cell."""
    taken: dict[tuple[int, int], list[float]] = defaultdict(list)
    for person in everybody:
        if person.outcome == models.Outcome.COMPLETED and items[person.batch.pk]:
            taken[_cell(person.batch)].append(person.paid_ms / items[person.batch.pk])
    return {cell: median(paces) for cell, paces in taken.items()}


def _flags(study: models.Study, everybody: Sequence[Person]) -> dict[int, list[Flag]]:
    written = models.Comment.objects.filter(assignment__study=study).order_by()
    return flags_of(
        everybody,
        floors={task.pk: _floor(task) for task in {person.batch.task for person in everybody}},
        comments=dict(written.values_list("assignment").annotate(Count("pk"))),
        below_rule=flagged_by_rule(study, everybody),
    )


def _floor(task: models.Task) -> float | None:
    """What the audit at the import found that no skill earns, in percent."""
    audited = [finding for finding in task.audit if finding["code"] == "floors"]
    if not audited:
        return None
    allowed = {floor.rule for floor in answer_kind(task.kind).floors if floor.is_allowed}
    scores = audited[0]["figures"][task.reference_policy]
    return max((score for rule, score in scores.items() if rule in allowed), default=None)


def chosen(
    everybody: Sequence[Row], *, state: str = "", flag: str = "", batch: str = ""
) -> list[Row]:
    """What a page's filters leave, the latest first. What they don't know changes nothing."""
    return sorted(
        (
            row
            for row in everybody
            if (state not in dict(STATES) or state in row.states)
            and (not flag or (flag in ("any", *(f.name for f in row.flags)) and row.flags))
            and (not batch or str(row.person.batch.pk) == batch)
        ),
        key=lambda row: -row.person.pk,
    )


# Pseudonyms alone. What each means, where a row has it and what a page calls it: rows.toml.
COLUMNS = tuple(columns_in(__file__, "people").values())


def columns_for(rights: Collection[Right]) -> list[Column]:
    return [column for column in COLUMNS if column.right in ("", *rights)]
