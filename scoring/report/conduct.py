"""How a study went: who took part, who was excluded, and what was paid."""

from collections.abc import Iterator, Mapping

from annotation.models import Outcome
from scoring.report.facts import Facts
from scoring.report.section import Section, paragraph
from scoring.report.words import between, capital, counted, listed, money, percent

# How an assignment ended: of one, and of several.
OUTCOMES: dict[str, tuple[str, str]] = {
    Outcome.COMPLETED: ("was completed", "were completed"),
    Outcome.SCREENED_OUT: (
        "was screened out at the end of the training",
        "were screened out at the end of the training",
    ),
    Outcome.WITHDRAWN: ("was withdrawn", "were withdrawn"),
    Outcome.EXPIRED: ("stopped without an end", "stopped without an end"),
    Outcome.DISPLACED: (
        "was resumed after its place had gone to somebody else",
        "were resumed after their places had gone to somebody else",
    ),
}

PAY = "Pay"


def ended(counts: Mapping[str, int]) -> list[str]:
    """“3 were completed”, “1 was withdrawn”."""
    return [
        f"{count} {one if count == 1 else many}"
        for outcome, (one, many) in OUTCOMES.items()
        if (count := counts.get(outcome, 0))
    ]


def recruitment(facts: Facts) -> Section:
    study, people = facts.study, facts.people
    when = f" {between(people.first, people.last or people.first)}" if people.first else ""
    invited = ", by personal invitation" if study.channel.invited_only else ""
    ends = ended(people.outcomes)
    lines = [
        f"The annotators are simulated{when}: nobody was recruited."
        if facts.is_rehearsal
        else f"Annotators were recruited through {study.channel}{invited}{when}.",
        f"{capital(counted(people.persons, 'person', 'people'))} took up "
        f"{counted(people.joined, 'assignment')}; consent was given in {people.consented}.",
        f"Of the assignments, {listed(ends)}." if ends else "",
        f"Still at work: {people.at_work}." if people.at_work else "",
        f"Of those with consent, {percent(people.completed.percent)} were completed."
        if people.consented
        else "",
        *_turned_away(facts),
        "Their links named nobody: a person who came without the cookie of the first browser and "
        "without the personal link can't be told from a new one."
        if facts.has_plain_links and not facts.is_rehearsal
        else "",
        *_renewed(facts),
    ]
    return Section("Recruitment", paragraph(lines))


def _turned_away(facts: Facts) -> Iterator[str]:
    """Counted by join, since nothing else is kept of them."""
    people = facts.people
    if people.declined:
        yield f"The consent was declined {counted(people.declined, 'time')}."
    if people.found_full:
        times = counted(people.found_full, "time")
        yield f"A consent came too late, with all places taken, {times}."


def _renewed(facts: Facts) -> Iterator[str]:
    if facts.people.renewed:
        yield (
            f"The researchers handed out a new personal link for "
            f"{counted(facts.people.renewed, 'assignment')}."
        )


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
        f"({percent(rate.percent)}) {'was' if rate.count == 1 else 'were'} excluded by the "
        f"researchers, for: {listed(reasons)}.",
        *_after_scores(facts),
        "Excluded annotators kept their pay and their outcome.",
        f"Beside these, {counted(people.excluded_unfinished, 'unfinished assignment')} "
        f"{'was' if people.excluded_unfinished == 1 else 'were'} marked."
        if people.excluded_unfinished
        else "",
        *_moved(facts),
        f"Every annotator was excluded from {listed(facts.results.emptied)}."
        if facts.results.emptied
        else "",
    ]
    return Section("Exclusions", paragraph(lines))


def _after_scores(facts: Facts) -> Iterator[str]:
    """Whoever can see scores when deciding can choose by them."""
    after, out = facts.people.excluded_after, facts.people.excluded.count
    yield (
        f"{after} of {counted(out, 'exclusion')} {'was' if after == 1 else 'were'} made once the "
        "work was complete, when its scores could be seen."
    )


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
    study, earned = facts.study, facts.pay
    currency = study.currency
    floors = [
        f"{money(rule.minimum, currency)} for an assignment that {OUTCOMES[rule.outcome][0]}"
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
    if not earned.assignments:
        return Section(PAY, paragraph(lines))
    due = [
        f"In all {money(earned.total, currency)} were due for {_paid_time(earned.paid_hours)} "
        f"of {counted(earned.assignments, 'ended assignment')}.",
        _with_fee(facts),
        _completed(facts),
        _hourly(facts),
        _unpaid(facts),
    ]
    return Section(PAY, (*paragraph(lines), *paragraph(due)))


def _paid_time(hours: float) -> str:
    return f"{hours:.1f} paid hours" if hours >= 1 else f"{60 * hours:.1f} paid minutes"


def _with_fee(facts: Facts) -> str:
    study = facts.study
    if not study.platform_fee:
        return "No fee of the channel is stored: if it takes one, it comes on top."
    whole = facts.pay.total * (1 + study.platform_fee / 100)
    return (
        f"With the channel's fee of {study.platform_fee.normalize():f} % that is "
        f"{money(whole, study.currency)}."
    )


def _completed(facts: Facts) -> str:
    earned = facts.pay
    if earned.amount is None:
        return ""
    return (
        f"A completed assignment took a median of {earned.minutes:.1f} minutes from consent to the "
        f"end, breaks included, and was due a median of "
        f"{money(earned.amount, facts.study.currency)}."
    )


def _hourly(facts: Facts) -> str:
    earned, currency = facts.pay, facts.study.currency
    if earned.hourly is None or earned.lowest_hourly is None or earned.hourly_paid is None:
        return ""
    return (
        f"The effective hourly rate of completed work was {money(earned.hourly, currency)} in the "
        f"median and {money(earned.lowest_hourly, currency)} at the least over the elapsed time, "
        f"and {money(earned.hourly_paid, currency)} over the paid time."
    )


def _unpaid(facts: Facts) -> str:
    nothing = ended(facts.pay.unpaid)
    return f"Nothing was due for assignments of which {listed(nothing)}." if nothing else ""
