"""Planning: how many people on how many items a budget buys, or what a target width costs.

A plan is assembled from assumptions, and states them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

from annotation.models.errors import BadInput
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.people_designs import SIMULATED, PeopleDesign, recommended
from scoring.core.variance import Components
from scoring.core.verdicts import ComparisonDesign, detectable_difference, power_to_differ
from scoring.planning.designs import (
    LEAST_ANNOTATORS,
    MOST_ANNOTATORS,
    Assumptions,
    design_of,
    designs_of_width,
    designs_within,
    planned_people,
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
    """Each of its parts is worked out once, when it is first read."""

    assumptions: Assumptions
    # One of the two, as it was asked for.
    budget: float | None
    width: float | None
    contrast: Contrast | None
    min_coverage: float | None
    seed: int

    @cached_property
    def frontier(self) -> tuple[PlannedDesign, ...]:
        """By the number of annotators: with a budget the most items that it buys, with a width the
        fewest that reach it."""
        best = self._best
        designs = [best if best and _same(design, best) else design for design in self._designs]
        in_order = sorted(designs, key=lambda design: design.annotators)
        return tuple(self._planned(design) for design in in_order)

    @cached_property
    def recommended(self) -> PlannedDesign | None:
        return self._singled_out(self._best)

    @cached_property
    def three(self) -> PlannedDesign | None:
        """Always three annotators; None if the budget does not buy them."""
        return self._singled_out(self._three)

    @cached_property
    def curve(self) -> list[tuple[float, float]]:
        """The narrowest width for each amount of money, by the formula: from what three annotators
        cost at the least to a little beyond what stands out."""
        a = self.assumptions
        least = a.costs.of(LEAST_ANNOTATORS, a.least_items)
        marked = [design.cost for design in (self._best, self._three) if design]
        most = a.costs.of(MOST_ANNOTATORS, a.max_items)
        top = min(1.3 * max([least, *marked, self.budget or 0]), most)
        growth = max(top / least, 1) ** (1 / (CURVE_POINTS - 1))
        points: list[tuple[float, float]] = []
        for number in range(CURVE_POINTS):
            money = least * growth**number
            widths = [width for _, width in points[-1:]]
            widths += [design.width for design in _some_within(a, money)]
            points.append((money, min(widths)))
        return points

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(_notes(self.assumptions, self._designs, self._best))

    @cached_property
    def _designs(self) -> list[PeopleDesign]:
        if self.budget is not None:
            return designs_within(self.assumptions, self.budget)
        return designs_of_width(self.assumptions, self.width or 0)

    @cached_property
    def _best(self) -> PeopleDesign | None:
        """The first of the most promising that is not known to fail the check by simulation."""
        # Where a difference is to be shown, of the designs that allow to say so, if there are any.
        allowed = [d for d in self._designs if d.annotators >= EXPLORATORY_BELOW]
        left = list(allowed if self.contrast and allowed else self._designs)
        for _ in range(4 * SIMULATED):
            best = left[0] if left and self.width is not None else recommended(left)
            if best is None:
                break
            checked = self._checked(best)
            if self.min_coverage is None or not checked.coverage < self.min_coverage:
                return checked
            left.remove(best)
        return None

    @cached_property
    def _three(self) -> PeopleDesign | None:
        a, items = self.assumptions, self.assumptions.max_items
        if self.budget is not None:
            items = min(items, a.costs.most_items(LEAST_ANNOTATORS, self.budget))
        if items < a.least_items:
            return None
        return self._checked(design_of(a, LEAST_ANNOTATORS, items))

    def _checked(self, design: PeopleDesign) -> PeopleDesign:
        """With its coverage and simulated width, where it is to be simulated and can be."""
        a = self.assumptions
        if self.min_coverage is None or not a.can_be_simulated(design):
            return design
        # The budget is spent to the cent, so one more annotator would have fewer items.
        simulated = planned_people(
            a,
            budget=design.cost,
            min_annotators=design.annotators,
            min_items=design.items,
            min_coverage=0.0,
            seed=self.seed,
        )[0]
        # The simulated answers are right or wrong.
        return simulated if a.is_right_or_wrong else replace(simulated, width=design.width)

    def _planned(self, design: PeopleDesign) -> PlannedDesign:
        if self.contrast is None:
            return PlannedDesign(design)
        comparison = self._comparison(design, self.contrast)
        return PlannedDesign(design, power=power_to_differ(self.contrast.difference, comparison))

    def _singled_out(self, design: PeopleDesign | None) -> PlannedDesign | None:
        if design is None:
            return None
        if self.contrast is None:
            return PlannedDesign(design)
        detectable = detectable_difference(self._comparison(design, self.contrast))
        planned = self._planned(design)
        return replace(planned, detectable=None if isnan(detectable) else detectable)

    def _comparison(self, design: PeopleDesign, contrast: Contrast) -> ComparisonDesign:
        people = self.assumptions.components
        residual, between = contrast.run_residual_var, contrast.item_difference_var
        residual = people.residual if residual is None else residual
        return ComparisonDesign(
            annotators=design.annotators,
            runs=contrast.runs,
            items=design.items,
            people=people,
            system=Components(contrast.run_var, 0.0, residual),
            item_difference_var=people.item if between is None else between,
        )


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
    plan = Plan(assumptions, budget, width, contrast, min_coverage, seed)
    try:
        # What cannot be planned shows here.
        _ = plan.frontier, plan.recommended, plan.three, plan.curve
    except ValueError as error:
        raise BadInput(f"This cannot be planned: {error}") from error
    return plan


def _same(one: PeopleDesign, other: PeopleDesign) -> bool:
    return (one.annotators, one.items) == (other.annotators, other.items)


def _some_within(assumptions: Assumptions, budget: float) -> Iterator[PeopleDesign]:
    """Every number of annotators at first, then ever fewer of them."""
    annotators = LEAST_ANNOTATORS
    while annotators <= MOST_ANNOTATORS:
        items = min(assumptions.max_items, assumptions.costs.most_items(annotators, budget))
        if items < assumptions.least_items:
            return
        yield design_of(assumptions, annotators, items)
        annotators += max(1, annotators // 8)


def _notes(
    assumptions: Assumptions, designs: Sequence[PeopleDesign], best: PeopleDesign | None
) -> Iterator[str]:
    if not designs:
        cost = assumptions.costs.of(LEAST_ANNOTATORS, assumptions.least_items)
        yield (
            f"This budget pays for no design: {LEAST_ANNOTATORS} annotators on "
            f"{assumptions.least_items} items each cost {cost:.2f} {assumptions.currency}."
        )
    elif best is None:
        yield "No design's simulated interval covers the truth often enough."
    if best and not assumptions.can_be_simulated(best):
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
