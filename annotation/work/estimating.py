"""What batches will need, and what they ask of one person: people, time and money."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from statistics import median
from typing import Any

from django.db.models import Count, QuerySet, Sum

from annotation.models import Assignment, Batch, Outcome, OutcomeRule, Study, Task
from annotation.models.batch import sizes_of
from annotation.models.frozen import BatchContent
from annotation.work.finishing import earned
from annotation.work.money import CENT
from annotation.work.wording import hours_text
from scoring.tables.words import counted

# For one example, with all that belongs to it, where nobody has worked on the tasks yet.
ASSUMED_SECONDS = 20
# So far apart batches are of very different length: in seconds, and the longer over the shorter.
APART_S, FAR = 300, 1.5
# From this many people on, their median tells more than what is assumed.
ENOUGH_PEOPLE = 5


# How many items of a test set are asked, where a part of it is still to be made.
Tests = Mapping[int, int] | None


@dataclass(frozen=True)
class Estimate:
    batches: int
    places: int
    # Nobody works on a task twice, so at least this many different people.
    people: int
    judgements: int
    hours: float
    cost: Decimal
    # If everybody used all the time that is paid.
    most: Decimal


def estimate(
    study: Study,
    batches: Collection[Batch],
    *,
    seconds: float,
    tests: Tests = None,
    completed: OutcomeRule | None = None,
) -> Estimate:
    """Estimate the time and cost with this many seconds per example, and the stored rule of
    completed work or another one; platform fees come on top."""
    sizes = sizes_of(batches, tests)
    per_key: Counter[str] = Counter()
    completed = completed or study.outcome_rules.filter(outcome=Outcome.COMPLETED).first()
    least = completed.least if completed else Decimal(0)
    judgements = longest_s = 0
    # Beyond the time, where the platform or the rule pays more than that; and beyond all of it.
    beyond = beyond_all = Decimal(0)
    for batch in batches:
        checks, training = sizes[batch.check_set_id], sizes[batch.training_set_id]
        test = sizes[batch.test_set_id]
        per_key.update(dict.fromkeys(batch.exposure_keys, batch.wanted))
        items = batch.wanted * (checks + training + test)
        worked = earned(round(items * seconds * 1000), study.hourly_rate, study.currency)
        beyond += max(batch.wanted * least - worked, Decimal(0))
        judgements += items
        most_s = batch.wanted * _longest_s(study, training, test, checks)
        longest_s += most_s
        paid = earned(most_s * 1000, study.hourly_rate, study.currency)
        beyond_all += max(batch.wanted * least - paid, Decimal(0))
    return Estimate(
        batches=len(batches),
        places=sum(batch.wanted for batch in batches),
        people=max(per_key.values(), default=0),
        judgements=judgements,
        hours=judgements * seconds / 3600,
        cost=earned(round(judgements * seconds * 1000), study.hourly_rate, study.currency) + beyond,
        most=earned(longest_s * 1000, study.hourly_rate, study.currency) + beyond_all,
    )


def costs(
    study: Study, batches: Collection[Batch], *, completed: OutcomeRule | None = None
) -> dict[str, Any]:
    """What a page tells of the cost of a study's batches, and what it assumes for that."""
    seconds = expected_seconds(study, {batch.task for batch in batches})
    needed = estimate(study, batches, seconds=seconds, completed=completed)
    pace = whose_pace(study, {batch.task for batch in batches})
    return {"seconds": seconds, "pace": pace, "estimate": needed, **with_fee(study, needed)}


def with_fee(study: Study, needed: Estimate) -> dict[str, Decimal]:
    """What the platform adds, and what all of it comes to, as expected and at most."""
    fee, fee_of_most = (
        (amount * study.platform_fee / 100).quantize(CENT) for amount in (needed.cost, needed.most)
    )
    return {"fee": fee, "cost": needed.cost + fee, "most": needed.most + fee_of_most}


Timed = Sequence[tuple[Batch, float]]


def timed(study: Study, batches: Collection[Batch], tests: Tests = None) -> Timed:
    """The seconds that one person needs for each batch, as the consent page will tell them."""
    sizes, assumed = sizes_of(batches, tests), _assumed(study)
    paces = _paces(study, {batch.task_id for batch in batches})
    items = ((batch, sum(sizes[pk] for pk in batch.set_ids)) for batch in batches)
    return [(batch, count * paces.get(batch.task_id, assumed)) for batch, count in items]


