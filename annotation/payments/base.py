"""What the platform pays by itself: the reward of a code that was handed in."""

from collections.abc import Mapping
from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Outcome, Study
from annotation.studies.codes import log_rules, rules_of

# The outcomes that a platform rewards; all others are returned there.
REWARDED = (Outcome.COMPLETED, Outcome.SCREENED_OUT)


def rewards(study: Study) -> dict[str, Decimal]:
    rules = study.outcome_rules.filter(outcome__in=REWARDED)
    return dict(rules.values_list("outcome", "platform_pays"))


@transaction.atomic
def set_rewards(study: Study, amounts: Mapping[str, Decimal], *, by: User | None = None) -> None:
    """Also while the study runs: the platform's reward can be raised there at any time."""
    if {name: amounts[name] for name in REWARDED} == rewards(study):
        return
    before = rules_of(study)
    for outcome in REWARDED:
        study.outcome_rules.filter(outcome=outcome).update(platform_pays=amounts[outcome])
    log_rules(study, before, by=by)
