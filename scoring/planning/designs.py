"""What a plan rests on, and the designs that a budget buys, or that reach a width.

The formulas and their simulation are in the core.
"""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

from annotation.models.errors import BadInput
from scoring.core.people_designs import Aim, Costs, PeopleDesign, expected_width, formula_design
from scoring.core.sample_size import plan_people
from scoring.core.variance import Components

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 20
# Nobody recruits more for one cell: what these cannot reach is out of reach.
MOST_ANNOTATORS = 1_000
MOST_ITEMS = 10_000
LEVEL = 0.95
# The most that scores in [0, 1] can vary.
MOST_VARIANCE = 0.25
# A simulation holds all answers of many such cells in memory.
MOST_SIMULATED = 50_000


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on. Times in seconds, the fee as a share on top, variances on the scale
    of scores in [0, 1], as is the mean; shots are training items, batches the splits or episodes of
    a cell.

    The defaults: a crowd that scores 80 on average, with 4 points between annotators, on short
    texts.
    """

    rate: float = 12.0
    fee: float = 0.0
    onboarding_s: float = 300.0
    shots: int = 30
    train_s: float = 12.0
    item_s: float = 8.0
    max_items: int = 200
    annotator_var: float = 0.0016
    item_var: float = 0.072
    residual_var: float = 0.0864
    estimand: str = "new_items"
    batches: int = 1
    # None: what right-or-wrong scores with these variances average, above one half.
    mean: float | None = None
    currency: str = "USD"

    def __post_init__(self) -> None:
        if self.max_items > MOST_ITEMS:
            raise BadInput(f"A plan is for at most {MOST_ITEMS} items: give fewer.")

    @property
    def costs(self) -> Costs:
        return Costs(
            rate=self.rate,
            onboarding_s=self.onboarding_s,
            shots=self.shots,
            train_s=self.train_s,
            item_s=self.item_s,
            fee=self.fee,
            batches=self.batches,
        )

    @property
    def components(self) -> Components:
        return Components(self.annotator_var, self.item_var, self.residual_var)

    @cached_property
    def expected_mean(self) -> float:
        """Scores that vary by more than right or wrong allow have no such mean: one half is
        widest."""
        varies = sum(asdict(self.components).values())
        right_or_wrong = (1 + sqrt(max(0.0, 1 - varies / MOST_VARIANCE))) / 2
        return right_or_wrong if self.mean is None else self.mean

    @property
    def is_right_or_wrong(self) -> bool:
        """Whether the scores vary about as much as scores of 0 and 1 with this mean."""
        total = self.expected_mean * (1 - self.expected_mean)
        parts = self.components
        return abs(parts.annotator + parts.item + parts.residual - total) <= 0.05 * total

    def can_be_simulated(self, design: PeopleDesign) -> bool:
        varies = sum(asdict(self.components).values())
        size = design.annotators * max(design.items, self.max_items)
        return size <= MOST_SIMULATED and 0 < varies <= MOST_VARIANCE

    @property
    def aim(self) -> Aim:
        return Aim(self.estimand, self.max_items, LEVEL)

    @property
    def least_items(self) -> int:
        return min(LEAST_ITEMS, self.max_items)


def design_of(assumptions: Assumptions, annotators: int, items: int) -> PeopleDesign:
    """What this many people on this many items each would give."""
    a = assumptions
    return _with_cell_width(a, formula_design(annotators, items, a.costs, a.components, a.aim))


def _with_cell_width(a: Assumptions, design: PeopleDesign) -> PeopleDesign:
    return replace(design, width=expected_width(design, a.components, a.aim, a.expected_mean))


def planned_people(assumptions: Assumptions, **wanted: Any) -> tuple[PeopleDesign, ...]:
    known = asdict(assumptions)
    del known["mean"], known["currency"]
    return plan_people(**known, **wanted)


def designs_within(assumptions: Assumptions, budget: float) -> list[PeopleDesign]:
    """Narrowest first."""
    most = assumptions.costs.of(MOST_ANNOTATORS, assumptions.max_items)
    designs = planned_people(
        assumptions,
        budget=min(budget, most),
        min_annotators=LEAST_ANNOTATORS,
        min_items=LEAST_ITEMS,
    )
    of_cells = [_with_cell_width(assumptions, design) for design in designs]
    return sorted(of_cells, key=lambda design: design.width)


def designs_of_width(assumptions: Assumptions, width: float) -> list[PeopleDesign]:
    """For each number of annotators the fewest items that reach the width, cheapest first."""
    if width <= 0:
        raise ValueError("the width must be above 0.")
    narrowest = design_of(assumptions, MOST_ANNOTATORS, assumptions.max_items).width
    if narrowest > width:
        raise BadInput(
            f"{MOST_ANNOTATORS} annotators on {assumptions.max_items} items each still give an "
            f"interval {100 * narrowest:.1f} points wide: ask for a wider one, or for more items."
        )
    designs: list[PeopleDesign] = []
    for annotators in range(LEAST_ANNOTATORS, MOST_ANNOTATORS + 1):
        cheapest = min((design.cost for design in designs), default=float("inf"))
        # Nothing cheaper can follow; the frontier continues a little for the eye.
        if assumptions.costs.of(annotators, assumptions.least_items) > 3 * cheapest:
            break
        if design := _fewest_items(assumptions, annotators, width):
            designs.append(design)
    return sorted(designs, key=lambda design: design.cost)


def _fewest_items(assumptions: Assumptions, annotators: int, width: float) -> PeopleDesign | None:
    low, high = assumptions.least_items, assumptions.max_items
    if design_of(assumptions, annotators, high).width > width:
        return None
    while low < high:
        middle = (low + high) // 2
        if design_of(assumptions, annotators, middle).width > width:
            low = middle + 1
        else:
            high = middle
    return design_of(assumptions, annotators, low)
