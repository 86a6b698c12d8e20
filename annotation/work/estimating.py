"""What batches will need: people, time and money, before anybody has started."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count

from annotation.models import Batch, ItemSet, Judgement, Study, Task
from annotation.work.paying import earned

# Where nobody has worked on the tasks yet.
ASSUMED_SECONDS = 20


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


def estimate(study: Study, batches: Collection[Batch], *, seconds: float) -> Estimate:
    """With this many seconds per example; platform fees come on top."""
    sizes = _sizes(batches)
    per_key: Counter[str] = Counter()
    judgements = longest_s = 0
    for batch in batches:
        training, test = sizes.get(batch.training_set_id, 0), sizes[batch.test_set_id]
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


def usual_seconds(tasks: Iterable[Task]) -> int:
    """How long people have taken on average for one example of these tasks."""
    by_people = Judgement.objects.filter(
        example__task__in=list(tasks), assignment__annotator__channel__is_simulated=False
    )
    average = by_people.aggregate(ms=Avg("paid_ms"))["ms"]
    return round(average / 1000) or 1 if average is not None else ASSUMED_SECONDS


def _sizes(batches: Iterable[Batch]) -> dict[int | None, int]:
    ids = {pk for batch in batches for pk in (batch.training_set_id, batch.test_set_id) if pk}
    counted = ItemSet.objects.filter(pk__in=ids).annotate(size=Count("items")).order_by()
    return dict(counted.values_list("pk", "size"))


def _longest_s(study: Study, training: int, test: int) -> int:
    judging = (training + test) * study.item_cap_s
    return study.reading_cap_s + judging + training * study.reveal_cap_s
