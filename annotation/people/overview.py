"""How a study stands at a glance: a grid of task × shots, what it costs, when it will be full."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Sum
from django.utils.text import Truncator

from annotation.benchmarks.naming import names_of
from annotation.models import (
    Assignment,
    Batch,
    Comment,
    Item,
    JoinAnswer,
    Outcome,
    Place,
    Study,
)
from annotation.people.bursts import Burst, burst_of
from annotation.people.rows import Row
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.paying import CENT, earned

LOST = (Outcome.WITHDRAWN, Outcome.EXPIRED, Outcome.DISPLACED)
# The pace is that of the last hours.
PACE_OVER = timedelta(hours=3)
# From this many finished on, what they cost tells more than an estimate.
ENOUGH_FINISHED = 5
MOST_TO_LOOK_AT = 12
LONGEST_ID = 24
LONGEST_BEGINNING = 40
# More marks than this in one cell are told by numbers alone.
MOST_MARKS = 40


@dataclass(frozen=True)
class Cell:
    wanted: int = 0
    finished: int = 0
    working: int = 0
    screened_out: int = 0
    lost: int = 0

    @property
    def free(self) -> int:
        return max(self.wanted - self.finished - self.working, 0)

    @property
    def marks(self) -> str:
        if self.wanted + self.screened_out > MOST_MARKS:
            return ""
        places = "●" * self.finished + "◐" * self.working + "○" * self.free
        return f"{places} {'✕' * self.screened_out}".strip()

    @property
    def sentence(self) -> str:
        parts = [
            f"{self.finished} of {self.wanted} finished",
            f"{self.working} at work",
        ]
        if self.screened_out:
            parts.append(f"{self.screened_out} screened out")
        if self.lost:
            parts.append(f"{self.lost} lost")
        return ", ".join(parts)


@dataclass(frozen=True)
class Line:
    """A task, with its cell for each column of shots; None where the study has none."""

    task: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Cost:
    """With the platform's fee."""

    so_far: Decimal
    expected: Decimal


@dataclass(frozen=True)
class Problem:
    """How many reported a problem with an item."""

    example_id: int
    item: str
    count: int


@dataclass(frozen=True)
class Overview:
    shots: Sequence[int]
    lines: Sequence[Line]
    total: Cell
    cost: Cost
    # Places finished in an hour, and how many hours it takes at that pace; None if nobody knows.
    pace: float | None
    full_in_hours: float | None
    # Whether any of it may still change by itself.
    can_change: bool
    look_at: Sequence[Row]
    # Of how many, if that is not all.
    flagged: int
    problems: Sequence[Problem]
    burst: Burst | None


def overview(study: Study, people: Collection[Row], *, at: datetime) -> Overview:
    """Of the study, and of everybody in it, whom the page has read already."""
    batches = list(study.batches.select_related("task", "training_set", "test_set"))
    counts = _counts(study)
    places = _places(study, at)
    names = names_of({batch.task for batch in batches})
    cells: dict[tuple[str, int], Cell] = {}
    for batch in batches:
        key = (names[batch.task.slug], batch.shots)
        cells[key] = _sum([cells.get(key, Cell()), _cell(batch, counts, places)])
    shots = sorted({shots for _task, shots in cells})
    total = _sum(cells.values())
    pace = _pace(study, at)
    left = total.wanted - total.finished
    flagged = sorted((row for row in people if row.needs_a_look), key=lambda row: -len(row.flags))
    return Overview(
        shots=shots,
        lines=[
            Line(task, [cells.get((task, column)) for column in shots])
            for task in dict.fromkeys(task for task, _shots in cells)
        ],
        total=total,
        cost=_cost(study, batches, total),
        pace=pace,
        full_in_hours=left / pace if pace and study.is_open and left else None,
        can_change=not study.is_closed or _is_anybody_at_work(study),
        look_at=flagged[:MOST_TO_LOOK_AT],
        flagged=len(flagged),
        problems=_problems(study),
        burst=_burst(study, people, at),
    )


def _counts(study: Study) -> Mapping[int, Counter[str]]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    people = Assignment.objects.of_people().filter(study=study).order_by()
    for batch, outcome, count in people.values_list("batch", "outcome").annotate(Count("pk")):
        counts[batch][outcome] = count
    return counts


