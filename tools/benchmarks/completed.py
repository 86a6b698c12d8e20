"""People who completed a batch, for benchmarks: their rows in bulk, as the acts would have left
them."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.db import transaction

from annotation.models import Assignment, Batch, Judgement, Outcome, Place, Role, WorkState
from annotation.work.finishing import earned
from tests import make

TOGETHER = 50  # people in one transaction
SECONDS_PER_ITEM = 10

# Of a person, counted from 0, at a step.
AnswerOf = Callable[[int, int], list[str]]


def complete(batch: Batch, people: int, answer_of: AnswerOf) -> None:
    for first in range(0, people, TOGETHER):
        numbers = range(first, min(first + TOGETHER, people))
        with transaction.atomic():
            _complete_together(batch, numbers, answer_of)


def _complete_together(batch: Batch, numbers: range, answer_of: AnswerOf) -> None:
    shown = list(_shown(batch))
    times = [make.NOON + timedelta(seconds=SECONDS_PER_ITEM * n) for n in range(len(shown) + 1)]
    joined = [make.joined(batch) for _number in numbers]
    Judgement.objects.bulk_create(
        [
            Judgement(
                assignment=assignment,
                example_id=example,
                role=role,
                step=step,
                answer=answer_of(number, step),
                shown_at=times[step],
                submitted_at=times[step + 1],
                paid_ms=1000 * SECONDS_PER_ITEM,
            )
            for number, assignment in zip(numbers, joined, strict=True)
            for step, (role, example) in enumerate(shown)
        ],
        batch_size=2_000,
    )
    paid_ms = 1000 * SECONDS_PER_ITEM * len(shown)
    Place.objects.filter(holder__in=joined).update(kept=True, lease_until=None)
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in joined]).update(
        state=WorkState.FINISHED,
        outcome=Outcome.COMPLETED,
        step=len(shown),
        paid_ms=paid_ms,
        amount=earned(paid_ms, batch.study.hourly_rate, batch.study.currency),
        consented_at=make.NOON,
        training_ended_at=make.NOON if batch.training_set else None,
        finished_at=times[-1],
    )


def _shown(batch: Batch) -> Iterator[tuple[Role, int]]:
    """The roles and keys of the examples, in the order of the sets."""
    for role, item_set in ((Role.TRAINING, batch.training_set), (Role.TEST, batch.test_set)):
        if item_set:
            for example in item_set.items.values_list("example_id", flat=True):
                yield role, example
