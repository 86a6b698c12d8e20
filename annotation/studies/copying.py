"""Copying: a draft modelled on a study that has started and can no longer be changed."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.members import make_owner
from annotation.models import Batch, ChangeAction, OutcomeRule, Study
from annotation.models.access import record
from annotation.models.errors import BadInput
from annotation.studies.codes import new_code
from annotation.studies.lifecycle import FROZEN_FIELDS

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
    if Study.objects.filter(slug=slug).exists():
        raise BadInput(f"There is a study “{slug}” already: choose another name.")
    copy = Study.objects.create(
        slug=slug,
        title=title or study.title,
        is_rehearsal=for_rehearsal,
        rehearses=study if for_rehearsal else None,
        **{field: getattr(study, field) for field in COPIED_FIELDS},
    )
    make_owner(copy, owner)
    OutcomeRule.objects.bulk_create(
        OutcomeRule(
            study=copy,
            outcome=rule.outcome,
            code=new_code(),
            pays_time=rule.pays_time,
            minimum=rule.minimum,
            platform_pays=rule.platform_pays,
        )
        for rule in study.outcome_rules.all()
    )
    Batch.objects.bulk_create(
        Batch(
            study=copy,
            task_id=batch.task_id,
            training_set_id=batch.training_set_id,
            test_set_id=batch.test_set_id,
            chain=batch.chain,
            wanted=batch.wanted,
        )
        for batch in study.batches.order_by("id")
    )
    record(owner, copy, ChangeAction.COPIED, {}, {"from": study.slug})
    return copy
