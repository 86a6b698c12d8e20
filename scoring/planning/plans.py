"""Planning: how many people on how many items a budget buys, or what a target width costs, from
assumptions that the plan states; the formulas and their simulation are in the core."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, copysign, inf, isnan

from annotation.models.errors import BadInput
from scoring.core import people_designs
from scoring.core.intervals import EXPLORATORY_BELOW, FEWEST_FOR_SURE, NEVER_SURE
from scoring.core.power import Contrast, LogitModel, logit_model, power_of
from scoring.planning.designs import (
    LEAST_ANNOTATORS,
    MOST_ANNOTATORS,
    MOST_ITEMS,
    MOST_VARIANCE,
    Assumptions,
    design_of,
    designs_of_width,
    designs_within,
    reaching,
    some_within,
)

# A simulation holds all answers of many such cells in memory.
MOST_SIMULATED = 50_000
NO_POWER = "A difference within the margin is neither ahead nor behind: it has no power."
NO_MODEL = (
    "The chance to show the difference is not known: no right or wrong answers of people and a "
    "system score and vary as is assumed."
)
# With a smaller chance to show its difference a study is hardly worth its money.
ENOUGH = 0.8
# So many designs that the formula thinks do are simulated, on a tenth more items at a time.
PROMISING, MORE_ITEMS = 3, 1.1
LEAST_COVERAGE = 0.94
# Points of the curve of width against money.
CURVE_POINTS = 24


@dataclass(frozen=True)
class Plan:
    """Each of its parts is worked out once, when it is first read."""

    assumptions: Assumptions
    # One of the two, as it was asked for; with neither the difference is to be shown.
    budget: float | None
    width: float | None
    contrast: Contrast | None
    min_coverage: float | None
    seed: int
    most_simulated: int

    @cached_property
    def frontier(self) -> tuple[people_designs.PeopleDesign, ...]:
        """Designs by annotators, with the most items that a budget buys, or the fewest of a
        width."""
        designs = {design.annotators: design for design in self._designs}
        if self._best:  # as it was checked
            designs[self._best.annotators] = self._best
        return tuple(self._with_power(design) for _, design in sorted(designs.items()))

    @cached_property
    def recommended(self) -> people_designs.PeopleDesign | None:
        return self._best and self._with_chance(self._best)

    @property
    def can_be_shown(self) -> bool:
        """Whether there is a difference that people can be ahead or behind by."""
        asked = self.contrast
        return bool(asked and self.model and abs(asked.difference) > asked.margin)

    @cached_property
    def three(self) -> people_designs.PeopleDesign | None:
        """Always three annotators, who show no difference; None if the budget does not buy them,
        or where they get parts."""
        a, items = self.assumptions, self.assumptions.max_items
        if a.viewers:
            return None
        if self.budget is not None:
            items = min(items, a.costs.most_items(LEAST_ANNOTATORS, self.budget))
        if items < a.least_items:
            return None
        return self._checked(design_of(a, LEAST_ANNOTATORS, items))

    @cached_property
    def chance(self) -> float | None:
        """The chance that the recommended design shows the difference; None where not known."""
        return _chance(self.recommended) if self.recommended and self.can_be_shown else None

    @cached_property
    def strong_enough(self) -> people_designs.PeopleDesign | None:
        """The cheapest design that shows the difference four times out of five; by the formula
        alone, on more items, where these do not do. None where the recommended one does, or none is
        known."""
        if self.recommended and (self.chance is None or self.chance >= ENOUGH):
            return None
        if self.recommended is None and not self.is_for_difference:
            return None
        more = replace(self.assumptions, max_items=MOST_ITEMS)
        return self._strong_enough(self.assumptions) or next(iter(self._of_power(more)), None)

    @cached_property
    def with_all_items(self) -> tuple[int, people_designs.PeopleDesign] | None:
        """The least larger difference where the wanted one is out of reach, in whole points, that
        the fewest people find on all the items that there are, and their design."""
        a, asked = self.assumptions, self.contrast
        assert asked is not None
        people = max(EXPLORATORY_BELOW, a.splits)
        for points in range(int(100 * abs(asked.difference)) + 1, 100):
            larger = replace(asked, difference=copysign(points / 100, asked.difference))
            other = replace(self, contrast=larger)
            if other.model is None:
                return None
            design = other._with_power(design_of(a, people, a.max_items))
            if (design.power or 0) < ENOUGH:
                continue
            if self.can_be_simulated(design):
                design = other._with_chance(design)
            # The formula promises a little too much at times.
            if _chance(design) >= ENOUGH:
                return points, design
        return None

    @property
    def is_for_difference(self) -> bool:
        return self.budget is None and self.width is None

    def _strong_enough(
        self, assumptions: Assumptions, budget: float = inf
    ) -> people_designs.PeopleDesign | None:
        """The cheapest that has the chance in simulated studies, of those that the formula finds
        cheapest, each on as many more items as it then takes."""
        designs = [design for design in self._of_power(assumptions) if design.cost <= budget]
        grown = [self._grown(design, assumptions, budget) for design in designs[:PROMISING]]
        return min(filter(None, grown), key=lambda design: design.cost, default=None)

    def _grown(
        self, design: people_designs.PeopleDesign, assumptions: Assumptions, budget: float
    ) -> people_designs.PeopleDesign | None:
        n, most = design.annotators, assumptions.max_items
        if budget < inf:
            most = min(most, assumptions.costs.most_items(n, budget))
        design = self._with_chance(design)
        while _chance(design) < ENOUGH:
            if design.items >= most:
                return None
            items = min(most, ceil(MORE_ITEMS * design.items))
            design = self._with_chance(design_of(assumptions, n, items))
        return design

    def _strongest_within(self, budget: float) -> people_designs.PeopleDesign | None:
        """The one with the best chance of those to which the formula gives most of it."""
        designs = map(self._with_power, designs_within(self.assumptions, budget))
        strong = sorted(designs, key=lambda design: design.power or 0, reverse=True)
        best = map(self._with_chance, strong[: people_designs.SIMULATED])
        return max(best, key=_chance, default=None)

    def _of_power(self, assumptions: Assumptions) -> list[people_designs.PeopleDesign]:
        contrast, model = self.contrast, self.model
        assert contrast is not None
        assert model is not None
        return reaching(
            assumptions,
            max(EXPLORATORY_BELOW, assumptions.splits),
            lambda n, m: power_of(model, contrast, n, m) >= ENOUGH,
        )

    @cached_property
    def model(self) -> LogitModel | None:
        """The model of the answers, where there is a difference to show and answers can be so."""
        a = self.assumptions
        if self.contrast is None:
            return None
        try:
            return logit_model(a.expected_mean, a.annotator_var, a.item_var, self.contrast)
        except ValueError:
            return None

    @cached_property
    def curve(self) -> list[tuple[float, float]]:
        """The narrowest width for each amount of money, by the formula: from what the fewest
        cost to a little beyond what stands out."""
        a = self.assumptions
        least = a.costs.of(a.least_annotators, a.least_items)
        marked = [design.cost for design in (self._best, self.three) if design]
        most = a.costs.of(MOST_ANNOTATORS, a.max_items)
        top = min(1.3 * max([least, *marked, self.budget or 0]), most)
        growth = max(top / least, 1) ** (1 / (CURVE_POINTS - 1))
        points: list[tuple[float, float]] = []
        for number in range(CURVE_POINTS):
            money = least * growth**number
            widths = [width for _, width in points[-1:]]
            widths += [design.width for design in some_within(a, money)]
            if widths:
                points.append((money, min(widths)))
        return points

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(_notes(self))

    @cached_property
    def _designs(self) -> list[people_designs.PeopleDesign]:
        if self.budget is not None:
            return designs_within(self.assumptions, self.budget)
        if self.width is not None:
            return designs_of_width(self.assumptions, self.width)
        return self._of_power(self.assumptions)

    @cached_property
    def _best(self) -> people_designs.PeopleDesign | None:
        """The first of the most promising that is not known to fail the check by simulation."""
        if self.width is None and self.can_be_shown:
            strong = self._strong_enough(self.assumptions, self.budget or inf)
            if strong is None and self.budget is not None:
                strong = self._strongest_within(self.budget)
            return strong and self._checked(strong)
        # Where a difference is to be shown, of the designs that allow to say so, if there are any.
        allowed = [design for design in self._designs if not design.has_too_few]
        left = list(allowed if self.contrast and allowed else self._designs)
        for _ in range(4 * people_designs.SIMULATED):
            best = left[0] if left and self.width is not None else people_designs.recommended(left)
            if best is None:
                break
            checked = self._checked(best)
            if self.min_coverage is None or not checked.coverage < self.min_coverage:
                return checked
            left.remove(best)
        return None

    def _checked(self, design: people_designs.PeopleDesign) -> people_designs.PeopleDesign:
        """The design with its coverage and simulated widths, where it is to be simulated."""
        a = self.assumptions
        if not self.can_be_simulated(design):
            return design
        model = people_designs.ScoreModel.of_components(a.components)
        simulated = people_designs.simulated_design(design, model, a.aim, self.seed)
        if a.is_right_or_wrong:  # as the simulated answers are
            return simulated
        return replace(simulated, width=design.width, widths=())

    def can_be_simulated(self, design: people_designs.PeopleDesign) -> bool:
        a = self.assumptions
        size = design.annotators * max(design.items, a.max_items)
        fits = size <= self.most_simulated and 0 < a.variance <= MOST_VARIANCE
        return self.min_coverage is not None and fits

    def _with_power(self, design: people_designs.PeopleDesign) -> people_designs.PeopleDesign:
        if self.contrast is None or self.model is None:
            return design
        return people_designs.with_power(design, self.model, self.contrast)

    def _with_chance(self, design: people_designs.PeopleDesign) -> people_designs.PeopleDesign:
        if self.contrast is None or self.model is None or self.min_coverage is None:
            return self._with_power(design)
        if design.chances:
            return design
        return people_designs.with_chances(design, self.model, self.contrast, self.seed)


def _chance(design: people_designs.PeopleDesign) -> float:
    """The chance of a design to show it; none with too few people."""
    return design.chances.probable if design.chances else design.power or 0.0


# A page asks for a plan again with each visit, and many ask for the usual one.
@lru_cache(maxsize=32)
def make_plan(
    assumptions: Assumptions,
    *,
    budget: float | None = None,
    width: float | None = None,
    contrast: Contrast | None = None,
    min_coverage: float | None = LEAST_COVERAGE,
    seed: int = 0,
    most_simulated: int = MOST_SIMULATED,
) -> Plan:
    """The designs that a budget buys, that reach a wanted width (in [0, 1]), or, with neither, that
    show the difference four times out of five.

    Widths are of the interval that the table will show. For a difference the cheapest design is
    recommended that shows it four times out of five, or, where the budget buys none, the one that
    does most often; with a budget alone the cheapest within a tenth of the narrowest; with a width
    the cheapest, of those that allow a claim if there is a difference. Its simulated interval holds
    the truth as often as `min_coverage` says; without it, or beyond `most_simulated` scores, the
    formula decides. Raises BadInput."""
    if budget is not None and width is not None:
        raise BadInput("Give either a budget or a width for the interval.")
    if assumptions.viewers:
        if budget is None:
            raise BadInput("Parts of a test set are planned for a budget: give one, not a width.")
        # Neither is worked out for parts.
        contrast = min_coverage = None
    plan = Plan(assumptions, budget, width, contrast, min_coverage, seed, most_simulated)
    if plan.is_for_difference:
        _check_difference(plan)
    try:
        # What cannot be planned shows here.
        _ = plan.frontier, plan.recommended, plan.three, plan.curve, plan.strong_enough
    except ValueError as error:
        raise BadInput(f"This cannot be planned: {error}") from error
    return plan


def _check_difference(plan: Plan) -> None:
    if plan.contrast is None:
        raise BadInput("Give a budget, a width for the interval, or a difference to show.")
    if abs(plan.contrast.difference) <= plan.contrast.margin:
        raise BadInput(NO_POWER)
    if plan.model is None:
        raise BadInput(NO_MODEL)


def _notes(plan: Plan) -> Iterator[str]:
    a, best = plan.assumptions, plan.recommended
    if a.viewers:
        yield (
            "In parts: the width is the formula's; the chance to show a difference is not worked "
            "out."
        )
    if not plan.frontier and a.viewers:
        yield f"This budget pays for no layout of {a.viewers} people an item."
    elif plan.is_for_difference and best is None:
        yield _what_can_be_had(plan)
    elif not plan.frontier:
        cost = a.costs.of(a.least_annotators, a.least_items)
        yield (
            f"This budget pays for no design: {a.least_annotators} annotators on "
            f"{a.least_items} items each cost {cost:.2f} {a.currency}."
        )
    elif best is None:
        yield "No design's simulated interval covers the truth often enough."
    if best is None:
        return
    if plan.chance is not None and plan.chance < ENOUGH:
        yield f"Too weak to be worth its money. {_what_it_takes(plan)}"
    elif plan.contrast and plan.model is None:
        yield NO_MODEL
    elif plan.contrast and plan.chance is None:
        yield NO_POWER
    if plan.chance is not None and not a.is_right_or_wrong:
        yield "The chances are those of right or wrong answers, which vary otherwise than assumed."
    if best.has_too_few:
        few = f"With fewer than {EXPLORATORY_BELOW} people"
        yield f"{few} no difference from a system can be claimed."
    elif plan.contrast and best.annotators < FEWEST_FOR_SURE:
        yield NEVER_SURE.format(on="", people=best.annotators)
    if plan.min_coverage is not None and not plan.can_be_simulated(best):
        yield "The recommended design was not simulated: it rests on the formula alone."
    if isnan(best.coverage) and not 0.1 <= a.expected_mean <= 0.9:
        yield (
            "So near to all right or all wrong the formula promises too little: intervals of "
            "simulated cells are narrower. Check the plan by simulation."
        )


def _what_it_takes(plan: Plan) -> str:
    enough, least = plan.strong_enough, f"{100 * ENOUGH:.0f} %"
    if enough is None:
        return f"No design that anybody could run finds the difference in {least}."
    first = f"The cheapest design that finds the difference in {least}"
    if enough.items > plan.assumptions.max_items:
        first = f"Finding the difference in {least} takes more items, by the formula"
    return (
        f"{first}: {enough.annotators} people on {enough.items} items each, "
        f"for {enough.cost:.2f} {plan.assumptions.currency}."
    )


def _what_can_be_had(plan: Plan) -> str:
    """Tells what would show a difference that these items cannot show, and what they do."""
    a, enough, shown = plan.assumptions, plan.strong_enough, plan.with_all_items
    assert plan.contrast is not None
    difference, items = f"{100 * abs(plan.contrast.difference):g} points", f"{a.max_items} items"
    told = [f"{items} cannot show {difference} with a chance of {100 * ENOUGH:.0f} %."]
    if enough is None:
        told.append("No design that anybody could run can.")
    elif enough.items > a.max_items:
        told.append(
            f"That would take about {enough.items} items and {enough.annotators} people "
            f"({enough.cost:.2f} {a.currency})."
        )
    if shown:
        points, design = shown
        told.append(
            f"These {a.max_items} show {points} points, with {design.annotators} people "
            f"({design.cost:.2f} {a.currency})."
        )
    else:
        told.append("More people do not help.")
    return " ".join(told)
