"""What the judgements of each assignment come to, kept, so that pages about many people are fast.

A summary follows from judgements alone, and those never change: it is made again only when the
assignment has moved on since. Making it twice at the same time gives the same row.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from statistics import median
from typing import Any

from django.db.models import F, Q

from annotation.jobs.pacing import write
from annotation.models import Assignment, Judgement, Role, Study, WorkSummary

ASSIGNMENTS_AT_ONCE = 20
# A page waits for no more than this; the rest is left to the worker, or to the next look.
MOST_FOR_A_PAGE = 200
_FIELDS = (
    *("state", "step", "median_ms", "tested", "commonest_share"),
    *("distinct", "answers_hash", "longest_ms", "pastes"),
)
_COLUMNS = ("assignment_id", "role", "example_id", "answer", "shown_at", "submitted_at", "pastes")


def refresh(study: Study, *, most: int | None = None) -> int:
    """Summarise whoever has moved on since their last summary; returns how many."""
    moved = ~Q(summary__state=F("state")) | ~Q(summary__step=F("step"))
    late = Assignment.objects.filter(Q(summary__isnull=True) | moved, study=study).order_by("pk")
    behind = list(late.values_list("pk", "state", "step")[:most])
    for start in range(0, len(behind), ASSIGNMENTS_AT_ONCE):
        some = _summaries(behind[start : start + ASSIGNMENTS_AT_ONCE])
        store = partial(WorkSummary.objects.bulk_create, some, update_conflicts=True)
        write(partial(store, unique_fields=["assignment"], update_fields=_FIELDS))
    return len(behind)


def _summaries(positions: Sequence[tuple[int, str, int]]) -> list[WorkSummary]:
    """Of these assignments, read after where they stood: what came since makes them behind
    again."""
    rows: dict[int, list[Any]] = defaultdict(list)
    judgements = Judgement.objects.filter(assignment__in=[pk for pk, *_rest in positions])
    for assignment_id, *row in judgements.order_by().values_list(*_COLUMNS):
        rows[assignment_id].append(row)
    return [
        WorkSummary(assignment_id=pk, state=state, step=step, **_figures(rows[pk]))
        for pk, state, step in positions
    ]


def _figures(rows: Sequence[Any]) -> dict[str, Any]:
    elapsed = [
        round(1000 * (submitted - shown).total_seconds())
        for _role, _example, _answer, shown, submitted, _pastes in rows
    ]
    answers = {example: answer for role, example, answer, *_rest in rows if role == Role.TEST}
    texts = Counter(json.dumps(sorted(answer)) for answer in answers.values())
    return {
        "median_ms": round(median(elapsed)) if elapsed else None,
        "longest_ms": max(elapsed, default=0),
        "tested": len(answers),
        "distinct": len(texts),
        "commonest_share": max(texts.values()) / len(answers) if answers else 0,
        "answers_hash": answers_hash(answers) if answers else "",
        "pastes": sum(row[-1] or 0 for row in rows),
    }


def answers_hash(answers: dict[int, list[str]]) -> str:
    """The same for two people who gave the same answers to the same examples."""
    ordered = [[example, sorted(answers[example])] for example in sorted(answers)]
    return sha256(json.dumps(ordered).encode()).hexdigest()
