"""What an annotator's page shows in each state: the data behind the templates.

Gold enters here in one state alone, `revealed`, whose judgement is committed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext as _

from annotation.acts.judging import current_example, judgement_at
from annotation.acts.paying import earned
from annotation.frozen import BatchContent, FrozenExample, batch_content
from annotation.marking import gold_in_force, mark
from annotation.models import Assignment, Gold, Judgement, Kind, Outcome, Role, WorkState


@dataclass(frozen=True)
class Progress:
    role: str
    number: int
    total: int
    has_training: bool


@dataclass(frozen=True)
class Piece:
    """A stretch of a segment, and what is marked there."""

    text: str
    mention: bool = False
    own: bool = False
    gold: bool = False


@dataclass(frozen=True)
class Verdict:
    """One text of the own answer or the gold, and how they compare."""

    text: str
    own: bool
    gold: bool


@dataclass(frozen=True)
class Reveal:
    score: float
    verdicts: list[Verdict]
    other_alternatives: list[list[str]]
    explanation: str

    @property
    def nothing_to_find(self) -> bool:
        return bool(self.verdicts) and not any(verdict.gold for verdict in self.verdicts)

    @property
    def found_nothing(self) -> bool:
        return bool(self.verdicts) and not any(verdict.own for verdict in self.verdicts)

    @property
    def is_right(self) -> bool:
        return self.score == 1

    @property
    def is_wrong(self) -> bool:
        return self.score == 0


def desk_context(assignment: Assignment) -> dict[str, Any]:
    """The template's context for where the assignment stands."""
    rules = batch_content(assignment.batch_id).rules
    return {
        "assignment": assignment,
        "rules": rules,
        "earned": earned(assignment.paid_ms, rules.hourly_rate),
        "minutes": assignment.paid_ms // 60_000,
        **_PANELS[assignment.state](assignment),
    }


def _consent(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    return {
        "panel": "annotation/annotator/_consent.html",
        "training_count": len(content.training),
        "test_count": len(content.test),
    }


def _description(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    return {
        "panel": "annotation/annotator/_description.html",
        "content": content,
        "training_count": len(content.training),
        "test_count": len(content.test),
    }


def _answering(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    return {
        "panel": f"annotation/annotator/_answer_{content.kind}.html",
        "content": content,
        "example": example,
        "segments": _plain_segments(example, content),
        "progress": progress(assignment, content),
        "draft_key": f"{assignment.resume_token[:8]}:{assignment.step}",
    }


def _revealed(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    judgement = judgement_at(assignment, assignment.step)
    if judgement is None:
        raise LookupError(f"Step {assignment.step} of assignment {assignment.pk} is not locked.")
    gold = gold_in_force([example.pk], content.task_id, content.gold_version)[example.pk]
    reveal = compare(judgement, gold, content.reference_policy)
    return {
        "panel": "annotation/annotator/_reveal.html",
        "content": content,
        "example": example,
        "segments": _compared_segments(example, content, judgement, reveal),
        "reveal": reveal,
        "progress": progress(assignment, content),
    }


def _finished(assignment: Assignment) -> dict[str, Any]:
    rule = assignment.study.outcome_rules.filter(outcome=assignment.outcome).first()
    code = rule.code if rule else ""
    return {
        "panel": "annotation/annotator/_finished.html",
        "code": code,
        "completion_link": completion_link(assignment.study.channel.completion_url, code),
        "explanation": f"annotation/annotator/outcomes/{assignment.outcome}.html",
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
    )


def compare(judgement: Judgement, gold: Gold, policy: str) -> Reveal:
    """The own answer beside the gold; of several alternatives, beside the nearest."""
    alternatives = gold.alternative_texts()
    own = list(judgement.answer)
    nearest = max(alternatives, key=lambda texts: mark(own, _only(gold, texts), policy))
    right = [text for text in nearest if text]
    texts = dict.fromkeys([*own, *right])
    return Reveal(
        score=mark(own, gold, policy),
        verdicts=[Verdict(text, own=text in own, gold=text in right) for text in texts],
        other_alternatives=[texts for texts in alternatives if texts != nearest],
        explanation=gold.explanation,
    )


def _only(gold: Gold, texts: Sequence[str]) -> Gold:
    return Gold(example_id=gold.example_id, alternatives=[[{"text": text} for text in texts]])


Range = tuple[int, int, int, str]


def _plain_segments(example: FrozenExample, content: BatchContent) -> list[list[Piece]]:
    mentions: list[Range] = [(s, a, b, "mention") for s, a, b in example.candidates]
    return _marked(example.context, mentions if content.kind == Kind.CANDIDATE else [])


def _compared_segments(
    example: FrozenExample, content: BatchContent, judgement: Judgement, reveal: Reveal
) -> list[list[Piece]]:
    if content.kind == Kind.CHOICE:
        return _marked(example.context, [])
    gold_texts = {verdict.text for verdict in reveal.verdicts if verdict.gold}
    if content.kind == Kind.CANDIDATE:
        return _marked(
            example.context, _candidate_ranges(example, set(judgement.answer), gold_texts)
        )
    own: list[Range] = [(s, a, b, "own") for s, a, b in judgement.spans]
    return _marked(example.context, [*own, *_occurrences(example.context, gold_texts)])


def _candidate_ranges(example: FrozenExample, own: set[str], gold: set[str]) -> Iterable[Range]:
    for segment, start, end in example.candidates:
        text = example.context[segment][start:end]
        yield (segment, start, end, "mention")
        if text in own:
            yield (segment, start, end, "own")
        if text in gold:
            yield (segment, start, end, "gold")


def _occurrences(context: Sequence[str], texts: Iterable[str]) -> Iterable[Range]:
    for segment, whole in enumerate(context):
        for text in texts:
            start = whole.find(text)
            while start >= 0:
                yield (segment, start, start + len(text), "gold")
                start = whole.find(text, start + len(text))


def _marked(context: Sequence[str], ranges: Iterable[Range]) -> list[list[Piece]]:
    kept = list(ranges)
    return [
        _pieces(text, [(a, b, what) for s, a, b, what in kept if s == segment])
        for segment, text in enumerate(context)
    ]


def _pieces(text: str, ranges: Sequence[tuple[int, int, str]]) -> list[Piece]:
    """Cut the text wherever a mark begins or ends, so that marks may overlap."""
    edges = sorted({0, len(text), *(edge for a, b, _what in ranges for edge in (a, b))})
    pieces = []
    for start, end in pairwise(edges):
        here = {what for a, b, what in ranges if a <= start and end <= b}
        pieces.append(Piece(text[start:end], **dict.fromkeys(here, True)))
    return pieces
