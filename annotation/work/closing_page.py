"""What is said when work has ended, or could not begin: why, what is paid, and what to do with the
code."""

from copy import copy
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_stubs_ext import StrOrPromise

from annotation.models import Assignment, Channel, JoinAnswer, Outcome, OutcomeRule, Study
from annotation.work.paying import amount_due, earned, in_hand_ms
from annotation.work.wording import amount_text, time_text


def ending_of(assignment: Assignment) -> dict[str, Any]:
    """Heading and reason; what was worked, by which rule it comes to the amount, and the amount:
    nothing where nobody had worked."""
    has_worked = assignment.outcome not in JoinAnswer.values
    return {
        "heading": heading_of(assignment.outcome),
        "reason": _reason(assignment),
        "pay": _pay(assignment) if has_worked else [],
        "amount": _amount(assignment) if has_worked else "",
    }


def ending_if_withdrawn(assignment: Assignment, *, at: datetime) -> dict[str, Any]:
    """How it would end now; nothing of it is stored."""
    would_be = copy(assignment)
    would_be.paid_ms += in_hand_ms(assignment, at=at)
    would_be.outcome = Outcome.WITHDRAWN
    would_be.amount = amount_due(would_be, Outcome.WITHDRAWN)
    return ending_of(would_be)


def heading_of(outcome: str) -> str:
    return str(_HEADINGS[outcome])


def code_of(study: Study, outcome: str) -> dict[str, str] | None:
    """The completion code of an outcome or of a join's answer, and what to do with it."""
    rule = _rule(study, outcome)
    if rule is None:
        return None
    link = study.channel.completion_link(rule.code)
    return {"text": rule.code, "link": link, "help": _help(study.channel, has_link=bool(link))}


def pay_without_work(study: Study, answer: JoinAnswer) -> str:
    """What somebody is paid who came and did not work."""
    rule = _rule(study, answer)
    if rule is None or not rule.minimum:
        return _("You have not worked, so nothing is paid.")
    amount = amount_text(rule.minimum, study.currency)
    return _("You are paid %(amount)s for having come.") % {"amount": amount}


def _rule(study: Study, outcome: str) -> OutcomeRule | None:
    return study.outcome_rules.filter(outcome=outcome).first()


_HEADINGS: dict[str, StrOrPromise] = {
    Outcome.COMPLETED: gettext_lazy("Done. Thank you!"),
    Outcome.SCREENED_OUT: gettext_lazy("Thank you. Your part ends here."),
    Outcome.WITHDRAWN: gettext_lazy("You have stopped. Thank you for your time."),
    Outcome.EXPIRED: gettext_lazy("This work has ended."),
    Outcome.DISPLACED: gettext_lazy("Your place was given to somebody else."),
    JoinAnswer.DECLINED: gettext_lazy("You did not take part."),
}

_REASONS: dict[str, StrOrPromise] = {
    Outcome.COMPLETED: gettext_lazy("You have answered every example. Your answers are stored."),
    Outcome.WITHDRAWN: gettext_lazy(
        "Your place is open for somebody else. Your answers so far stay stored under a pseudonym "
        "and are left out of the results."
    ),
    # Of those whom no silence ended.
    Outcome.EXPIRED: gettext_lazy(
        "The study was closed before you had come to the end. What you sent until then is stored."
    ),
    Outcome.DISPLACED: gettext_lazy(
        "You were away for longer than the place could be kept, and somebody else took it before "
        "you came back. What you sent until then is stored."
    ),
    JoinAnswer.DECLINED: gettext_lazy(
        "You chose not to take part. Nothing about you was stored beyond this choice."
    ),
}


def _reason(assignment: Assignment) -> str:
    """Of the rule that really applied."""
    if assignment.outcome == Outcome.SCREENED_OUT:
        return _why_screened_out(assignment)
    if assignment.outcome == Outcome.EXPIRED and not assignment.ended_by_closing:
        return _why_expired(assignment)
    return str(_REASONS[assignment.outcome])


def _why_screened_out(assignment: Assignment) -> str:
    if assignment.screening.get("reason") == "drop":
        return _(
            "After the practice, this study goes on with those whose answers agreed with the "
            "reference answers about as often as other people's did. Yours agreed less often."
        )
    return _(
        "After the practice, this study goes on with those whose answers agreed with the reference "
        "answers often enough. How often that is was fixed beforehand; you were not compared with "
        "anybody."
    )


def _why_expired(assignment: Assignment) -> str:
    hours = assignment.study.expire_hours
    sentence = ngettext(
        "Nothing was heard from you for more than %(hours)d hour, so this work has ended. What you "
        "sent until then is stored.",
        "Nothing was heard from you for more than %(hours)d hours, so this work has ended. What "
        "you sent until then is stored.",
        hours,
    )
    return sentence % {"hours": hours}


def _amount(assignment: Assignment) -> str:
    return amount_text(assignment.amount or 0, assignment.study.currency)


def _pay(assignment: Assignment) -> list[str]:
    study = assignment.study
    worked = earned(assignment.paid_ms, study.hourly_rate)
    figures = {
        "time": time_text(assignment.paid_ms // 1000),
        "worked": amount_text(worked, study.currency),
        "rate": amount_text(study.hourly_rate, study.currency),
        "amount": _amount(assignment),
    }
    rule = _rule(study, assignment.outcome)
    if rule is not None and not rule.pays_time:
        return [
            _("You worked %(time)s.") % figures,
            _("By the rules of this study the time is not paid after such an end.") % figures,
        ]
    sentences = [_("You worked %(time)s: at %(rate)s an hour that is %(worked)s.") % figures]
    if assignment.amount is not None and assignment.amount > worked:
        sentences.append(_("After such an end at least %(amount)s is paid.") % figures)
    return sentences


def _help(channel: Channel, *, has_link: bool) -> str:
    if has_link:
        return _(
            "The button hands it in for you. If that page does not open, copy the code and enter "
            "it on %(channel)s yourself."
        ) % {"channel": channel.name}
    if channel.person_param:
        return _("Copy it, and enter it on %(channel)s where you are asked for it.") % {
            "channel": channel.name
        }
    return _(
        "Keep it: it tells the people who run this study how your part ended. Give it to them if "
        "they ask for it."
    )