def far_longer(study: Study, batches: Timed) -> list[Batch]:
    """Those that need another study on a platform, where a study has one time and one reward."""
    seconds = [s for _batch, s in batches] or [0]
    shortest, apart = min(seconds), max(seconds) - min(seconds)
    if not study.channel.pays_itself or apart <= APART_S:
        return []
    return [batch for batch, s in batches if s > FAR * shortest]


def unequal_lengths(study: Study, batches: Timed) -> str:
    """Why a platform cannot have them in one study; empty where it can."""
    if not far_longer(study, batches):
        return ""
    ordered = sorted(batches, key=lambda pair: pair[1])
    (short, least), (long, most) = (
        (batch, hours_text(whole_minutes(s))) for batch, s in (ordered[0], ordered[-1])
    )
    return (
        f"A study on {study.channel} has one time and one reward, but {short} takes about {least} "
        f"and {long} about {most}. Make two studies of them."
    )


def expected_seconds(study: Study, tasks: Iterable[Task]) -> float:
    """The seconds for one example that the study's researcher expects, or else what is usual."""
    return study.expected_seconds or usual_seconds(tasks)


def whose_pace(study: Study, tasks: Iterable[Task]) -> str:
    """Whose these seconds are. Others' studies have no name: not everybody may know of them."""
    if study.expected_seconds:
        return "as its settings expect"
    people = Counter(_asked(tasks).filter(step__gt=0).values_list("study", flat=True))
    if not people:
        return "an assumption: nobody has worked on its tasks yet"
    others = len(people.keys() - {study.pk})
    elsewhere = counted(others, "other study,other studies") + " of its tasks" if others else ""
    where = " and ".join(filter(None, ["this study" if study.pk in people else "", elsewhere]))
    return f"the pace of {counted(people.total(), 'person,people')} in {where}"


def _asked(tasks: Iterable[Task]) -> QuerySet[Assignment]:
    """Whose pace counts."""
    people = Assignment.objects.asked_here().in_good_order()
    return people.filter(batch__task__in=list(tasks))


def usual_seconds(tasks: Iterable[Task]) -> int:
    """How long people have been paid for on average for one example of these tasks, with all that
    belongs to it; of whoever counts."""
    totals = (
        _asked(tasks)
        .annotate(answered=Count("judgements"))
        .aggregate(paid_ms=Sum("paid_ms"), answers=Sum("answered"))
    )
    if not totals["answers"]:
        return ASSUMED_SECONDS
    return round(totals["paid_ms"] / 1000 / totals["answers"]) or 1


@dataclass(frozen=True)
class WorkingTime:
    """The time of one person in seconds: in the shortest batch they may get, and in the longest."""

    least: int
    most: int
    # By those who have finished work on these tasks, rather than assumed.
    is_measured: bool


def working_time(study: Study, contents: Collection[BatchContent]) -> WorkingTime:
    paces = _paces(study, {content.task_id for content in contents})
    assumed = _assumed(study)
    seconds = [round(content.steps * paces.get(content.task_id, assumed)) for content in contents]
    is_measured = all(content.task_id in paces for content in contents)
    return WorkingTime(min(seconds), max(seconds), is_measured)


def _assumed(study: Study) -> float:
    """The seconds for one example, where nobody has worked on the task yet."""
    return study.expected_seconds or min(ASSUMED_SECONDS, study.item_cap_s)


def most_paid_s(study: Study, contents: Collection[BatchContent]) -> int:
    return max(
        _longest_s(study, len(content.training), len(content.test), len(content.checks))
        for content in contents
    )


def _paces(study: Study, task_ids: Collection[int]) -> dict[int, float]:
    """The median seconds an example took, with all that belongs to it, by task; only where enough
    people have finished who count, and the study has no number of its own."""
    if study.expected_seconds:
        return {}
    seconds: dict[int, list[float]] = defaultdict(list)
    good = Assignment.objects.completed().asked_here().in_good_order()
    finished = good.filter(batch__task__in=task_ids)
    for task_id, paid_ms, step in finished.values_list("batch__task", "paid_ms", "step"):
        seconds[task_id].append(paid_ms / 1000 / (step + 1))
    return {task: median(paces) for task, paces in seconds.items() if len(paces) >= ENOUGH_PEOPLE}


def _longest_s(study: Study, training: int, test: int, checks: int) -> int:
    judging = (checks + training + test) * study.item_cap_s
    # The description, after checks once more, and after a training the page before the test.
    reading = study.reading_cap_s * (1 + bool(checks) + bool(training))
    return reading + judging + training * study.reveal_cap_s


def whole_minutes(seconds: float) -> int:
    return max(1, ceil(seconds / 60))
