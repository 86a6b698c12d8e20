"""Planning: how many people on how many items a budget buys, or what a target width costs.

A plan is assembled from assumptions, and states them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan

from annotation.models.errors import BadInput
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.people_designs import PeopleDesign
from scoring.core.variance import Components
from scoring.core.verdicts import ComparisonDesign, detectable_difference, power_to_differ
from scoring.planning.designs import (
    LEAST_ANNOTATORS,
    MOST_ANNOTATORS,
    Assumptions,
    Check,
    best_of,
    can_be_simulated,
    design_of,
    designs_of_width,
    designs_within,
)

LEAST_COVERAGE = 0.94
# Points of the curve of width against money.
CURVE_POINTS = 24


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
            designs = designs_within(assumptions, budget)
        else:
            designs = designs_of_width(assumptions, width or 0)
        check = Check(assumptions, min_coverage, seed)
        best = best_of(_claiming(designs, contrast), check, by_cost=width is not None)
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


def _claiming(designs: Sequence[PeopleDesign], contrast: Contrast | None) -> Sequence[PeopleDesign]:
    """Where a difference is to be shown, the designs that allow to say so, if there are any."""
    allowed = [design for design in designs if design.annotators >= EXPLORATORY_BELOW]
    return allowed if contrast and allowed else designs


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
    if best and not can_be_simulated(best, assumptions):
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
