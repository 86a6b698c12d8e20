"""Drafting: a study as a plan recommends it, ready to be reviewed and started."""

from dataclasses import dataclass, replace
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.members import make_owner
from annotation.benchmarks.subsets import PART, cut_test_set
from annotation.models import Channel, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.batching import PossibleBatch, add_batches, possible_batches
from annotation.studies.codes import add_missing_codes


@dataclass(frozen=True)
class Draft:
    """How many annotators on how many items, in how many batches with these shots. Items count
    contexts, as the statistics do."""

    task: Task
    shots: int
    batches: int
    annotators: int
    items: int


def draft_study(
    draft: Draft,
    *,
    slug: str,
    title: str,
    channel: Channel,
    hourly_rate: Decimal,
    currency: str = "USD",
    platform_fee: Decimal = Decimal(0),
    owner: User | None = None,
) -> Study:
    """A study with its batches and codes. Raises BadInput if the task has fewer such sets, or the
    short name is taken."""
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study “{slug}” already: choose another name.")
    chosen = _chosen(draft)
    with transaction.atomic():
        study = Study.objects.create(
            slug=slug,
            title=title,
            benchmark=draft.task.benchmark,
            channel=channel,
            hourly_rate=hourly_rate,
            currency=currency,
            platform_fee=platform_fee,
        )
        make_owner(study, owner)
        add_missing_codes(study)
        cut = [
            replace(possible, test_set=cut_test_set(possible.test_set, draft.items))
            for possible in chosen
        ]
        add_batches(study, cut, wanted=draft.annotators, by=owner)
    return study


def _chosen(draft: Draft) -> list[PossibleBatch]:
    """The task's first batches with these shots, by split or by episode."""
    fitting = [
        possible
        for possible in possible_batches(draft.task)
        if possible.shots == draft.shots and PART not in possible.test_set.name
    ]
    if len(fitting) < draft.batches:
        sizes = {possible.shots for possible in possible_batches(draft.task)}
        known = sorted(shots for shots in sizes if shots is not None)
        raise BadInput(
            (
                "The task {task} has {there} batches with {shots} shots, not {wanted}; "
                "it has sets with these shots: {known}."
            ).format(
                task=draft.task.slug,
                there=len(fitting),
                shots=draft.shots,
                wanted=draft.batches,
                known=", ".join(map(str, known)),
            )
        )
    return fitting[: draft.batches]
