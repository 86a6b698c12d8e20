"""Completion codes and rules of outcomes, one for each and for a full study, none guessable; and
what a researcher sees of them before the start, with what to do about each on the channel."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import ChangeAction, JoinAnswer, Outcome, OutcomeRule, ProlificStudy, Study
from annotation.models.access import record
from annotation.models.assignment import random_letters
from annotation.models.errors import Refusal
from annotation.models.texts import described_beside
from annotation.work.wording import amount_text
from scoring.tables.words import counted

# Those who declined or came too late have not worked.
UNPAID = frozenset(JoinAnswer.values)
_RULE = ("pays_time", "minimum", "platform_pays")
# What is said of each outcome.
TOLD: dict[str, dict[str, str]] = described_beside(__file__)

# By outcome and field.
Rules = Mapping[str, str]


def add_missing_codes(study: Study) -> list[OutcomeRule]:
    """A generated code for every outcome that has none yet. Safe to run twice."""
    present = set(study.outcome_rules.values_list("outcome", flat=True))
    return OutcomeRule.objects.bulk_create(
        OutcomeRule(
            study=study, outcome=outcome, code=random_letters(), pays_time=outcome not in UNPAID
        )
        for outcome in [*Outcome.values, *JoinAnswer.values]
        if outcome not in present
    )


def rules_of(study: Study) -> dict[str, str]:
    return {
        f"{rule.outcome}: {field}": str(getattr(rule, field))
        for rule in study.outcome_rules.all()
        for field in (*_RULE, "code")
    }


def log_rules(study: Study, before: Rules, *, by: User | None) -> None:
    """What became of rules since `before`. A code is worth money: the log says only that it is
    another."""
    after = rules_of(study)
    changed = [name for name in after if after[name] != before.get(name)]
    if changed:
        was, now = (
            {name: "…" if name.endswith(": code") else rules.get(name, "–") for name in changed}
            for rules in (before, after)
        )
        record(by, study, ChangeAction.OUTCOMES, was, now)


def let_go_of_codes(rules: Iterable[OutcomeRule]) -> None:
    """Codes may have been swapped: before they are stored, each lets go of its old one."""
    for rule in rules:
        OutcomeRule.objects.filter(pk=rule.pk).update(code=f"being changed {rule.pk}")


# The outcomes that a platform rewards; all others are returned there.
REWARDED = (Outcome.COMPLETED, Outcome.SCREENED_OUT)


def rewards(study: Study) -> dict[str, Decimal | None]:
    rules = study.outcome_rules.filter(outcome__in=REWARDED)
    return dict(rules.values_list("outcome", "platform_pays"))


def what_it_pays(study: Study, *, where: str = "on the page Payments") -> str:
    """What the channel itself pays, and so what a bonus is; empty where it pays nobody."""
    amounts = [(Outcome(name).label, amount) for name, amount in rewards(study).items()]
    if not study.channel.pays_itself:
        return ""
    if any(amount is None for _name, amount in amounts):
        return f"It is not said yet what {study.channel} itself pays: say it {where}."
    paid = " and ".join(f"{amount_text(x or 0, study.currency)} ({name})" for name, x in amounts)
    beyond = "A bonus is what is due beyond that, and never below 0."
    return f"{study.channel} itself pays {paid}. {beyond}"


def other_reward(study: Study, connection: ProlificStudy | None) -> str:
    """Says where the study on Prolific pays otherwise than is said here, by its latest answer."""
    if connection is None or not (connection.token and connection.remote_id):
        return ""
    ask = "press “Ask now” on the page Prolific"
    if not (remote := connection.rewards):
        return f"It is not read yet what Prolific pays: {ask}, or have it forget the token."
    for name, amount in rewards(study).items():
        theirs = Decimal(remote.get(name, amount or 0)), remote["currency"]
        if amount is not None and theirs != (amount, study.currency):
            return (
                f"The study on Prolific pays {amount_text(*theirs)} ({Outcome(name).label}), and "
                f"the page Payments says {amount_text(amount, study.currency)}: write the same in "
                f"both places, then {ask}."
            )
    return ""


def has_fixed_payment(rule: OutcomeRule) -> bool:
    """Whether those screened out get a payment of its own, or else are reviewed by hand."""
    return rule.outcome == Outcome.SCREENED_OUT and bool(rule.platform_pays)


class CountsForAll(Refusal):
    """A reward that would be taken as paid to people who have finished."""


@transaction.atomic
def set_rewards(
    study: Study,
    amounts: Mapping[str, Decimal],
    *,
    to_everybody: bool = False,
    by: User | None = None,
) -> None:
    """Set what the platform pays, also while the study runs, since it can be raised there at any
    time. Once people have finished it takes the word that the platform pays them the new one,
    too."""
    said = rewards(study)
    if {name: amounts[name] for name in REWARDED} == said:
        return
    is_other = any(said.get(name) not in (None, amounts[name]) for name in REWARDED)
    finished = study.assignments.of_people().exclude(outcome="").count() if is_other else 0
    if finished and not to_everybody:
        raise CountsForAll(
            f"{counted(finished, 'person has,people have')} finished, and what stands here "
            "counts as paid to them by the platform: with less, a bonus would pay it a second "
            "time; with more, they would get less than they are due. If the platform pays the new "
            "amount to everybody, those who have finished, too, tick that."
        )
    before = rules_of(study)
    for outcome in REWARDED:
        study.outcome_rules.filter(outcome=outcome).update(platform_pays=amounts[outcome])
    log_rules(study, before, by=by)


def codes_to_set_up(study: Study) -> list[dict[str, Any]]:
    """Each outcome, its code, what the channel shall do, and what is paid, in all and by itself."""
    rules = {rule.outcome: rule for rule in study.outcome_rules.all()}
    return [
        {
            "outcome": str(rule.get_outcome_display()),
            "meaning": TOLD[outcome]["meaning"],
            "code": rule.code,
            "link": study.channel.completion_link(rule.code),
            "action": _action(study, rule),
            "pays": _pays(study, rule),
            "platform_pays": rule.platform_pays,
        }
        for outcome in [*Outcome.values, *JoinAnswer.values]
        if (rule := rules.get(outcome))
    ]


def as_lines(codes: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(f"{code['code']}\t{code['outcome']}\t{code['action']}" for code in codes)


def _action(study: Study, rule: OutcomeRule) -> str:
    actions = TOLD[rule.outcome]
    if study.channel.slug != "prolific":
        return actions["elsewhere"]
    is_by_hand = rule.outcome == Outcome.SCREENED_OUT and not has_fixed_payment(rule)
    return actions["by_hand" if is_by_hand else "on_prolific"]


def _pays(study: Study, rule: OutcomeRule) -> str:
    least = f"{rule.minimum} {study.currency}"
    if rule.pays_time and rule.minimum:
        return f"the time, and at least {least}"
    if rule.pays_time:
        return "the time"
    return least if rule.minimum else "nothing"
