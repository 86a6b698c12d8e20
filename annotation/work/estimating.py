"""What batches will need, and what they ask of one person: people, time and money."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from django.db.models import Count, Sum

from annotation.models import Assignment, Batch, ItemSet, Study, Task
from annotation.models.frozen import BatchContent
from annotation.work.finishing import earned

# Where nobody has worked on the tasks yet.
ASSUMED_SECONDS = 20
ASSUMED_READING_S = 60
ASSUMED_REVEAL_S = 5
# From this many people on, their median tells more than what is assumed.
ENOUGH_PEOPLE = 5


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
    tests: Mapping[int, int] | None = None,
) -> Estimate:
    """With this many seconds per example; platform fees come on top. `tests`: how many items of a
    test set are asked, where a part of it is still to be made."""
    ids = {pk for batch in batches for pk in batch.set_ids}
    counted = ItemSet.objects.filter(pk__in=ids).annotate(size=Count("items")).order_by()
    sizes: dict[int | None, int] = {None: 0, **dict(counted.values_list("pk", "size"))}
    sizes.update((tests or {}).items())
    per_key: Counter[str] = Counter()
    judgements = longest_s = 0
    for batch in batches:
        training, test = sizes[batch.training_set_id], sizes[batch.test_set_id]
        per_key[batch.task.exposure_key] += batch.wanted
        judgements += batch.wanted * (training + test)
        longest_s += batch.wanted * _longest_s(study, training, test)
    return Estimate(
        batches=len(batches),
        places=sum(batch.wanted for batch in batches),
        people=max(per_key.values(), default=0),
        judgements=judgements,
        hours=judgements * seconds / 3600,
        cost=earned(round(judgements * seconds * 1000), study.hourly_rate),
        most=earned(longest_s * 1000, study.hourly_rate),
    )


def expected_seconds(study: Study, tasks: Iterable[Task]) -> float:
    """For one example: what the study's researcher expects, or else what is usual."""
    return study.expected_seconds or usual_seconds(tasks)


def usual_seconds(tasks: Iterable[Task]) -> int:
    """How long people have been paid for on average for one example of these tasks, with all that
    belongs to it."""
    people = Assignment.objects.of_people().filter(batch__task__in=list(tasks))
    found = people.annotate(answered=Count("judgements")).aggregate(
        paid_ms=Sum("paid_ms"), answers=Sum("answered")
    )
    if not found["answers"]:
        return ASSUMED_SECONDS
    return round(found["paid_ms"] / 1000 / found["answers"]) or 1


@dataclass(frozen=True)
class WorkingTime:
    """Of one person, in seconds: in the shortest batch they may get, and in the longest."""

    least: int
    most: int
    # By those who have finished work on these tasks, rather than assumed.
    is_measured: bool


def working_time(study: Study, contents: Collection[BatchContent]) -> WorkingTime:
    paces = _paces({content.task_id for content in contents})
    seconds = [
        _expected_s(study, content, paces.get(content.task_id, study.expected_seconds))
        for content in contents
    ]
    return WorkingTime(
        least=min(seconds),
        most=max(seconds),
        is_measured=all(content.task_id in paces for content in contents),
    )


def most_paid_s(study: Study, contents: Collection[BatchContent]) -> int:
    """The most seconds that are paid to anybody in one of these batches."""
    return max(_longest_s(study, len(content.training), len(content.test)) for content in contents)


def _paces(task_ids: Collection[int]) -> dict[int, float]:
    """For each task, the median seconds an example took, with all that belongs to it; only where
    enough people have finished."""
    seconds: dict[int, list[float]] = defaultdict(list)
    finished = Assignment.objects.completed().of_people().filter(batch__task__in=task_ids)
    for task_id, paid_ms, step in finished.values_list("batch__task", "paid_ms", "step"):
        seconds[task_id].append(paid_ms / 1000 / (step + 1))
    return {task: median(paces) for task, paces in seconds.items() if len(paces) >= ENOUGH_PEOPLE}


def _expected_s(study: Study, content: BatchContent, pace: float | None) -> int:
    if pace is not None:
        return round(pace * content.steps)
    return (
        min(ASSUMED_READING_S, study.reading_cap_s)
        + min(ASSUMED_SECONDS, study.item_cap_s) * content.steps
        + min(ASSUMED_REVEAL_S, study.reveal_cap_s) * len(content.training)
    )


def _longest_s(study: Study, training: int, test: int) -> int:
    judging = (training + test) * study.item_cap_s
    # The description, and after a training the page before the test.
    reading = study.reading_cap_s * (2 if training else 1)
    return reading + judging + training * study.reveal_cap_s
