"""What the answers of a run look like, and which break the form of their task. They are stored and
scored as they are: see `is_well_formed` for those that withhold a score."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from annotation.kinds import Asked, AskedExample, answer_kind
from annotation.models import Task
from scoring.cells.vectors import MALFORMED
from scoring.models import Prediction, Run

# How many break the form otherwise, the first of them, and the answer given most often.
OUTSIDE = "outside"
EMPTY = "empty"
EXAMPLES = "form_examples"
MOST_FREQUENT = "most_frequent"

MOST_EXAMPLES = 10
LONGEST_EXAMPLE = 300


def answer_forms(run: Run) -> dict[str, Any]:
    """What a run's answers look like, without their gold: for its report."""
    task, choices = run.task, run.test_set.choices
    breaches: Counter[str] = Counter()
    given: Counter[tuple[str, ...]] = Counter()
    examples: list[dict[str, Any]] = []
    rows = Prediction.objects.filter(run=run).order_by("example_id")
    columns = ("answer", "example__identity", "example__context", "example__candidates")
    for answer, identity, context, candidates in rows.values_list(*columns).iterator():
        given[tuple(sorted(answer))] += 1
        breach = breach_of_form(answer, AskedExample(context, candidates, choices), task)
        breaches[breach] += 1
        if breach and len(examples) < MOST_EXAMPLES:
            item = identity.removeprefix("id:")
            examples.append({"id": item, "answer": _shortened(answer), "breach": breach})
    most_frequent = [
        {"answer": _shortened(answer), "count": count} for answer, count in given.most_common(1)
    ]
    return {
        **{breach: breaches[breach] for breach in (MALFORMED, OUTSIDE, EMPTY)},
        EXAMPLES: examples,
        MOST_FREQUENT: most_frequent[0] if most_frequent else None,
    }


def breach_of_form(answer: Sequence[str], asked: Asked, task: Task) -> str:
    """Which of the counts an answer belongs to; empty if people could have given it."""
    kind = answer_kind(task.kind)
    if not answer:
        return EMPTY if kind.takes_options else ""
    # One piece never is too many.
    if len(answer) > 1 and len(answer) > kind.most_pieces(asked.context, task.max_spans):
        return MALFORMED
    return "" if kind.givable(answer, asked) >= set(answer) else OUTSIDE


def _shortened(answer: Sequence[str]) -> list[str]:
    return [
        text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}…"
        for text in answer[:MOST_EXAMPLES]
    ]
