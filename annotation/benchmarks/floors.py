"""The figures that a task's scores must be read against, as findings: what no skill earns, the most
that the answer form allows, and how much of the gold two taps reach."""

from collections.abc import Mapping
from typing import Any

from annotation.benchmarks.findings import (
    MOST_EXAMPLES,
    NOTE,
    WARNING,
    Finding,
    Material,
    TestMaterial,
    shortened,
)
from annotation.kinds import answer_kind
from annotation.kinds.base import Floor
from annotation.models import Example, ReferencePolicy
from scoring.core import floors as core
from scoring.core.normalisation import NONE
from scoring.core.spans import measure_reach

# A ceiling below this, in percent, is a warning.
ALMOST_ALL = 99.995


def floors(material: Material) -> Finding | None:
    """The S1 of answers that ignore the question."""
    if not material.test:
        return None
    figures = {policy: floor_scores(material, policy) for policy in ReferencePolicy.values}
    policy = material.task.reference_policy
    scores = [
        f"{floor.in_words} {figures[policy][floor.rule]:.2f}" for floor in _floors_of(material)
    ]
    message = (
        f"What no skill earns (S1 in percent, policy {policy}{_normalised(material)}): "
        f"{', '.join(scores)}."
    )
    return Finding("floors", NOTE, message, (), figures)


def ceiling(material: Material) -> Finding | None:
    """The S1 of the best answers that the task's form allows."""
    if not material.test:
        return None
    figures = {policy: ceiling_score(material, policy) for policy in ReferencePolicy.values}
    policy = material.task.reference_policy
    return Finding(
        "ceiling",
        NOTE if figures[policy] > ALMOST_ALL else WARNING,
        "The best answers that this task's form allows reach an S1 of "
        f"{figures[policy]:.2f} percent (policy {policy}{_normalised(material)}).",
        (),
        figures,
    )


def several_alternatives(material: Material) -> Finding | None:
    rows = [row for row in material.test if len(row.texts) > 1]
    if not rows:
        return None
    highest = ceiling_score(material, ReferencePolicy.SET)
    return Finding(
        "several_alternatives",
        NOTE,
        f"Test examples with several alternatives: {len(rows)} of {len(material.test)}. Under the "
        "reference policy set, which takes their union, one answer reaches an S1 of at most "
        f"{highest:.2f} percent on average; under any it is held against the best of them.",
        tuple(row.says(" | ".join(sorted(row.gold))) for row in rows[:MOST_EXAMPLES]),
        {"rows": len(rows), "ceiling_set": highest},
    )


def reach(material: Material) -> Finding | None:
    """How many of the gold spans two taps select."""
    if not answer_kind(material.task.kind).takes_pieces:
        return None
    spans = [
        (_segment_of(span, row.example), span["text"], span.get("start"))
        for row in material.distinct
        for alternative in row.alternatives
        for span in alternative
    ]
    measured = measure_reach(spans)
    if not measured.spans:
        return None
    return Finding(
        "reach",
        WARNING if measured.missed else NOTE,
        f"Gold spans of the contexts that two taps select: {measured.reached} of {measured.spans} "
        f"({100 * measured.share:.2f} %), without tapping punctuation {measured.by_words}.",
        tuple(shortened(f"“{text}”") for text in measured.missed[:MOST_EXAMPLES]),
        {
            "share": measured.share,
            "reached": measured.reached,
            "by_words": measured.by_words,
            "spans": measured.spans,
        },
    )


def floor_scores(material: TestMaterial, policy: str) -> dict[str, float]:
    """In percent, by the rule that gives the answers."""
    return {
        floor.rule: 100 * floor.score(material.tested, policy) for floor in _floors_of(material)
    }


def ceiling_score(material: TestMaterial, policy: str) -> float:
    """In percent."""
    return 100 * core.ceiling_score(
        material.tested.golds,
        offered=[material.givable(row) for row in material.test],
        most=material.most,
        references=policy,
    )


def _floors_of(material: TestMaterial) -> tuple[Floor, ...]:
    return answer_kind(material.task.kind).floors


def _normalised(material: TestMaterial) -> str:
    """Named if there is any."""
    normalisation = material.task.normalisation
    return f", normalisation {normalisation}" if normalisation != NONE else ""


def _segment_of(span: Mapping[str, Any], example: Example) -> str:
    """The segment that a gold span names, else the first one that holds it."""
    if "segment" in span:
        named: str = example.context[span["segment"]]
        return named
    holding = [segment for segment in example.context if span["text"] in segment]
    return holding[0] if holding else ""
