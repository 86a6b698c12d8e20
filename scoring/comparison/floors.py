"""What no skill earns on a task, and the most that its answer form allows."""

from dataclasses import dataclass

from annotation.benchmarks.findings import TestMaterial, ceiling_score, floor_scores
from annotation.kinds import answer_kinds
from annotation.models import Task
from scoring.core.normalisation import NONE

CEILING = "ceiling"
# Of every kind, in the order that a table shows them.
FLOORS = {floor.rule: floor for kind in answer_kinds() for floor in kind.floors}
RULES = (*FLOORS, CEILING)


@dataclass(frozen=True)
class Bound:
    """One figure of a task that a score must be read against, in percent."""

    task: str
    rule: str
    score: float
    references: str
    gold_version: int
    normalisation: str = NONE

    @property
    def label(self) -> str:
        return str("Ceiling" if self.rule == CEILING else FLOORS[self.rule].label)

    @property
    def is_floor(self) -> bool:
        """Whether an allowed answer earns it without a look at the question."""
        return self.rule != CEILING and FLOORS[self.rule].is_allowed


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
        Bound(task.slug, rule, score, references, gold_version, task.normalisation)
        for rule, score in scores.items()
    ]


def no_skill(all_bounds: list[Bound]) -> dict[str, float]:
    """By task, the most that an allowed answer earns without a look at the question."""
    best: dict[str, float] = {}
    for bound in all_bounds:
        if bound.is_floor:
            best[bound.task] = max(best.get(bound.task, 0.0), bound.score)
    return best
