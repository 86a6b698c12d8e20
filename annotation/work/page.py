"""What an annotator's page shows in each state: the data behind the templates.

Gold enters only in the state `revealed`, whose judgement is committed.
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

import segno
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.kinds import answer_kind, compare, gold_in_force
from annotation.models import Annotator, Assignment, Judgement, Role, Study, WorkState
from annotation.models.frozen import BatchContent, FrozenExample, batch_content
from annotation.work.closing_page import code_of, ending_of, heading_of
from annotation.work.consent_facts import ahead
from annotation.work.judging import current_example, judgement_at
from annotation.work.paying import earned
from annotation.work.wording import markdown_html


class Position:
    def __init__(self, assignment: Assignment, content: BatchContent) -> None:
        self.assignment, self.content = assignment, content

    def example(self) -> FrozenExample:
        return current_example(self.assignment)

    def judgement(self) -> Judgement | None:
        """Of the present step, once it is locked."""
        return judgement_at(self.assignment, self.assignment.step)

    def asked(self, example: FrozenExample) -> SafeString:
        return asked_html(self.content.batch_id, example.pk, get_language())


def page_context(assignment: Assignment) -> dict[str, Any]:
    return context_at(Position(assignment, batch_content(assignment.batch_id)))


def context_at(position: Position) -> dict[str, Any]:
    assignment, content = position.assignment, position.content
    rules = content.rules
    return {
        "assignment": assignment,
        "kind": answer_kind(content.kind),
        "rules": rules,
        "description": markdown_html(content.description),
        "earned": earned(assignment.paid_ms, rules.hourly_rate),
        "minutes": assignment.paid_ms // 60_000,
        **_PANELS[assignment.state](position),
    }


def _description(position: Position) -> dict[str, Any]:
    """Before the practice, or between it and the test: then everything that it tells has been
    revealed."""
    assignment, content = position.assignment, position.content
    counts = {
        "content": content,
        "training_count": len(content.training),
        "test_count": len(content.test),
    }
    if not assignment.step:
        told = {"ahead": ahead(assignment.study, content)}
        return {"panel": "annotation/work/_description.html", **counts, **told}
    return {
        "panel": "annotation/work/_practice_done.html",
        **counts,
        "score": (assignment.training_score or 0) / 100,
        "progress": progress(assignment, content),
    }


def _answering(position: Position) -> dict[str, Any]:
    content, example = position.content, position.example()
    return {
        "panel": "annotation/work/_answer.html",
        "content": content,
        "example": example,
        "asked": position.asked(example),
        # Looked up only when a form comes back with an error, and is rendered again.
        "shown": lambda: answer_kind(content.kind).shown(example),
        "progress": progress(position.assignment, content),
    }


@lru_cache(maxsize=4096)
def asked_html(batch_id: int, example_pk: int, language: str) -> SafeString:
    """An example and its answer fields, the same for everybody in a batch: rendered once per
    process, since it is frozen and most of the page."""
    content = batch_content(batch_id)
    return render_asked(content, content.by_pk[example_pk])


def render_asked(content: BatchContent, example: FrozenExample) -> SafeString:
    kind = answer_kind(content.kind)
    shown = kind.shown(example)
    context = {"content": content, "kind": kind, "example": example, "shown": shown}
    return mark_safe(render_to_string(kind.parts["form"], context))


def _revealed(position: Position) -> dict[str, Any]:
    assignment, content, example = position.assignment, position.content, position.example()
    judgement = position.judgement()
    if judgement is None:
        raise LookupError(f"Step {assignment.step} of assignment {assignment.pk} is not locked.")
    gold = gold_in_force([example.pk], content.task_id, content.gold_version)[example.pk]
    reveal = compare(judgement.answer, gold, content.reference_policy, content.normalisation)
    return {
        "panel": "annotation/work/_reveal.html",
        "content": content,
        "example": example,
        "reveal": reveal,
        "shown": answer_kind(content.kind).revealed(example, judgement, reveal),
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
    WorkState.DESCRIPTION: _description,
    WorkState.ANSWERING: _answering,
    WorkState.REVEALED: _revealed,
    WorkState.FINISHED: _finished,
}


def own_work(study: Study, annotator: Annotator) -> dict[str, str]:
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
        sentence = _("is at example %(number)d of %(total)d") % place
        button = _("Yes, go on as %(who)s") % who
    return {"pseudonym": annotator.pseudonym, "sentence": sentence, "button": button}


def progress(assignment: Assignment, content: BatchContent) -> dict[str, Any]:
    """`saved` is the number of the answer before this one, which is stored; 0 for the first."""
    trained = len(content.training)
    in_training = assignment.step < trained
    number = assignment.step + 1 - (0 if in_training else trained)
    return {
        "role": Role.TRAINING if in_training else Role.TEST,
        "number": number,
        "saved": number - 1,
        "total": trained if in_training else len(content.test),
        "has_training": bool(trained),
        "tests": len(content.test),
    }


def page_frame(assignment: Assignment, *, link: str, at: datetime) -> dict[str, Any]:
    # Once the study is closed: for how long the page on the screen may still be sent.
    until, left = assignment.study.sends_until, None
    if not assignment.is_finished and until is not None:
        left = max(1, -(-int((until - at).total_seconds()) // 60))
    return {"title": page_title(assignment), "link": link, "minutes_left": left}


def page_title(assignment: Assignment) -> str:
    if assignment.state == WorkState.DESCRIPTION:
        return _("Practice is over") if assignment.step else _("What to do")
    if assignment.state == WorkState.FINISHED:
        return heading_of(assignment.outcome)
    here = progress(assignment, batch_content(assignment.batch_id))
    if here["role"] == Role.TRAINING:
        example = _("Practice %(number)d of %(total)d") % here
    elif here["has_training"]:
        example = _("Test %(number)d of %(total)d") % here
    else:
        example = _("Example %(number)d of %(total)d") % here
    if assignment.state == WorkState.REVEALED:
        return _("Right answer to %(example)s") % {"example": example}
    return example


@lru_cache(maxsize=256)
def picture_of(link: str) -> SafeString:
    """A QR code: from the screen of one device into the camera of another."""
    code = segno.make_qr(link, error="m")
    return mark_safe(code.svg_inline(scale=4, border=4, dark="#000", light="#fff", omitsize=True))
