"""What an annotator's page shows in each state: the data behind the templates.

Gold enters here in one state alone, `revealed`, whose judgement is committed.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.kinds.scoring import gold_in_force, mark
from annotation.models import (
    Assignment,
    Gold,
    Judgement,
    Kind,
    Outcome,
    OutcomeRule,
    ReferencePolicy,
    Role,
    WorkState,
)
from annotation.models.frozen import BatchContent, FrozenExample, batch_content
from annotation.work.judging import current_example, judgement_at
from annotation.work.paying import earned
from scoring.core.s1 import s1_score

ASKED = "annotation/work/_asked.html"


@dataclass(frozen=True)
class Progress:
    role: str
    number: int
    total: int
    has_training: bool
    tests: int


@dataclass(frozen=True)
class Piece:
    """A stretch of a segment, and what is marked there: a candidate's mention while it is
    asked for, and how the own answer compares once it is locked."""

    text: str
    mention: bool = False
    right: bool = False
    missed: bool = False
    extra: bool = False

    @property
    def marks(self) -> str:
        names = ("mention", "right", "missed", "extra")
        return " ".join(name for name in names if getattr(self, name))

    @property
    def html(self) -> SafeString:
        """Escaped, carriage returns too: a browser drops bare ones, and every place behind
        them would be off by one."""
        return mark_safe(escape(self.text).replace("\r", "&#13;"))


@dataclass(frozen=True)
class Segment:
    pieces: list[Piece]

    @property
    def length(self) -> int:
        """In code points: by it the browser knows that it shows the text unchanged."""
        return sum(len(piece.text) for piece in self.pieces)


@dataclass(frozen=True)
class Verdict:
    """One text of the own answer or the gold, and how they compare."""

    text: str
    own: bool
    gold: bool

    @property
    def mark(self) -> str:
        """`right`, `missed` or `extra`; empty for an option that is neither's."""
        if self.own:
            return "right" if self.gold else "extra"
        return "missed" if self.gold else ""


@dataclass(frozen=True)
class Reveal:
    score: float
    verdicts: list[Verdict]
    other_alternatives: list[list[str]]
    explanation: str

    def count(self, mark: str) -> int:
        return sum(verdict.mark == mark for verdict in self.verdicts)

    @property
    def right_count(self) -> int:
        return self.count("right")

    @property
    def missed_count(self) -> int:
        return self.count("missed")

    @property
    def extra_count(self) -> int:
        return self.count("extra")

    @property
    def nothing_to_find(self) -> bool:
        return not any(verdict.gold for verdict in self.verdicts)

    @property
    def found_nothing(self) -> bool:
        return not any(verdict.own for verdict in self.verdicts)

    @property
    def is_right(self) -> bool:
        return self.score == 1

    @property
    def is_wrong(self) -> bool:
        return self.score == 0


def page_context(assignment: Assignment) -> dict[str, Any]:
    """The template's context for where the assignment stands."""
    rules = batch_content(assignment.batch_id).rules
    return {
        "assignment": assignment,
        "rules": rules,
        "earned": earned(assignment.paid_ms, rules.hourly_rate),
        "minutes": assignment.paid_ms // 60_000,
        # Asked for by whole pages alone, and only then looked up.
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
        "segments": lambda: _plain_segments(example, content),
        "asked": asked_html(assignment.batch_id, example.pk, get_language()),
        "progress": progress(assignment, content),
        "draft_key": f"{assignment.resume_token[:8]}:{assignment.step}",
    }


@lru_cache(maxsize=4096)
def asked_html(batch_id: int, example_pk: int, language: str) -> SafeString:
    """An example and its answer fields, as everybody in a batch gets them: rendered once in
    a process, since it is frozen, and it is most of the page."""
    content = batch_content(batch_id)
    example = content.by_pk[example_pk]
    segments = _plain_segments(example, content)
    context = {"content": content, "example": example, "segments": segments}
    return mark_safe(render_to_string(ASKED, context))


