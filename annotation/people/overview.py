"""How a study stands at a glance: a grid of task × shots, what it costs, when it will be full, and
what deserves a look. Many joins within minutes are among that: on an open link one script can do
it. A class that begins together looks the same, so this decides nothing; no address is stored."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count
from django.utils.text import Truncator

from annotation.access.rights import Right
from annotation.models import Comment, Item, JoinAnswer, Outcome, Study
from annotation.models.benchmark import names_of
from annotation.payments.ledger import Due, waits
from annotation.people.flags import Flag
from annotation.people.rows import Row
from annotation.studies.monitoring import BatchFigures, StudyFigures
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.finishing import earned
from annotation.work.joining import join_answers
from annotation.work.money import CENT

WINDOW = timedelta(minutes=5)
# Fewer may be friends who were sent the link together.
ENOUGH_JOINS = 10
# How many times the joins that a window has at the pace of the other time.
FAR_ABOVE = 5


def burst_of(
    joins: Collection[datetime], *, since: datetime, until: datetime
) -> dict[str, Any] | None:
    """The busiest minutes of a study, if they are far above the others: how many of everybody
    joined in them, and when they begin."""
    times = sorted(joins)
    ends = [bisect_right(times, begins + WINDOW) for begins in times]
    counted = [(end - begin, begin) for begin, end in enumerate(ends)]
    most, begin = max(counted, key=lambda pair: pair[0], default=(0, 0))
    windows = max((until - since - WINDOW) / WINDOW, 1)
    if most < ENOUGH_JOINS or most < FAR_ABOVE * (len(times) - most) / windows:
        return None
    minutes = WINDOW // timedelta(minutes=1)
    return {"joins": most, "everybody": len(times), "begins": times[begin], "minutes": minutes}


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

# People of a task and number of shots: wanted, finished, working, screened_out, lost, excluded.
Cell = Counter[str]


# What takes more than the right to the tables.
TAKES = {
    **dict.fromkeys(("hourly_pay", "so_far", "expected", "bonuses", "to_approve"), Right.PAY),
    **dict.fromkeys(("flags", "flagged", "burst"), Right.PEOPLE),
    "problems": Right.GOLD,
}


def overview(
    study: Study,
    people: Collection[Row],
    figures: StudyFigures,
    *,
    rights: Collection[Right],
    at: datetime,
) -> dict[str, Any]:
    """What is told of everybody in the study and its batches, who have been read already, to
    whoever has these rights; None in place of what they don't open."""
    names = names_of({row.batch.task for row in figures.batches})
    cells: dict[tuple[str, int], Cell] = defaultdict(Counter)
    for row in figures.batches:
        who = ", ".join(filter(None, [names[row.batch.task.slug], row.batch.pool_name]))
        cells[who, row.batch.shots] += _cell(row)
    shots = sorted({shots for _who, shots in cells})
    total = sum(cells.values(), Counter())
    pace = _pace(study, people, at)
    left = total["wanted"] - total["finished"]
    flagged = [row for row in people if row.needs_a_look]
    ended = [row.due for row in people if row.due]
    so_far, expected = _cost(study, people, ended, figures, total)
    figures_by_key = {
        "shots": shots,
        "lines": [
            (who, [_told(cells[who, n]) if (who, n) in cells else None for n in shots])
            for who in dict.fromkeys(who for who, _shots in cells)
        ],
        # Once it is closed, those who may still send a last page.
        "working": sum(row.is_at_work for row in people) if study.is_closed else total["working"],
        "hourly_pay": figures.hourly_pay,
        "so_far": so_far,
        "expected": expected,
        # Places finished in an hour, and how many hours it takes at that pace, if anybody knows.
        "pace": pace,
        "full_in_hours": left / pace if pace and study.is_open and left else None,
        # Whether any of it may still change by itself.
        "can_change": not study.is_closed or any(row.is_at_work for row in people),
        "flags": _by_flag(flagged),
        "flagged": len(flagged),
        "problems": _problems(study),
        "burst": _burst(study, people, at),
        "late": _late(study, total["wanted"]),
        "bonuses": sum(due.open > 0 for due in ended),
        "to_approve": sum(due.open > 0 and waits(due) for due in ended),
    }
    is_open = {key: TAKES.get(key, Right.TABLES) in rights for key in figures_by_key}
    return {key: value if is_open[key] else None for key, value in figures_by_key.items()}


def _by_flag(flagged: Iterable[Row]) -> list[tuple[Flag, list[Row]]]:
    """Each flag once, as the first who has it, with those who have it; the commonest first."""
    having: dict[str, list[tuple[Flag, Row]]] = defaultdict(list)
    for row in flagged:
        for flag in row.flags:
            having[flag.name].append((flag, row))
    groups = [(pairs[0][0], [row for _, row in pairs]) for pairs in having.values()]
    return sorted(groups, key=lambda group: -len(group[1]))


