"""Planning: how many people on how many items a budget buys, or what a target width costs.

The formulas and their simulation are in the core; here a plan is assembled from assumptions, and
states them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import isnan, sqrt
from typing import Any

from annotation.models.errors import BadInput
from scoring.core.people_designs import (
    Aim,
    Costs,
    PeopleDesign,
    expected_width,
    formula_design,
)
from scoring.core.power import ComparisonDesign, detectable_difference, power_to_differ
from scoring.core.sample_size import SIMULATED, plan_people, recommended
from scoring.core.variance import Components

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 20
# Nobody recruits more for one cell: what these cannot reach is out of reach.
MOST_ANNOTATORS = 1_000
MOST_ITEMS = 10_000
LEAST_COVERAGE = 0.94
LEVEL = 0.95
# Points of the curve of width against money.
CURVE_POINTS = 24
# A simulation holds all answers of many such cells in memory.
MOST_SIMULATED = 50_000
# The most that scores in [0, 1] can vary.
MOST_VARIANCE = 0.25
# Below this many annotators nobody is called better.
EXPLORATORY_BELOW = 5


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

    @property
    def aim(self) -> Aim:
        return Aim(self.estimand, self.max_items, LEVEL)

    @property
    def least_items(self) -> int:
        return min(LEAST_ITEMS, self.max_items)


@dataclass(frozen=True)
class Contrast:
    """A difference from a system that the study should show, in [0, 1], and how the system's
    scores vary. None: as people's do, sharing half of what makes an item hard."""

    difference: float
    runs: int = 1
    run_var: float = 0.0004
    run_residual_var: float | None = None
    item_difference_var: float | None = None


@dataclass(frozen=True)
class PlannedDesign:
    """A design, and the contrast in it: the chance to show its difference."""

    design: PeopleDesign
    power: float | None = None
    # The smallest difference that is shown four times out of five, if any; only for the two designs
    # that stand out.
    detectable: float | None = None

    @property
    def is_exploratory(self) -> bool:
        return self.design.annotators < EXPLORATORY_BELOW


@dataclass(frozen=True)
class Plan:
    assumptions: Assumptions
    contrast: Contrast | None
    # One of the two, as it was asked for.
    budget: float | None
    width: float | None
    min_coverage: float | None
    # By the number of annotators: with a budget the most items that it buys, with a width the
    # fewest that reach it.
    frontier: tuple[PlannedDesign, ...]
    recommended: PlannedDesign | None
    # The narrowest width for each amount of money, by the formula.
    curve: tuple[tuple[float, float], ...]
    # Always three annotators; None if the budget does not buy them.
    three: PlannedDesign | None
    notes: tuple[str, ...]


def make_plan(
    assumptions: Assumptions,
    *,
    budget: float | None = None,
    width: float | None = None,
    contrast: Contrast | None = None,
    min_coverage: float | None = LEAST_COVERAGE,
    seed: int = 0,
) -> Plan:
    """The designs that a budget buys, or that reach a wanted width (in [0, 1]).

    Widths are of the interval that the table will show for the cell, over all its batches. With a
    budget the cheapest within a tenth of the narrowest is recommended, with a width the cheapest;
    where a difference is to be shown, of those that allow a claim. Its simulated interval holds the
    truth at least as often as `min_coverage` says; without it the formula decides alone. Raises
    BadInput.
    """
    if (budget is None) == (width is None):
        raise BadInput("Give either a budget or a width for the interval.")
    try:
        if budget is not None:
            designs = _within_budget(assumptions, budget)
        else:
            designs = _of_width(assumptions, width or 0)
        check = Check(assumptions, min_coverage, seed)
        best = _best(_claiming(designs, contrast), check, by_cost=width is not None)
        if best is not None:
            designs = [best if _same(design, best) else design for design in designs]
        three = _three(assumptions, budget, check)
        return Plan(
            assumptions=assumptions,
            contrast=contrast,
            budget=budget,
            width=width,
            min_coverage=min_coverage,
            frontier=tuple(
                _planned(design, assumptions, contrast)
                for design in sorted(designs, key=lambda design: design.annotators)
            ),
            recommended=_singled_out(best, assumptions, contrast),
            curve=_curve(assumptions, budget, best, three),
            three=_singled_out(three, assumptions, contrast),
            notes=tuple(_notes(assumptions, designs, best, three)),
        )
    except ValueError as error:
        raise BadInput(f"This cannot be planned: {error}") from error


