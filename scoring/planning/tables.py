"""A plan as a table and as a document: the two designs that stand out, and the frontier."""

from dataclasses import asdict, dataclass
from typing import Any

from scoring.core.sample_size import PeopleDesign
from scoring.planning.designs import Plan, PlannedDesign

MOST_ROWS = 24
DASH = "–"


@dataclass(frozen=True)
class PlanRow:
    name: str
    planned: PlannedDesign

    @property
    def design(self) -> PeopleDesign:
        return self.planned.design

    @property
    def width(self) -> str:
        return f"{100 * self.design.width:.1f}"

    @property
    def se(self) -> str:
        return f"{100 * self.design.se:.2f}"

    @property
    def coverage(self) -> str:
        known = self.design.coverage == self.design.coverage
        return f"{self.design.coverage:.3f}" if known else DASH

    @property
    def power(self) -> str:
        return DASH if self.planned.power is None else f"{self.planned.power:.2f}"

    @property
    def detectable(self) -> str:
        found = self.planned.detectable
        return DASH if found is None else f"{100 * found:.1f}"


def thinned(plan: Plan) -> list[PlannedDesign]:
    """The frontier, or of a long one every so manieth."""
    step = -(-len(plan.frontier) // MOST_ROWS) or 1
    return list(plan.frontier[::step])


def plan_as_plain(plan: Plan) -> dict[str, Any]:
    """Scores in percent, as everything that is exported; components as they are."""
    return {
        "budget": plan.budget,
        "width": _percent(plan.width),
        "min_coverage": plan.min_coverage,
        "assumptions": asdict(plan.assumptions),
        "contrast": asdict(plan.contrast) if plan.contrast else None,
        "recommended": _plain(plan.recommended),
        "three_annotators": _plain(plan.three),
        "frontier": [_plain(each) for each in plan.frontier],
        "notes": list(plan.notes),
    }


def _plain(planned: PlannedDesign | None) -> dict[str, Any] | None:
    if planned is None:
        return None
    design = planned.design
    known = design.coverage == design.coverage
    return {
        "annotators": design.annotators,
        "items": design.items,
        "people": design.people,
        "cost": design.cost,
        "width": _percent(design.width),
        "se": _percent(design.se),
        "df": design.df,
        "coverage": design.coverage if known else None,
        "coverage_se": design.coverage_se if known else None,
        "power": planned.power,
        "detectable": _percent(planned.detectable),
        "exploratory": planned.is_exploratory,
    }


def _percent(score: float | None) -> float | None:
    return None if score is None else 100 * score
