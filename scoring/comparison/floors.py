"""What no skill earns on a task, and the most that its answer form allows."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from annotation.benchmarks.findings import TestMaterial
from annotation.benchmarks.floors import ceiling_score, floor_scores
from annotation.models import Task

CEILING = "ceiling"
LABELS = {
    "empty": _("No skill: no answer everywhere"),
    "best_label": _("No skill: the best single label everywhere"),
    "every_label": _("No skill: every label at once"),
    "most_frequent_candidate": _("No skill: the entity that is marked most often"),
    "first_candidate": _("No skill: the entity that is marked first"),
    "every_candidate": _("No skill: every entity at once"),
    CEILING: _("Ceiling"),
}
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
        return str(LABELS[self.rule])


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
