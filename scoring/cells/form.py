"""Which answers of runs break the form of their task. They are stored and scored as they are.

Whoever could tune an answer's number of pieces could read golds from a score, so these withhold
one; an answer outside what was offered tells nothing, and is only counted.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.kinds import answer_kind
from annotation.kinds.base import Asked, AskedExample
from annotation.models import Task
from scoring.models import Prediction, Run

# In the report of a complete run: how many have more pieces than a gold could have.
MALFORMED = "malformed"
# How many break the form otherwise, the first of them, and the answer given most often.
OUTSIDE = "outside"
EMPTY = "empty"
EXAMPLES = "form_examples"
MOST_FREQUENT = "most_frequent"

MOST_EXAMPLES = 10
LONGEST_EXAMPLE = 300


@dataclass
class AnswerForms:
    """What a run's answers look like, without their gold."""

    malformed: int = 0
    # With a piece that nobody could have given.
    outside: int = 0
    # None at all where one of the options is asked for.
    empty: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)
    given: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def count(self, answer: Sequence[str], breach: str, item: str) -> None:
        self.given[tuple(sorted(answer))] += 1
        if not breach:
            return
        setattr(self, breach, getattr(self, breach) + 1)
        if len(self.examples) < MOST_EXAMPLES:
            shown = [_shortened(piece) for piece in answer[:MOST_EXAMPLES]]
            self.examples.append({"id": item, "answer": shown, "breach": breach})

    def as_plain(self) -> dict[str, Any]:
        most_frequent = [
            {"answer": [_shortened(piece) for piece in answer[:MOST_EXAMPLES]], "count": count}
            for answer, count in self.given.most_common(1)
        ]
        return {
            MALFORMED: self.malformed,
            OUTSIDE: self.outside,
            EMPTY: self.empty,
            EXAMPLES: self.examples,
            MOST_FREQUENT: most_frequent[0] if most_frequent else None,
        }


def answer_forms(run: Run) -> AnswerForms:
    """Every answer of the run looked at once."""
    forms = AnswerForms()
    task, choices = run.task, run.test_set.choices
    rows = Prediction.objects.filter(run=run).order_by("example_id")
    columns = ("answer", "example__identity", "example__context", "example__candidates")
    for answer, identity, context, candidates in rows.values_list(*columns).iterator():
        asked = AskedExample(context, candidates, choices)
        forms.count(answer, breach_of_form(answer, asked, task), identity.removeprefix("id:"))
    return forms


def breach_of_form(answer: Sequence[str], asked: Asked, task: Task) -> str:
    """Which of the counts an answer belongs to; empty if people could have given it."""
    kind = answer_kind(task.kind)
    if not answer:
        return EMPTY if kind.takes_options else ""
    # One piece never is too many.
    if len(answer) > 1 and len(answer) > kind.most_pieces(asked.context, task.max_spans):
        return MALFORMED
    return "" if kind.givable(answer, asked) >= set(answer) else OUTSIDE


def is_well_formed(run: Run) -> bool:
    """Runs stored by an older version are looked through."""
    counted = run.report.get(MALFORMED)
    return not (malformed_answers(run) if counted is None else counted)


def malformed_answers(run: Run) -> int:
    """How many of its answers have more pieces than a gold could have."""
    task = run.task
    kind = answer_kind(task.kind)
    several = Prediction.objects.filter(run=run, answer__1__isnull=False).order_by()
    rows = several.values_list("answer", "example__context").iterator()
    return sum(len(answer) > kind.most_pieces(context, task.max_spans) for answer, context in rows)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}…"
