"""What an annotator's page shows in each state: the data behind the templates. At the
end, or where work could not begin: why, what is paid, and what to do with the code.

Gold enters only in the state `revealed`, whose judgement is committed.
"""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Any

import segno
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django_stubs_ext import StrOrPromise

from annotation import models
from annotation.kinds import answer_kind, compare, gold_in_force
from annotation.models.frozen import BatchContent, FrozenExample, batch_content
from annotation.work.consent_facts import ahead
from annotation.work.finishing import amount_due, earned, in_hand_ms
from annotation.work.judging import current_example, judgement_at
from annotation.work.wording import amount_text, markdown_html, share_text, time_text


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
    models.Outcome.SCREENED_OUT: gettext_lazy("Thank you. Your part ends here."),
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
    """Of the rule that really applied."""
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
    return {"score": share_text(score, ROUND_FLOOR), "mark": share_text(mark, ROUND_CEILING)}


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
    """By whom the place was let go after the last page was shown; else by the pause itself."""
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
    return " ".join([why, _("What you sent until then is stored.")])


def _amount(assignment: models.Assignment) -> Decimal:
    """What they get in all: the platform itself may pay more than the time is worth."""
    rule = _rule(assignment.study, assignment.outcome)
    return max(assignment.amount or Decimal(0), (rule and rule.platform_pays) or Decimal(0))