def _revealed(assignment: Assignment) -> dict[str, Any]:
    content = batch_content(assignment.batch_id)
    example = current_example(assignment)
    judgement = judgement_at(assignment, assignment.step)
    if judgement is None:
        raise LookupError(f"Step {assignment.step} of assignment {assignment.pk} is not locked.")
    gold = gold_in_force([example.pk], content.task_id, content.gold_version)[example.pk]
    reveal = compare(judgement, gold, content.reference_policy)
    return {
        "panel": "annotation/work/_reveal.html",
        "content": content,
        "example": example,
        "segments": _compared_segments(example, content, judgement, reveal),
        "reveal": reveal,
        "options": _compared_options(example, reveal),
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


def compare(judgement: Judgement, gold: Gold, policy: str) -> Reveal:
    """The own answer beside what it was scored against: by the policy `set` the union of the
    alternatives, else the nearest of them."""
    alternatives = gold.alternative_texts() or [[]]
    own = list(judgement.answer)
    if policy == ReferencePolicy.SET:
        expected, others = [text for texts in alternatives for text in texts], []
    else:
        expected = max(alternatives, key=lambda texts: s1_score(own, texts))
        others = [texts for texts in alternatives if texts != expected]
    gold_texts = [text for text in expected if text]
    return Reveal(
        score=mark(own, gold, policy),
        verdicts=[
            Verdict(text, own=text in own, gold=text in gold_texts)
            for text in dict.fromkeys([*own, *gold_texts])
        ],
        other_alternatives=others,
        explanation=gold.explanation,
    )


def _compared_options(example: FrozenExample, reveal: Reveal) -> list[Verdict]:
    """Every option at the place where it was offered, with what became of it."""
    verdicts = {verdict.text: verdict for verdict in reveal.verdicts}
    return [
        verdicts.get(option, Verdict(option, own=False, gold=False)) for option in example.options
    ]


Range = tuple[int, int, int, str]


def _plain_segments(example: FrozenExample, content: BatchContent) -> list[Segment]:
    mentions: list[Range] = [(s, a, b, "mention") for s, a, b in example.candidates]
    return _marked(example.context, mentions if content.kind == Kind.CANDIDATE else [])


def _compared_segments(
    example: FrozenExample, content: BatchContent, judgement: Judgement, reveal: Reveal
) -> list[Segment]:
    marks = {verdict.text: verdict.mark for verdict in reveal.verdicts}
    if content.kind == Kind.CHOICE:
        return _marked(example.context, [])
    if content.kind == Kind.CANDIDATE:
        return _marked(example.context, _candidate_ranges(example, marks))
    # A text that was found counts once, wherever it stands: only its own place is marked.
    own = [(s, a, b, marks[example.context[s][a:b]]) for s, a, b in judgement.spans]
    missed = [text for text, found in marks.items() if found == "missed"]
    return _marked(example.context, [*own, *_occurrences(example.context, missed)])


def _candidate_ranges(example: FrozenExample, marks: dict[str, str]) -> Iterable[Range]:
    for segment, start, end in example.candidates:
        yield (segment, start, end, "mention")
        if found := marks.get(example.context[segment][start:end]):
            yield (segment, start, end, found)


def _occurrences(context: Sequence[str], texts: Iterable[str]) -> Iterable[Range]:
    """Where missed texts stand: as whole words if they do so anywhere, else within words."""
    for text in texts:
        places = _places(context, rf"(?<!\w){re.escape(text)}(?!\w)")
        for segment, start, end in places or _places(context, re.escape(text)):
            yield (segment, start, end, "missed")


def _places(context: Sequence[str], pattern: str) -> list[tuple[int, int, int]]:
    return [
        (segment, *match.span())
        for segment, text in enumerate(context)
        for match in re.finditer(pattern, text)
    ]


def _marked(context: Sequence[str], ranges: Iterable[Range]) -> list[Segment]:
    kept = list(ranges)
    return [
        Segment(_pieces(text, [(a, b, what) for s, a, b, what in kept if s == segment]))
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