def _cell(row: BatchFigures) -> Cell:
    return Counter(
        wanted=row.wanted,
        finished=row.kept,
        working=row.taken - row.kept,
        excluded=row.excluded,
        screened_out=row.outcomes[Outcome.SCREENED_OUT],
        lost=sum(row.outcomes[outcome] for outcome in LOST),
    )


def _told(cell: Cell) -> tuple[str, str]:
    """A mark for each person, unless they are too many, and the numbers in words."""
    words = [f"{cell['finished']} of {cell['wanted']} finished", f"{cell['working']} at work"]
    if cell["screened_out"]:
        words.append(f"{cell['screened_out']} screened out")
    words += [f"{cell[name]} {name}" for name in ("lost", "excluded") if cell[name]]
    free = cell["wanted"] - cell["finished"] - cell["working"]
    places = "●" * cell["finished"] + "◐" * cell["working"] + "○" * free
    marks = f"{places} {'✕' * cell['screened_out']}".strip()
    return "" if cell["wanted"] + cell["screened_out"] > MOST_MARKS else marks, ", ".join(words)


def _pace(study: Study, people: Iterable[Row], at: datetime) -> float | None:
    """How many complete their work an hour."""
    if study.started_at is None:
        return None
    since = max(study.started_at, at - PACE_OVER)
    ends = (r.person.finished_at for r in people if r.state == Outcome.COMPLETED)
    finished = sum(end is not None and end > since for end in ends)
    hours = (at - since).total_seconds() / 3600
    return finished / hours if finished and hours > 0 else None


def _cost(
    study: Study, people: Iterable[Row], ended: Iterable[Due], figures: StudyFigures, total: Cell
) -> tuple[Decimal, Decimal]:
    """So far, and expected in all, with the platform's fee; what was paid beyond what is due is
    paid."""
    paid = sum((due.total + due.overpaid for due in ended), Decimal(0))
    working_ms = sum(row.person.paid_ms for row in people if row.is_at_work)
    if total["finished"] >= ENOUGH_FINISHED:
        # What was paid to those who were screened out or left belongs to each finished place.
        each = paid / total["finished"]
    else:
        batches = [row.batch for row in figures.batches]
        seconds = expected_seconds(study, {batch.task for batch in batches})
        each = estimate(study, batches, seconds=seconds).cost / max(total["wanted"], 1)
    left = 0 if study.is_closed else max(total["wanted"] - total["finished"], 0)
    so_far = paid + earned(working_ms, study.hourly_rate, study.currency)
    with_fee = 1 + study.platform_fee / 100
    expected = max(paid + left * each, so_far)
    return (so_far * with_fee).quantize(CENT), (expected * with_fee).quantize(CENT)


def _burst(study: Study, people: Iterable[Row], at: datetime) -> dict[str, Any] | None:
    """Look at an open link alone: a platform knows people, and often fills a study at once."""
    channel = study.channel
    if channel.person_param or channel.invited_only or study.started_at is None:
        return None
    joins = [row.person.consented_at for row in people if row.person.consented_at]
    return burst_of(joins, since=study.started_at, until=study.closed_at or at)


def _late(study: Study, wanted: int) -> int:
    """How many consented when all places were taken, where they are as many as the places."""
    late = join_answers(study)[JoinAnswer.FULL]
    return late if late >= max(wanted, ENOUGH_JOINS) else 0


def _problems(study: Study) -> list[tuple[int, str, int]]:
    """The items about which most was written: each by its key and name, and how many wrote."""
    written = Comment.objects.filter(assignment__study=study, example__isnull=False).order_by()
    counted = (
        written.values_list("example").annotate(count=Count("pk")).order_by("-count", "example")
    )
    most = [(pk, count) for pk, count in counted[:MOST_TO_LOOK_AT] if pk is not None]
    sets = {pk for batch in study.batches.all() for pk in batch.set_ids}
    items = Item.objects.filter(example__in=[pk for pk, _count in most], item_set__in=sets)
    # By their ids, which may be checksums, and how they begin.
    names = {}
    for item in items.select_related("example"):
        texts = [*item.example.context, item.example.question]
        beginning = Truncator(next(filter(None, texts), "")).chars(LONGEST_BEGINNING)
        names[item.example_id] = f"{Truncator(item.source_id).chars(LONGEST_ID)} “{beginning}”"
    return [(pk, names.get(pk, str(pk)), count) for pk, count in most]
