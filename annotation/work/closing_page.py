"""How work ended, or why it could not begin, in words for the annotator: the reason, what is paid,
and what to do with the code."""

from copy import copy
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_stubs_ext import StrOrPromise

from annotation import models
from annotation.work.finishing import amount_due, earned, in_hand_ms
from annotation.work.languages import in_readers_language
from annotation.work.wording import amount_text, gap, percent_text, seconds_text


def ending_of(assignment: models.Assignment) -> dict[str, Any]:
    """Heading and reason; what was worked, by which rule it comes to the amount, and the amount:
    nothing where nobody had worked."""
    has_worked = assignment.outcome not in models.JoinAnswer.values
    currency = assignment.study.currency
    return {
        "heading": heading_of(assignment.outcome),
        "reason": _reason(assignment),
        "pay": _pay(assignment) if has_worked else [],
        "amount": amount_text(_amount(assignment), currency) if has_worked else "",
        "last_words": in_readers_language(assignment.study.ending),
    }


def ending_if_withdrawn(assignment: models.Assignment, *, at: datetime) -> dict[str, Any]:
    """How it would end now; nothing of it is stored."""
    would_be = copy(assignment)
    would_be.paid_ms += in_hand_ms(assignment, at=at)
    would_be.outcome = models.Outcome.WITHDRAWN
    would_be.amount = amount_due(would_be, models.Outcome.WITHDRAWN)
    return ending_of(would_be)


def heading_of(outcome: str) -> str:
    return str(_HEADINGS[outcome])


def code_of(study: models.Study, outcome: str) -> dict[str, str] | None:
    """The completion code of an outcome or of a join's answer, and what to do with it."""
    rule = _rule(study, outcome)
    if rule is None:
        return None
    link = study.channel.completion_link(rule.code)
    return {"text": rule.code, "link": link, "help": _help(study.channel, has_link=bool(link))}


def pay_without_work(study: models.Study, answer: models.JoinAnswer) -> str:
    """What somebody is paid who came and did not work."""
    rule = _rule(study, answer)
    if rule is None or not rule.minimum:
        return _("You have not worked, so nothing is paid.")
    amount = amount_text(rule.minimum, study.currency)
    return _("You are paid %(amount)s for having come.") % {"amount": amount}


def _rule(study: models.Study, outcome: str) -> models.OutcomeRule | None:
    return study.outcome_rules.filter(outcome=outcome).first()


_HEADINGS: dict[str, StrOrPromise] = {
    models.Outcome.COMPLETED: gettext_lazy("Done. Thank you!"),
    models.Outcome.SCREENED_OUT: gettext_lazy("Thank you. The study ends here for you."),
    models.Outcome.WITHDRAWN: gettext_lazy("You have stopped. Thank you for your time."),
    models.Outcome.EXPIRED: gettext_lazy("This work has ended."),
    models.Outcome.DISPLACED: gettext_lazy("Your place was given to somebody else."),
    models.JoinAnswer.DECLINED: gettext_lazy("You did not take part."),
}

_REASONS: dict[str, StrOrPromise] = {
    models.Outcome.COMPLETED: gettext_lazy(
        "You have answered every item. Your answers are stored."
    ),
    models.Outcome.WITHDRAWN: gettext_lazy(
        "Your place is open for somebody else. Your answers so far stay stored under a pseudonym "
        "and are left out of the results."
    ),
    # Of those whom no silence ended.
    models.Outcome.EXPIRED: gettext_lazy(
        "The study was closed before you had come to the end. What you sent until then is stored."
    ),
    models.JoinAnswer.DECLINED: gettext_lazy(
        "You chose not to take part. Nothing about you was stored beyond this choice."
    ),
}


def _reason(assignment: models.Assignment) -> str:
    """The reason by the rule that really applied."""
    if assignment.outcome == models.Outcome.SCREENED_OUT:
        return _why_screened_out(assignment)
    if assignment.outcome == models.Outcome.EXPIRED and not assignment.ended_by_closing:
        return _why_expired(assignment)
    if assignment.outcome == models.Outcome.DISPLACED:
        return _why_displaced(assignment)
    return str(_REASONS[assignment.outcome])


