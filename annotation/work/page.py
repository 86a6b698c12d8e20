"""What an annotator's page shows in each state: the data behind the templates.

Gold enters only in the state `revealed`, whose judgement is committed.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

import segno
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from annotation import models
from annotation.kinds import answer_kind
from annotation.kinds.gold import compare, gold_in_force
from annotation.kinds.markup import markdown_html
from annotation.models.frozen import BatchContent, FrozenExample, TaskContent, batch_content
from annotation.work.closing_page import code_of, ending_of, heading_of
from annotation.work.consent_facts import ahead
from annotation.work.finishing import earned
from annotation.work.judging import current_example, judgement_at
from annotation.work.room import Room, room_among, room_of
from annotation.work.wording import amount_text

PAGE = "annotation/work/work.html"
# From so many answers on it is said how long the rest will take.
LEAST_PACED = 10
# In so many first items the bar says how an answer is sent, and that it is final.
BEGINNING = 3


class Position:
    def __init__(self, assignment: models.Assignment, content: BatchContent) -> None:
        self.assignment, self.content = assignment, content

    def example(self) -> FrozenExample:
        return current_example(self.assignment)

    def judgement(self) -> models.Judgement | None:
        """The judgement of the present step, once it is locked."""
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
    """The page before the checks, before the practice, or between it and the test: then everything
    that it tells has been revealed."""
    assignment, content = position.assignment, position.content
    facts = {
        "check_count": max(0, len(content.checks) - assignment.step),
        "training_count": len(content.training),
        "test_count": len(content.test),
    }
    if assignment.step <= len(content.checks):
        counted = {"ahead": ahead(content) if content.training and not assignment.step else ""}
        return {"panel": "annotation/work/_description.html", **facts, **counted}
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
        "room": room_of(content, example),
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
    return render_form(content.task_of(example), example, room_of(content, example))


def render_form(task: TaskContent, example: FrozenExample, room: Room | None = None) -> SafeString:
    """Render the form of an example; without a room, in that of this one alone."""
    kind = answer_kind(task.kind)
    context = {
        "content": task,
        "kind": kind,
        "example": example,
        "shown": kind.shown(example),
        "room": room or room_among(task.kind, [example]),
    }
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
    """The page of an item as the template gives it, with the places named of what is one's own; in
    the language that is active. Rendered once per process."""
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
        "room": room_of(content, example),
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
    position = place(assignment.step, content)
    return {
        **position,
        "html": _place_html(get_language(), **position),
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
        "begins": step < BEGINNING,
        "steps": content.steps,
        "test_from": content.test_from,
    }


@lru_cache(maxsize=4096)
def _place_html(language: str, **position: Any) -> SafeString:
    """The same for everybody at this step: rendered once per process, in each language."""
    return mark_safe(render_to_string("annotation/work/_place.html", position))


def _worked(assignment: models.Assignment, content: BatchContent) -> str:
    # To the nearest: rounded up, they would stand beside an amount of fewer.
    rules, minutes = content.rules, round(assignment.paid_ms / 60_000)
    amount = earned(assignment.paid_ms, rules.hourly_rate, rules.currency)
    quarters = _quarters_done(assignment.step - content.test_from, len(content.test))
    left = 0 if quarters else _minutes_left(assignment, content.steps)
    return _worked_text(get_language(), minutes, amount, rules.currency, left, quarters)


def _quarters_done(done: int, total: int) -> int:
    """How many quarters of a longer test are just done; 0 where none just is."""
    places = {total * quarters // 4: quarters for quarters in (1, 2, 3)}
    return places.get(done, 0) if total >= 2 * LEAST_PACED else 0


_MILESTONES = {
    1: gettext_lazy("a quarter"),
    2: gettext_lazy("halfway"),
    3: gettext_lazy("three quarters"),
}


@lru_cache(maxsize=4096)
def _worked_text(
    _language: str, minutes: int, amount: Decimal, currency: str, left: int, quarters: int
) -> str:
    figures = {"minutes": minutes, "amount": amount_text(amount, currency)}
    text = _("%(minutes)s min · %(amount)s") % figures
    if quarters:
        text = f"{_MILESTONES[quarters]} · {text}"
    if left:
        text += " · " + _("about %(minutes)s min left") % {"minutes": left}
    return text


def _minutes_left(assignment: models.Assignment, steps: int) -> int:
    """Estimate them by one's own pace so far; 0 where there is too little to tell."""
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
    position = place(assignment.step, content)
    if position["role"] == models.CHECK:
        example = _("Check %(number)d of %(total)d") % position
    elif position["role"] == models.Role.TRAINING:
        example = _("Practice %(number)d of %(total)d") % position
    elif position["has_training"]:
        example = _("Test %(number)d of %(total)d") % position
    else:
        example = _("Item %(number)d of %(total)d") % position
    if assignment.state == models.WorkState.REVEALED:
        return _("Right answer to %(example)s") % {"example": example}
    return example


@lru_cache(maxsize=256)
def picture_of(link: str) -> SafeString:
    """A QR code: from the screen of one device into the camera of another."""
    code = segno.make_qr(link, error="m")
    return mark_safe(code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True))