def _places(study: Study, at: datetime) -> Mapping[int, Counter[bool]]:
    """For each batch, how many taken places are kept, and how many are not."""
    counts: dict[int, Counter[bool]] = defaultdict(Counter)
    taken = Place.objects.filter(batch__study=study, simulated=False).taken(at).order_by()
    for batch, kept, count in taken.values_list("batch", "kept").annotate(Count("pk")):
        counts[batch][kept] = count
    return counts


def _cell(
    batch: Batch, counts: Mapping[int, Counter[str]], places: Mapping[int, Counter[bool]]
) -> Cell:
    outcomes, taken = counts.get(batch.pk, Counter()), places.get(batch.pk, Counter())
    return Cell(
        wanted=batch.wanted,
        finished=taken[True],
        working=taken[False],
        screened_out=outcomes[Outcome.SCREENED_OUT],
        lost=sum(outcomes[outcome] for outcome in LOST),
    )


def _sum(cells: Collection[Cell]) -> Cell:
    names = Cell.__dataclass_fields__
    return Cell(**{name: sum(getattr(cell, name) for cell in cells) for name in names})


def _pace(study: Study, at: datetime) -> float | None:
    """Of completed work, an hour."""
    if study.started_at is None:
        return None
    since = max(study.started_at, at - PACE_OVER)
    completed = Assignment.objects.completed().of_people().filter(study=study)
    finished = completed.filter(finished_at__gt=since).count()
    hours = (at - since).total_seconds() / 3600
    return finished / hours if finished and hours > 0 else None


def _cost(study: Study, batches: Collection[Batch], total: Cell) -> Cost:
    people = Assignment.objects.of_people().filter(study=study)
    ended = people.exclude(outcome__in=["", JoinAnswer.DECLINED])
    paid = ended.aggregate(total=Sum("amount"))["total"] or Decimal(0)
    working_ms = people.open().aggregate(total=Sum("paid_ms"))["total"] or 0
    if total.finished >= ENOUGH_FINISHED:
        # What was paid to those who were screened out or left belongs to each finished place.
        each = paid / total.finished
    else:
        seconds = expected_seconds(study, {batch.task for batch in batches})
        each = estimate(study, batches, seconds=seconds).cost / max(total.wanted, 1)
    left = 0 if study.is_closed else max(total.wanted - total.finished, 0)
    so_far = paid + earned(working_ms, study.hourly_rate)
    return Cost(_with_fee(study, so_far), _with_fee(study, max(paid + left * each, so_far)))


def _with_fee(study: Study, amount: Decimal) -> Decimal:
    return (amount * (1 + study.platform_fee / 100)).quantize(CENT)


def _burst(study: Study, people: Iterable[Row], at: datetime) -> Burst | None:
    """On an open link alone: a platform knows who somebody is, and often fills a study at once."""
    channel = study.channel
    if channel.person_param or channel.invited_only or study.started_at is None:
        return None
    joins = [row.assignment.consented_at for row in people if row.assignment.consented_at]
    return burst_of(joins, since=study.started_at, until=study.closed_at or at)


def _is_anybody_at_work(study: Study) -> bool:
    return Assignment.objects.open().filter(study=study).exists()


def _problems(study: Study) -> list[Problem]:
    """The items about which most was written."""
    written = Comment.objects.filter(assignment__study=study, example__isnull=False).order_by()
    counted = (
        written.values_list("example").annotate(count=Count("pk")).order_by("-count", "example")
    )
    most = [(pk, count) for pk, count in counted[:MOST_TO_LOOK_AT] if pk is not None]
    names = _item_names(study, [pk for pk, _count in most])
    return [Problem(pk, names.get(pk, str(pk)), count) for pk, count in most]


def _item_names(study: Study, examples: Iterable[int]) -> dict[int, str]:
    """By their ids, which may be checksums, and how they begin."""
    sets = study.batches.values_list("training_set", "test_set")
    items = Item.objects.filter(
        example__in=list(examples), item_set__in={pk for pair in sets for pk in pair if pk}
    ).select_related("example")
    return {item.example_id: _item_name(item) for item in items}


def _item_name(item: Item) -> str:
    written = [*item.example.context, item.example.question]
    beginning = Truncator(next(filter(None, written), "")).chars(LONGEST_BEGINNING)
    return f"{Truncator(item.source_id).chars(LONGEST_ID)} “{beginning}”"
