"""Completion codes: one for every outcome and for a full study, none guessable."""

import secrets

from annotation.models import JoinAnswer, Outcome, OutcomeRule, Study

# No vowels and no look-alikes: neither a word nor a misreading.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ23456789"
LENGTH = 8
# Those who declined or came too late have not worked.
UNPAID = frozenset(JoinAnswer.values)


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def add_missing_codes(study: Study) -> list[OutcomeRule]:
    """A generated code for every outcome that has none yet. Safe to run twice."""
    present = set(study.outcome_rules.values_list("outcome", flat=True))
    return OutcomeRule.objects.bulk_create(
        OutcomeRule(study=study, outcome=outcome, code=new_code(), pays_time=outcome not in UNPAID)
        for outcome in [*Outcome.values, *JoinAnswer.values]
        if outcome not in present
    )