def design_of(assumptions: Assumptions, annotators: int, items: int) -> PeopleDesign:
    """What this many people on this many items each would give."""
    a = assumptions
    return _with_cell_width(a, formula_design(annotators, items, a.costs, a.components, a.aim))


def _with_cell_width(assumptions: Assumptions, design: PeopleDesign) -> PeopleDesign:
    a = assumptions
    return replace(design, width=expected_width(design, a.components, a.aim, a.expected_mean))


def _planned_people(assumptions: Assumptions, **wanted: Any) -> tuple[PeopleDesign, ...]:
    known = asdict(assumptions)
    del known["mean"], known["currency"]
    return plan_people(**known, **wanted)


def _within_budget(assumptions: Assumptions, budget: float) -> list[PeopleDesign]:
    """Narrowest first."""
    most = assumptions.costs.of(MOST_ANNOTATORS, assumptions.max_items)
    designs = _planned_people(
        assumptions,
        budget=min(budget, most),
        min_annotators=LEAST_ANNOTATORS,
        min_items=LEAST_ITEMS,
    )
    of_cells = [_with_cell_width(assumptions, design) for design in designs]
    return sorted(of_cells, key=lambda design: design.width)


def _of_width(assumptions: Assumptions, width: float) -> list[PeopleDesign]:
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


@dataclass(frozen=True)
class Check:
    """By simulation, if a coverage is asked for."""

    assumptions: Assumptions
    least: float | None
    seed: int

    def of(self, design: PeopleDesign) -> PeopleDesign:
        """With its coverage and simulated width, where it is to be simulated and can be."""
        a = self.assumptions
        if self.least is None or not _can_be_simulated(design, a):
            return design
        # The budget is spent to the cent, so one more annotator would have fewer items.
        simulated = _planned_people(
            a,
            budget=design.cost,
            min_annotators=design.annotators,
            min_items=design.items,
            min_coverage=0.0,
            seed=self.seed,
        )[0]
        # The simulated answers are right or wrong.
        return simulated if a.is_right_or_wrong else replace(simulated, width=design.width)

    def is_passed_by(self, design: PeopleDesign) -> bool:
        """Also by a design that is not known to fail."""
        return self.least is None or not design.coverage < self.least


def _can_be_simulated(design: PeopleDesign, assumptions: Assumptions) -> bool:
    varies = sum(asdict(assumptions.components).values())
    size = design.annotators * max(design.items, assumptions.max_items)
    return size <= MOST_SIMULATED and 0 < varies <= MOST_VARIANCE


def _claiming(designs: Sequence[PeopleDesign], contrast: Contrast | None) -> Sequence[PeopleDesign]:
    """Where a difference is to be shown, the designs that allow to say so, if there are any."""
    allowed = [design for design in designs if design.annotators >= EXPLORATORY_BELOW]
    return allowed if contrast and allowed else designs


def _best(designs: Sequence[PeopleDesign], check: Check, *, by_cost: bool) -> PeopleDesign | None:
    """The first of the most promising that passes."""
    left = list(designs)
    for _ in range(4 * SIMULATED):
        best = left[0] if by_cost and left else recommended(left)
        if best is None:
            break
        checked = check.of(best)
        if check.is_passed_by(checked):
            return checked
        left.remove(best)
    return None


def _same(one: PeopleDesign, other: PeopleDesign) -> bool:
    return (one.annotators, one.items) == (other.annotators, other.items)


