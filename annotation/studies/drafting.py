"""Drafting: a study as a plan recommends it, ready to be reviewed and started; or modelled on one
that has started and can no longer be changed."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.members import make_owner
from annotation.models import Batch, ChangeAction, Channel, OutcomeRule, Study, Task, new_token
from annotation.models.access import record
from annotation.models.assignment import random_letters
from annotation.models.benchmark import PART
from annotation.models.errors import BadInput
from annotation.studies.batching import add_batches, cut_test_set, possible_batches, shots_of
from annotation.studies.codes import add_missing_codes
from annotation.studies.lifecycle import FROZEN_FIELDS


def draft_study(
    task: Task,
    *,
    shots: int,
    batches: int,
    annotators: int,
    items: int,
    slug: str,
    title: str,
    channel: Channel,
    hourly_rate: Decimal,
    currency: str = "USD",
    platform_fee: Decimal = Decimal(0),
    owner: User | None = None,
) -> Study:
    """A study with so many annotators on so many items, in so many batches with these shots. Items
    count contexts, as the statistics do. Raises BadInput if the task has fewer such sets, or the
    short name is taken."""
    _check_free(slug)
    chosen = _chosen(task, shots, batches)
    with transaction.atomic():
        study = Study.objects.create(
            slug=slug,
            title=title,
            benchmark=task.benchmark,
            channel=channel,
            hourly_rate=hourly_rate,
            currency=currency,
            platform_fee=platform_fee,
        )
        make_owner(study, owner)
        add_missing_codes(study)
        for batch in chosen:
            batch.test_set = cut_test_set(batch.test_set, items)
        add_batches(study, chosen, wanted=annotators, by=owner)
    return study


def _check_free(slug: str) -> None:
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study “{slug}” already: choose another name.")


def _chosen(task: Task, shots: int, wanted: int) -> list[Batch]:
    """The task's first batches with these shots, by split or by episode."""
    possible = possible_batches(task)
    fitting = [b for b in possible if shots_of(b) == shots and PART not in b.test_set.name]
    if len(fitting) < wanted:
        sizes = {shots_of(batch) for batch in possible}
        known = ", ".join(map(str, sorted(size for size in sizes if size is not None)))
        raise BadInput(
            f"The task {task.slug} has {len(fitting)} batches with {shots} shots, not {wanted}; "
            f"it has sets with these shots: {known}."
        )
    return fitting[:wanted]


# A seed and codes of its own: a copy is another experiment.
COPIED_FIELDS = (
    "benchmark",
    "channel",
    "contact",
    "expected_seconds",
    "platform_fee",
    *(field for field in FROZEN_FIELDS if field != "seed"),
)


@transaction.atomic
def copy_study(
    study: Study,
    *,
    slug: str,
    title: str = "",
    owner: User | None = None,
    for_rehearsal: bool = False,
) -> Study:
    """A draft with the same rules, texts and batches, with new links, codes and seed; for simulated
    annotators alone if it is made for a rehearsal."""
    _check_free(slug)
    copy = Study.objects.create(
        slug=slug,
        title=title or study.title,
        is_rehearsal=for_rehearsal,
        rehearses=study if for_rehearsal else None,
        **{field: getattr(study, field) for field in COPIED_FIELDS},
    )
    make_owner(copy, owner)
    rules, batches = list(study.outcome_rules.all()), list(study.batches.order_by("id"))
    for rule in rules:
        rule.pk, rule.study, rule.code = None, copy, random_letters()
    for batch in batches:
        batch.pk, batch.study, batch.join_token = None, copy, new_token()
        batch.description, batch.gold_version = "", None
    OutcomeRule.objects.bulk_create(rules)
    Batch.objects.bulk_create(batches)
    record(owner, copy, ChangeAction.COPIED, {}, {"from": study.slug})
    return copy
