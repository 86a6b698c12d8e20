"""What an annotator's page shows in each state: the data behind the templates.

Gold enters only in the state `revealed`, whose judgement is committed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.kinds import answer_kind
from annotation.kinds.base import Revealed
from annotation.kinds.revealing import compare
from annotation.kinds.scoring import gold_in_force
from annotation.models import Assignment, Outcome, OutcomeRule, Role, WorkState
from annotation.models.frozen import BatchContent, batch_content
from annotation.work.judging import current_example, judgement_at
from annotation.work.paying import earned


@dataclass(frozen=True)
class Progress:
    role: str
    number: int
    total: int
    has_training: bool
    tests: int


def page_context(assignment: Assignment) -> dict[str, Any]:
    """The template's context for the assignment's position."""
    content = batch_content(assignment.batch_id)
    rules = content.rules
    return {
        "assignment": assignment,
        "kind": answer_kind(content.kind),
        "rules": rules,
        "earned": earned(assignment.paid_ms, rules.hourly_rate),
        "minutes": assignment.paid_ms // 60_000,
        # Only whole pages use it, and only then is it looked up.
        "withdrawal": lambda: _rule(assignment, Outcome.WITHDRAWN),
        **_PANELS[assignment.state](assignment),
    }


def _consent(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    return {
        "panel": "annotation/work/_consent.html",
        "training_count": len(content.training),
        "test_count": len(content.test),
    }


def _description(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    return {
        "panel": "annotation/work/_description.html",
        "content": content,
        "training_count": len(content.training),
        "test_count": len(content.test),
    }


def _answering(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    return {
        "panel": "annotation/work/_answer.html",
        "content": content,
        "example": example,
        "asked": asked_html(assignment.batch_id, example.pk, get_language()),
        # Looked up only when a form comes back with an error, and is rendered again.
        "shown": lambda: answer_kind(content.kind).shown(example),
        "progress": progress(assignment, content),
        "draft_key": f"{assignment.resume_token[:8]}:{assignment.step}",
    }


@lru_cache(maxsize=4096)
def asked_html(batch_id: int, example_pk: int, language: str) -> SafeString:
    """An example and its answer fields, the same for everybody in a batch: rendered once per
    process, since it is frozen and most of the page."""
    content = batch_content(batch_id)
    example = content.by_pk[example_pk]
    kind = answer_kind(content.kind)
    shown = kind.shown(example)
    context = {"content": content, "kind": kind, "example": example, "shown": shown}
    return mark_safe(render_to_string(kind.form_template, context))


def _revealed(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    judgement = judgement_at(assignment, assignment.step)
    if judgement is None:
        raise LookupError(f"Step {assignment.step} of assignment {assignment.pk} is not locked.")
    gold = gold_in_force([example.pk], content.task_id, content.gold_version)[example.pk]
    reveal = compare(judgement.answer, gold, content.reference_policy, content.normalisation)
    return {
        "panel": "annotation/work/_reveal.html",
        "content": content,
        "example": example,
        "reveal": reveal,
        "shown": answer_kind(content.kind).revealed(Revealed(example, judgement, reveal)),
        "progress": progress(assignment, content),
    }


def _finished(assignment: Assignment) -> dict[str, Any]:
    rule = _rule(assignment, assignment.outcome)
    code = rule.code if rule else ""
    return {
        "panel": "annotation/work/_finished.html",
        "code": code,
        "completion_link": completion_link(assignment.study.channel.completion_url, code),
        "explanation": f"annotation/work/outcomes/{assignment.outcome}.html",
        "heading": _HEADINGS[assignment.outcome](),
        "amount": assignment.amount or Decimal(0),
    }


_PANELS: dict[str, Callable[[Assignment], dict[str, Any]]] = {
    WorkState.CONSENT: _consent,
    WorkState.DESCRIPTION: _description,
    WorkState.ANSWERING: _answering,
    WorkState.REVEALED: _revealed,
    WorkState.FINISHED: _finished,
}

_HEADINGS: dict[str, Callable[[], str]] = {
    Outcome.COMPLETED: lambda: _("Done. Thank you!"),
    Outcome.SCREENED_OUT: lambda: _("Thank you. Your part ends here."),
    Outcome.WITHDRAWN: lambda: _("You have stopped. Thank you for your time."),
    Outcome.EXPIRED: lambda: _("This work has ended."),
    Outcome.DISPLACED: lambda: _("Your place was given to somebody else."),
    Outcome.DECLINED: lambda: _("You did not take part."),
}


def _rule(assignment: Assignment, outcome: str) -> OutcomeRule | None:
    return assignment.study.outcome_rules.filter(outcome=outcome).first()


def completion_link(template: str, code: str) -> str:
    return template.replace("{code}", code) if template and code else ""


def progress(assignment: Assignment, content: BatchContent) -> Progress:
    trained = len(content.training)
    in_training = assignment.step < trained
    return Progress(
        role=Role.TRAINING if in_training else Role.TEST,
        number=assignment.step + 1 - (0 if in_training else trained),
        total=trained if in_training else len(content.test),
        has_training=bool(trained),
        tests=len(content.test),
    )
