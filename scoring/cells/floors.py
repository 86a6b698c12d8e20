"""What no skill earns on a task, and the most that its answer form allows."""

from annotation.benchmarks.findings import TestMaterial, ceiling_score, floor_scores
from annotation.kinds import answer_kinds
from annotation.models import Task
from scoring.cells.rows import CEILING, Bound


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
