"""What no skill earns on a task, and the most that its answer form allows."""

from dataclasses import dataclass

from annotation.findings import TestMaterial
from annotation.models import Task
from annotation.reference_figures import RULES, ceiling_score, floor_scores

CEILING = "ceiling"
LABELS = {**{rule: f"No skill: {words}" for rule, words in RULES.items()}, CEILING: "Ceiling"}
# No answer form lets anybody give all of them at once.
NOT_ALLOWED = {"every_label", "every_candidate"}


@dataclass(frozen=True)
class Bound:
    """One figure of a task that a score must be read against, in percent."""

    task: str
    rule: str
    score: float
    references: str
    gold_version: int

    @property
    def label(self) -> str:
        return LABELS[self.rule]


def bounds(task: Task, references: str, gold_version: int) -> list[Bound]:
    """The floors and the ceiling of a task under one policy, at one version of its gold."""
    material = TestMaterial(task, gold_version)
    if not material.test:
        return []
    scores = {
        **floor_scores(material, references),
        CEILING: ceiling_score(material, references),
    }
    return [
        Bound(task.slug, rule, score, references, gold_version) for rule, score in scores.items()
    ]


def no_skill(found: list[Bound]) -> dict[str, float]:
    """By task, the most that an allowed answer earns without a look at the question."""
    best: dict[str, float] = {}
    for bound in found:
        if bound.rule != CEILING and bound.rule not in NOT_ALLOWED:
            best[bound.task] = max(best.get(bound.task, 0.0), bound.score)
    return best