def _curve(
    assumptions: Assumptions,
    budget: float | None,
    best: PeopleDesign | None,
    three: PeopleDesign | None,
) -> tuple[tuple[float, float], ...]:
    """From what three annotators cost at the least to a little beyond what stands out."""
    costs = assumptions.costs
    least = costs.of(LEAST_ANNOTATORS, assumptions.least_items)
    marked = [design.cost for design in (best, three) if design]
    most = costs.of(MOST_ANNOTATORS, assumptions.max_items)
    top = min(1.3 * max([least, *marked, budget or 0]), most)
    growth = max(top / least, 1) ** (1 / (CURVE_POINTS - 1))
    points: list[tuple[float, float]] = []
    for number in range(CURVE_POINTS):
        money = least * growth**number
        widths = [width for _, width in points[-1:]]
        widths += [design.width for design in _some_within(assumptions, money)]
        points.append((money, min(widths)))
    return tuple(points)


def _some_within(assumptions: Assumptions, budget: float) -> Iterator[PeopleDesign]:
    """Every number of annotators at first, then ever fewer of them."""
    annotators = LEAST_ANNOTATORS
    while annotators <= MOST_ANNOTATORS:
        items = min(assumptions.max_items, assumptions.costs.most_items(annotators, budget))
        if items < assumptions.least_items:
            return
        yield design_of(assumptions, annotators, items)
        annotators += max(1, annotators // 8)


def _three(assumptions: Assumptions, budget: float | None, check: Check) -> PeopleDesign | None:
    items = assumptions.max_items
    if budget is not None:
        items = min(items, assumptions.costs.most_items(LEAST_ANNOTATORS, budget))
    if items < assumptions.least_items:
        return None
    return check.of(design_of(assumptions, LEAST_ANNOTATORS, items))


def _planned(
    design: PeopleDesign, assumptions: Assumptions, contrast: Contrast | None
) -> PlannedDesign:
    if contrast is None:
        return PlannedDesign(design)
    comparison = _comparison(design, assumptions.components, contrast)
    return PlannedDesign(design, power=power_to_differ(contrast.difference, comparison))


def _singled_out(
    design: PeopleDesign | None, assumptions: Assumptions, contrast: Contrast | None
) -> PlannedDesign | None:
    if design is None:
        return None
    planned = _planned(design, assumptions, contrast)
    if contrast is None:
        return planned
    comparison = _comparison(design, assumptions.components, contrast)
    detectable = detectable_difference(comparison)
    return replace(planned, detectable=None if isnan(detectable) else detectable)


def _comparison(design: PeopleDesign, people: Components, contrast: Contrast) -> ComparisonDesign:
    residual, between = contrast.run_residual_var, contrast.item_difference_var
    return ComparisonDesign(
        annotators=design.annotators,
        runs=contrast.runs,
        items=design.items,
        people=people,
        system=Components(contrast.run_var, 0.0, people.residual if residual is None else residual),
        item_difference_var=people.item if between is None else between,
    )


def _notes(
    assumptions: Assumptions,
    designs: Sequence[PeopleDesign],
    best: PeopleDesign | None,
    three: PeopleDesign | None,
) -> Iterator[str]:
    if not designs:
        cost = assumptions.costs.of(LEAST_ANNOTATORS, assumptions.least_items)
        yield (
            f"This budget pays for no design: {LEAST_ANNOTATORS} annotators on "
            f"{assumptions.least_items} items each cost {cost:.2f} {assumptions.currency}."
        )
    elif best is None:
        yield "No design's simulated interval covers the truth often enough."
    if best and not _can_be_simulated(best, assumptions):
        yield "The recommended design was not simulated: it rests on the formula alone."
    if best and best.annotators < EXPLORATORY_BELOW:
        yield (
            f"Below {EXPLORATORY_BELOW} annotators a comparison is exploratory: no claim that "
            "somebody is better."
        )
    if best and assumptions.batches > 1:
        yield (
            f"{best.annotators} people on each of {assumptions.batches} batches are "
            f"{best.people} different people: nobody works on a task twice."
        )
    if best and isnan(best.coverage) and not 0.1 <= assumptions.expected_mean <= 0.9:
        yield (
            "So near to all right or all wrong the formula promises too little: intervals of "
            "simulated cells are narrower. Check the plan by simulation."
        )