def _why_screened_out(assignment: models.Assignment) -> str:
    checks, practice = assignment.check_screening, assignment.screening
    if not checks.get("passed", True):
        return _(
            "Your score in the checks was %(score)s; you needed %(mark)s to go on. That was fixed "
            "beforehand; you were not compared with anybody."
        ) % _score_and_mark(checks["score"], checks["floor"])
    if practice.get("reason") == "drop":
        return _(
            "Your practice score was %(score)s; you needed %(mark)s to go on, by what other people "
            "scored."
        ) % _score_and_mark(practice["score"], practice["lowest_allowed"])
    return _(
        "Your practice score was %(score)s; you needed %(mark)s to go on. That was fixed "
        "beforehand; you were not compared with anybody."
    ) % _score_and_mark(practice["score"], practice["floor"])


def _score_and_mark(score: float, mark: float) -> dict[str, str]:
    """Rounded away from each other: a score just below the mark is never shown as the mark."""
    return {"score": percent_text(score, ROUND_FLOOR), "mark": percent_text(mark, ROUND_CEILING)}


def _why_expired(assignment: models.Assignment) -> str:
    hours = assignment.study.expire_hours
    sentence = ngettext(
        "Nothing was heard from you for more than %(hours)d hour, so this work has ended. What you "
        "sent until then is stored.",
        "Nothing was heard from you for more than %(hours)d hours, so this work has ended. What "
        "you sent until then is stored.",
        hours,
    )
    return sentence % {"hours": hours}


def _why_displaced(assignment: models.Assignment) -> str:
    """Tells who let the place go after the last page was shown; else it was the pause itself."""
    shown_at, timed_out_at = assignment.shown_at, assignment.timed_out_at
    releases = assignment.study.changes.filter(
        action=models.ChangeAction.PLACE_RELEASED,
        after__has_key=assignment.annotator.pseudonym,
        at__gt=shown_at,
    )
    if shown_at and timed_out_at and timed_out_at > shown_at:
        why = _(
            "Your time for this study ran out on %(channel)s, so your place was open to others, "
            "and somebody else took it before you went on."
        ) % {"channel": assignment.study.channel.name}
    elif releases.exists():
        why = _(
            "The people who run the study opened your place to others, and somebody else took it "
            "before you went on."
        )
    else:
        why = _(
            "You were away for longer than the place could be kept, and somebody else took it "
            "before you came back."
        )
    return gap().join([why, _("What you sent until then is stored.")])


def _amount(assignment: models.Assignment) -> Decimal:
    """What they get in all: the platform itself may pay more than the time is worth."""
    rule = _rule(assignment.study, assignment.outcome)
    return max(assignment.amount or Decimal(0), (rule and rule.platform_pays) or Decimal(0))


def _pay(assignment: models.Assignment) -> list[str]:
    study = assignment.study
    worked = earned(assignment.paid_ms, study.hourly_rate, study.currency)
    figures = {
        "time": seconds_text(assignment.paid_ms // 1000),
        "worked": amount_text(worked, study.currency),
        "rate": amount_text(study.hourly_rate, study.currency),
        "amount": amount_text(_amount(assignment), study.currency),
    }
    rule = _rule(study, assignment.outcome)
    if rule is not None and not rule.pays_time:
        return [
            _("You worked %(time)s.") % figures,
            _("By the rules of this study the time is not paid after such an end.") % figures,
        ]
    sentences = [_("You worked %(time)s: at %(rate)s an hour that is %(worked)s.") % figures]
    if _amount(assignment) > worked:
        sentences.append(
            _("You get %(amount)s, the least that is paid for work that ends this way.") % figures
        )
    return sentences


def _help(channel: models.Channel, *, has_link: bool) -> str:
    if has_link:
        return _(
            "The button hands it in for you. If that page does not open, copy the code and enter "
            "it on %(channel)s yourself."
        ) % {"channel": channel.name}
    if channel.person_param:
        return _("Copy it, and enter it on %(channel)s where you are asked for it.") % {
            "channel": channel.name
        }
    return _("Keep this code; the researchers may ask for it.")
