"""What the judgements of each assignment come to, kept so that pages about many people are fast. A
summary follows from judgements, which never change, and from what else its signs rest on: it is
made again when the assignment has moved on since, or that has changed. Making it twice at the same
time gives the same row."""

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
from annotation.models.frozen import batch_content
from annotation.people.signs import Answer, found_elsewhere, signs_of, state_of

ASSIGNMENTS_AT_ONCE = 20
# A page waits for no more than this, a tenth of a second where each has answered two hundred items;
# the rest is left to the worker, or to the next look.
MOST_FOR_A_PAGE = ASSIGNMENTS_AT_ONCE
# All that is made again; whether somebody deserves a look follows from the others' too.
_FIELDS = {field.name for field in WorkSummary._meta.concrete_fields} - {"assignment", "is_flagged"}
_COLUMNS = (
    *("assignment_id", "role", "example_id", "answer", "shown_at", "submitted_at"),
    *("browser_ms", "pastes", "typed", "decoy", "translated"),
)
# Where an assignment stood: its key, its batch's, its state and its step.
_Position = tuple[int, int, str, int]


def refresh(study: Study, *, most: int | None = None) -> int:
    """Summarise whoever has moved on since their last summary; returns how many. Of how people from
    elsewhere worked nothing is known."""
    if study.source:
        return 0
    signs = state_of(study)
    moved = ~Q(summary__state=F("state")) | ~Q(summary__step=F("step"))
    moved |= ~Q(summary__signs_state=signs)
    late = Assignment.objects.filter(Q(summary__isnull=True) | moved, study=study).order_by("pk")
    behind = list(late.values_list("pk", "batch_id", "state", "step")[:most])
    for start in range(0, len(behind), ASSIGNMENTS_AT_ONCE):
        some = _summaries(study, behind[start : start + ASSIGNMENTS_AT_ONCE], signs)
        store = partial(WorkSummary.objects.bulk_create, some, update_conflicts=True)
        write(partial(store, unique_fields=["assignment"], update_fields=_FIELDS))
    return len(behind)


def _summaries(study: Study, positions: Sequence[_Position], signs: str) -> list[WorkSummary]:
    """Read these after where they stood was read: what came since makes them late again."""
    answers: dict[int, list[Answer]] = defaultdict(list)
    keys = [pk for pk, *_rest in positions]
    judgements = Judgement.objects.filter(assignment__in=keys).order_by("step")
    for pk, role, example, answer, shown, submitted, *browser in judgements.values_list(*_COLUMNS):
        elapsed = round(1000 * (submitted - shown).total_seconds())
        answers[pk].append(Answer(role, example, answer, elapsed, *browser))
    elsewhere = found_elsewhere(study, keys)
    return [
        WorkSummary(
            assignment_id=pk,
            state=state,
            step=step,
            signs_state=signs,
            signs=signs_of(answers[pk], batch_content(batch)) | elsewhere[pk],
            **_figures(answers[pk]),
        )
        for pk, batch, state, step in positions
    ]


def _figures(answers: Sequence[Answer]) -> dict[str, Any]:
    elapsed = [answer.elapsed_ms for answer in answers]
    tests = {answer.example: answer.texts for answer in answers if answer.role == Role.TEST}
    texts = Counter(json.dumps(sorted(answer)) for answer in tests.values())
    return {
        "median_ms": round(median(elapsed)) if elapsed else None,
        "longest_ms": max(elapsed, default=0),
        "tested": len(tests),
        "distinct": len(texts),
        "commonest_share": max(texts.values()) / len(tests) if tests else 0,
        "answers_hash": answers_hash(tests) if tests else "",
    }


def answers_hash(answers: dict[int, Sequence[str]]) -> str:
    """The same for two people who gave the same answers to the same examples."""
    ordered = [[example, sorted(answers[example])] for example in sorted(answers)]
    return sha256(json.dumps(ordered).encode()).hexdigest()
