"""A plan as a table: the two designs that stand out, then the frontier."""

from dataclasses import dataclass

from scoring.acts.planning import Plan, PlannedDesign
from scoring.core.sample_size import PeopleDesign

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
