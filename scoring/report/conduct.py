"""How a study went: who took part, who was excluded, and what was paid."""

from collections.abc import Iterator

from annotation.models import Outcome
from scoring.report.facts import Facts
from scoring.report.section import Section, paragraph
from scoring.report.words import between, capital, counted, listed, money, percent

OUTCOMES: dict[str, str] = {
    Outcome.COMPLETED: "completed the work",
    Outcome.SCREENED_OUT: "were screened out at the end of the training",
    Outcome.WITHDRAWN: "withdrew",
    Outcome.EXPIRED: "stopped without finishing",
    Outcome.DISPLACED: "came back after their place had gone to somebody else",
    Outcome.DECLINED: "did not consent",
}


def recruitment(facts: Facts) -> Section:
    study, people = facts.study, facts.people
    when = f" {between(people.first, people.last or people.first)}" if people.first else ""
    invited = ", by personal invitation" if study.channel.invited_only else ""
    ends = [
        f"{count} {words}"
        for outcome, words in OUTCOMES.items()
        if (count := people.outcomes[outcome])
    ]
    lines = [
        f"Annotators were recruited through {study.channel}{invited}{when}.",
        f"{capital(counted(people.persons, 'person', 'people'))} took up "
        f"{counted(people.joined, 'assignment')}; consent was given in {people.consented}.",
        f"They ended as follows: {listed(ends)}." if ends else "",
        f"Still at work: {people.at_work}." if people.at_work else "",
        f"Of those with consent, {percent(people.completed.percent)} were completed.",
    ]
    return Section("Recruitment", paragraph(lines))


def exclusions(facts: Facts) -> Section:
    people = facts.people
    rate = people.excluded
    if not rate.total:
        return Section("Exclusions", ())
    if not rate.count:
        return Section("Exclusions", ("No completed assignment was excluded.",))
    reasons = [f"“{reason}” ({count})" for reason, count in people.reasons.items()]
    lines = [
        f"{rate.count} of {counted(rate.total, 'completed assignment')} "
        f"({percent(rate.percent)}) were excluded by the researchers, for: {listed(reasons)}.",
        "Excluded annotators kept their pay and their outcome.",
        f"{people.excluded_unfinished} more that had not been completed were marked."
        if people.excluded_unfinished
        else "",
        *_moved(facts),
    ]
    return Section("Exclusions", paragraph(lines))


def _moved(facts: Facts) -> Iterator[str]:
    most = facts.results.moved_most
    if most is None or most.with_excluded is None:
        return
    without, with_them = most.row.mean, most.with_excluded.mean
    if without is not None and with_them is not None:
        yield (
            f"The exclusions moved the mean of no cell by more than "
            f"{abs(without - with_them):.1f} points ({most.row.task}, "
            f"{most.row.shots} shots: {without:.1f} without the excluded, "
            f"{with_them:.1f} with them)."
        )


def pay(facts: Facts) -> Section:
    study, found = facts.study, facts.pay
    currency = study.currency
    floors = [
        f"{money(rule.minimum, currency)} for who {OUTCOMES[rule.outcome]}"
        for rule in facts.rules
        if rule.minimum
    ]
    lines = [
        f"Time is paid at {money(study.hourly_rate, currency)} an hour by the server's clock, "
        f"training included, with at most {study.reading_cap_s} s counted for the description, "
        f"{study.item_cap_s} s for an example and {study.reveal_cap_s} s for a reference answer.",
        f"The least that is due: {listed(floors)}." if floors else "",
        "Everybody works under the same rules of pay; the amounts due hold no bonus for scores.",
    ]
    if found.amount is None:
        return Section("Pay", paragraph(lines))
    due = [
        f"In all {money(found.total, currency)} were due for {found.paid_hours:.1f} paid hours.",
        f"A completed assignment took a median of {found.minutes:.1f} minutes from consent to the "
        f"end, breaks included, and was due a median of {money(found.amount, currency)}.",
        _hourly(facts),
        _unpaid(facts),
    ]
    return Section("Pay", (*paragraph(lines), *paragraph(due)))


def _hourly(facts: Facts) -> str:
    found, currency = facts.pay, facts.study.currency
    if found.hourly is None or found.lowest_hourly is None or found.hourly_paid is None:
        return ""
    return (
        f"The effective hourly rate of completed work was {money(found.hourly, currency)} in the "
        f"median and {money(found.lowest_hourly, currency)} at the least over the elapsed time, "
        f"and {money(found.hourly_paid, currency)} over the paid time."
    )


def _unpaid(facts: Facts) -> str:
    nothing = [f"{count} who {OUTCOMES[key]}" for key, count in facts.pay.unpaid.items()]
    return f"Nothing was due to {listed(nothing)}." if nothing else ""
