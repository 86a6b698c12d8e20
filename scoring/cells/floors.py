"""What no skill earns on a task, and the most that its answer form allows."""

from dataclasses import dataclass

from annotation.benchmarks.findings import TestMaterial, ceiling_score, floor_scores
from annotation.kinds import answer_kinds
from annotation.models import Task
from scoring.core.normalisation import NONE

CEILING = "ceiling"


@dataclass(frozen=True)
class Bound:
    """One figure of a task that a score must be read against, in percent."""

    task: str
    rule: str
    score: float
    references: str
    gold_version: int
    normalisation: str = NONE
    label: str = "Ceiling"
    in_words: str = ""
    # Whether an allowed answer earns it without a look at the question.
    is_floor: bool = False
    # In the order that a table shows them.
    place: int = 0


def bounds(task: Task, references: str, gold_version: int) -> list[Bound]:
    """The floors and the ceiling of a task under one policy, at one version of its gold."""
    material = TestMaterial(task, gold_version)
    if not material.test:
        return []
    floors = {floor.rule: floor for kind in answer_kinds() for floor in kind.floors}
    scored = references, gold_version, task.normalisation
    found = [
        Bound(
            *(task.slug, rule, score, *scored),
            label=str(floors[rule].label),
            in_words=floors[rule].in_words,
            is_floor=floors[rule].is_allowed,
            place=list(floors).index(rule),
        )
        for rule, score in floor_scores(material, references).items()
    ]
    ceiling = ceiling_score(material, references)
    return [*found, Bound(task.slug, CEILING, ceiling, *scored, place=len(floors))]


def no_skill(all_bounds: list[Bound]) -> dict[str, float]:
    """By task, the most that an allowed answer earns without a look at the question."""
    best: dict[str, float] = {}
    for bound in all_bounds:
        if bound.is_floor:
            best[bound.task] = max(best.get(bound.task, 0.0), bound.score)
    return best