def _pay(assignment: models.Assignment) -> list[str]:
    study = assignment.study
    worked = earned(assignment.paid_ms, study.hourly_rate)
    figures = {
        "time": time_text(assignment.paid_ms // 1000),
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
        sentences.append(_("After such an end at least %(amount)s is paid.") % figures)
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


PAGE = "annotation/work/work.html"
# From so many answers on it is said how long the rest will take.
LEAST_PACED = 10


class Position:
    def __init__(self, assignment: models.Assignment, content: BatchContent) -> None:
        self.assignment, self.content = assignment, content

    def example(self) -> FrozenExample:
        return current_example(self.assignment)

    def judgement(self) -> models.Judgement | None:
        """Of the present step, once it is locked."""
        return judgement_at(self.assignment, self.assignment.step)

    def gold(self, example: FrozenExample) -> models.Gold:
        content = self.content
        return gold_in_force([example.pk], content.task_id, content.gold_version)[example.pk]

    def asked(self, example: FrozenExample) -> SafeString:
        batch, order = self.content.batch_id, example.options_order
        return asked_html(batch, example.pk, get_language(), order)


def page_context(assignment: models.Assignment) -> dict[str, Any]:
    return context_at(Position(assignment, batch_content(assignment.batch_id)))


def context_at(position: Position) -> dict[str, Any]:
    assignment, content = position.assignment, position.content
    rules, task = content.rules, content.task_at(assignment.step)
    kind = answer_kind(task.kind)
    return {
        "assignment": assignment,
        "kind": kind,
        "rules": rules,
        # An ended assignment's page stands without its task.
        "content": None if assignment.is_finished else task,
        "description": markdown_html(kind.described(task.description), task.markup),
        **_PANELS[assignment.state](position),
    }


def _description(position: Position) -> dict[str, Any]:
    """Before the checks, before the practice, or between it and the test: then everything that it
    tells has been revealed."""
    assignment, content = position.assignment, position.content
    facts = {
        "check_count": max(0, len(content.checks) - assignment.step),
        "training_count": len(content.training),
        "test_count": len(content.test),
    }
    if assignment.step <= len(content.checks):
        told = {"ahead": ahead(content) if content.training and not assignment.step else ""}
        return {"panel": "annotation/work/_description.html", **facts, **told}
    return {
        "panel": "annotation/work/_practice_done.html",
        **facts,
        "score": (assignment.training_score or 0) / 100,
        "progress": progress(assignment, content),
    }


def _answering(position: Position) -> dict[str, Any]:
    content, example = position.content, position.example()
    return {
        "panel": "annotation/work/_answer.html",
        "example": example,
        "asked": position.asked(example),
        # Looked up only when a form comes back with an error, and is rendered again.
        "shown": lambda: answer_kind(content.task_of(example).kind).shown(example),
        "progress": progress(position.assignment, content),
    }


@lru_cache(maxsize=4096)
def asked_html(
    batch_id: int, example_pk: int, language: str, order: tuple[int, ...] = ()
) -> SafeString:
    """An example and its answer fields, the same for everybody in a batch who sees its options in
    this order: rendered once per process, since it is frozen and most of the page."""
    content = batch_content(batch_id)
    return render_asked(content, replace(content.by_pk[example_pk], options_order=order))


def render_asked(content: BatchContent, example: FrozenExample) -> SafeString:
    task = content.task_of(example)
    kind = answer_kind(task.kind)
    shown = kind.shown(example)
    context = {"content": task, "kind": kind, "example": example, "shown": shown}
    return mark_safe(render_to_string(kind.parts["form"], context))


def next_item_html(assignment: models.Assignment, *, token: str, work: str, sent_to: str) -> str:
    """What the step of an item to answer is, where nothing else is to say: the same for everybody
    at this step, but for five gaps."""
    position = Position(assignment, batch_content(assignment.batch_id))
    example, title = position.example(), assignment.study.title
    html = item_with_gaps(assignment.batch_id, assignment.step, title, sent_to, get_language())
    return html % {
        "token": escape(token),
        "work": work,
        "context_hash": example.context_hash,
        "worked": escape(_worked(assignment, position.content)),
        "asked": position.asked(example),
    }


_GAPS = ("token", "work", "context_hash", "worked", "asked")


@lru_cache(maxsize=4096)
def item_with_gaps(batch_id: int, step: int, title: str, sent_to: str, language: str) -> str:
    """As the template gives it, with the places named of what is one's own; in the language that
    is active. Rendered once per process."""
    someone = models.Assignment(batch_id=batch_id, step=step, state=models.WorkState.ANSWERING)
    someone.study = models.Study(title=title)
    context = context_at(Position(someone, batch_content(batch_id)))
    gaps = {name: f"\x1f{name}\x1f" for name in _GAPS}
    context |= {
        "title": page_title(someone),
        "sent_to": sent_to,
        "request": {"htmx": True},
        "csrf_token": gaps["token"],
        "work": gaps["work"],
        "example": gaps,
        "progress": {**context["progress"], "worked": gaps["worked"]},
        "asked": gaps["asked"],
    }
    html = render_to_string(f"{PAGE}#step", context).replace("%", "%%")
    return re.sub("\x1f(.+?)\x1f", r"%(\1)s", html)


def _revealed(position: Position) -> dict[str, Any]:
    assignment, content, example = position.assignment, position.content, position.example()
    judgement = position.judgement()
    if judgement is None:
        raise LookupError(f"Step {assignment.step} of assignment {assignment.pk} is not locked.")
    gold, policy = position.gold(example), content.reference_policy
    reveal = compare(judgement, gold, policy, content.normalisation)
    return {
        "panel": "annotation/work/_reveal.html",
        "example": example,
        "reveal": reveal,
        "shown": answer_kind(content.kind).revealed(example, reveal),
        "progress": progress(assignment, content),
    }


def _finished(position: Position) -> dict[str, Any]:
    assignment = position.assignment
    return {
        "panel": "annotation/work/_finished.html",
        "ending": ending_of(assignment),
        "code": code_of(assignment.study, assignment.outcome),
    }


_PANELS: dict[str, Callable[[Position], dict[str, Any]]] = {
    models.WorkState.DESCRIPTION: _description,
    models.WorkState.ANSWERING: _answering,
    models.WorkState.REVEALED: _revealed,
    models.WorkState.FINISHED: _finished,
}


def own_work(study: models.Study, annotator: models.Annotator) -> dict[str, str]:
    """What a browser may be told of somebody who has entered with it before: how far they got in
    this study, without saying who they are."""
    assignment = annotator.assignments.filter(study=study).last()
    who = {"who": annotator.pseudonym}
    if assignment is None:
        sentence, button = _("has not begun this study"), _("Yes, take part as %(who)s") % who
    elif assignment.is_finished:
        sentence, button = _("has finished with this study"), _("Yes, show how it ended")
    else:
        steps = batch_content(assignment.batch_id).steps
        place = {"number": assignment.step + 1, "total": steps}
        sentence = _("is at item %(number)d of %(total)d") % place
        button = _("Yes, go on as %(who)s") % who
    return {"pseudonym": annotator.pseudonym, "sentence": sentence, "button": button}


def progress(assignment: models.Assignment, content: BatchContent) -> dict[str, Any]:
    here = place(assignment.step, content)
    return {
        **here,
        "html": _place_html(get_language(), **here),
        "worked": _worked(assignment, content),
    }


def place(step: int, content: BatchContent) -> dict[str, Any]:
    """`saved` is the number of the answer before this one, which is stored; 0 for the first."""
    checked, trained = len(content.checks), len(content.training)
    if step < checked:
        role, before, total = models.CHECK, 0, checked
    elif step < content.test_from:
        role, before, total = models.Role.TRAINING, checked, trained
    else:
        role, before, total = models.Role.TEST, content.test_from, len(content.test)
    number = step + 1 - before
    return {
        "role": role,
        "number": number,
        "saved": number - 1,
        "total": total,
        "has_training": bool(trained),
        "tests": len(content.test),
        # Of the whole work, in which practice comes first.
        "step": step + 1,
        "steps": content.steps,
        "test_from": content.test_from,
        "is_half": number == total // 2 > LEAST_PACED,
    }


@lru_cache(maxsize=4096)
def _place_html(language: str, **here: Any) -> SafeString:
    """The same for everybody at this step: rendered once per process, in each language."""
    return mark_safe(render_to_string("annotation/work/_place.html", here))


def _worked(assignment: models.Assignment, content: BatchContent) -> str:
    rules, minutes = content.rules, assignment.paid_ms // 60_000
    amount = earned(assignment.paid_ms, rules.hourly_rate)
    left = _minutes_left(assignment, content.steps)
    return _worked_text(get_language(), minutes, amount, rules.currency, left)


@lru_cache(maxsize=4096)
def _worked_text(_language: str, minutes: int, amount: Decimal, currency: str, left: int) -> str:
    figures = {"minutes": minutes, "amount": amount_text(amount, currency)}
    text = _("%(minutes)s min · %(amount)s") % figures
    if left:
        text += " · " + _("about %(minutes)s min left") % {"minutes": left}
    return text


def _minutes_left(assignment: models.Assignment, steps: int) -> int:
    """By one's own pace so far; 0 where there is too little to tell."""
    done = assignment.step
    if done < LEAST_PACED:
        return 0
    return max(1, round(assignment.paid_ms / done * (steps - done) / 60_000))


def page_frame(assignment: models.Assignment, *, at: datetime) -> dict[str, Any]:
    # Once the study is closed: for how long the page on the screen may still be sent.
    until, left = assignment.study.sends_until, None
    if not assignment.is_finished and until is not None:
        left = max(1, -(-int((until - at).total_seconds()) // 60))
    return {"title": page_title(assignment), "minutes_left": left}


def page_title(assignment: models.Assignment) -> str:
    if assignment.state == models.WorkState.FINISHED:
        return heading_of(assignment.outcome)
    content = batch_content(assignment.batch_id)
    if assignment.state == models.WorkState.DESCRIPTION:
        before_work = assignment.step <= len(content.checks)
        return _("What to do") if before_work else _("Practice is over")
    here = place(assignment.step, content)
    if here["role"] == models.CHECK:
        example = _("Check %(number)d of %(total)d") % here
    elif here["role"] == models.Role.TRAINING:
        example = _("Practice %(number)d of %(total)d") % here
    elif here["has_training"]:
        example = _("Test %(number)d of %(total)d") % here
    else:
        example = _("Item %(number)d of %(total)d") % here
    if assignment.state == models.WorkState.REVEALED:
        return _("Right answer to %(example)s") % {"example": example}
    return example


@lru_cache(maxsize=256)
def picture_of(link: str) -> SafeString:
    """A QR code: from the screen of one device into the camera of another."""
    code = segno.make_qr(link, error="m")
    return mark_safe(code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True))
