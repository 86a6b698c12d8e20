"""Completion codes and rules of outcomes: one for every outcome and for a full study; no code is
guessable."""

import secrets
from collections.abc import Mapping

from django.contrib.auth.models import User

from annotation.models import ChangeAction, JoinAnswer, Outcome, OutcomeRule, Study
from annotation.models.access import record

# No vowels and no look-alikes: neither a word nor a misreading.
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ23456789"
LENGTH = 8
# Those who declined or came too late have not worked.
UNPAID = frozenset(JoinAnswer.values)
_RULE = ("pays_time", "minimum", "platform_pays")

# By outcome and field.
Rules = Mapping[str, str]


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


def rules_of(study: Study) -> dict[str, str]:
    """Every field of every outcome, by outcome and field."""
    return {
        f"{rule.outcome}: {field}": str(getattr(rule, field))
        for rule in study.outcome_rules.all()
        for field in (*_RULE, "code")
    }


def log_rules(study: Study, before: Rules, *, by: User | None) -> None:
    """What became of rules since `before`, if anything. A code is worth money: of one the log says
    only that it is another."""
    after = rules_of(study)
    changed = [name for name in after if after[name] != before.get(name)]
    if changed:
        was, now = ({name: _told(name, rules) for name in changed} for rules in (before, after))
        record(by, study, ChangeAction.OUTCOMES, was, now)


def _told(name: str, rules: Rules) -> str:
    return "…" if name.endswith(": code") else rules.get(name, "–")
