"""Planning: how many people on how many items a budget buys, or what a target width costs.

The formulas and their simulation are in the core; here a plan is assembled from assumptions, and
states them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotation.models.errors import BadInput
from scoring.core.power import ComparisonDesign, detectable_difference, power_to_differ
from scoring.core.sample_size import SIMULATED, Costs, PeopleDesign, plan_people
from scoring.core.variance import Components

LEAST_ANNOTATORS = 3
LEAST_ITEMS = 20
# Nobody recruits more for one cell: what these cannot reach is out of reach.
MOST_ANNOTATORS = 1_000
MOST_ITEMS = 10_000
LEAST_COVERAGE = 0.94
# A simulation holds all answers of many such cells in memory.
MOST_SIMULATED = 50_000
# The most that scores in [0, 1] can vary.
MOST_VARIANCE = 0.25
# Below this many annotators nobody is called better.
EXPLORATORY_BELOW = 5


@dataclass(frozen=True)
class Assumptions:
    """What a plan rests on. Times in seconds, the fee as a share on top, variances on the scale
    of scores in [0, 1]; shots are training items, batches the splits or episodes of a cell.

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
    # The smallest difference that is shown four times out of five; only for the two designs that
    # stand out.
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

    The narrowest is recommended, or the cheapest: the first whose simulated interval holds the
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
        if min_coverage is not None:
            designs = list(_checked(designs, assumptions, min_coverage, seed))
        best = _best(designs, min_coverage)
        three = _three(assumptions, budget, checked=min_coverage is not None, seed=seed)
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
            three=_singled_out(three, assumptions, contrast),
            notes=tuple(_notes(assumptions, designs, best, three)),
        )
    except ValueError as error:
        raise BadInput(f"This cannot be planned: {error}") from error


def design_of(
    assumptions: Assumptions,
    annotators: int,
    items: int,
    *,
    simulated: bool = False,
    seed: int = 0,
) -> PeopleDesign:
    """What this many people on this many items each would give; `simulated` with its coverage."""
    found = _planned_people(
        assumptions,
        budget=assumptions.costs.of(annotators, items),
        min_annotators=annotators,
        min_items=items,
        min_coverage=0.0 if simulated else None,
        seed=seed,
    )
    # The budget is spent to the cent, so one more annotator would have fewer items.
    return found[0]


def _planned_people(assumptions: Assumptions, **wanted: Any) -> tuple[PeopleDesign, ...]:
    return plan_people(**asdict(assumptions), **wanted)


def _within_budget(assumptions: Assumptions, budget: float) -> list[PeopleDesign]:
    """Narrowest first."""
    most = assumptions.costs.of(MOST_ANNOTATORS, assumptions.max_items)
    return list(
        _planned_people(
            assumptions,
            budget=min(budget, most),
            min_annotators=LEAST_ANNOTATORS,
            min_items=LEAST_ITEMS,
        )
    )


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
    found: list[PeopleDesign] = []
    for annotators in range(LEAST_ANNOTATORS, MOST_ANNOTATORS + 1):
        cheapest = min((design.cost for design in found), default=float("inf"))
        # Nothing cheaper can follow; the frontier continues a little for the eye.
        if assumptions.costs.of(annotators, assumptions.least_items) > 3 * cheapest:
            break
        if design := _fewest_items(assumptions, annotators, width):
            found.append(design)
    return sorted(found, key=lambda design: design.cost)


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


def _checked(
    designs: Sequence[PeopleDesign], assumptions: Assumptions, least: float, seed: int
) -> Iterator[PeopleDesign]:
    """The first few simulated, and further ones until one covers the truth often enough."""
    reached = 0
    for place, design in enumerate(designs):
        wanted = place < SIMULATED or (not reached and place < 4 * SIMULATED)
        found = _simulated(design, assumptions, seed) if wanted else design
        reached += found.coverage >= least
        yield found


def _simulated(design: PeopleDesign, assumptions: Assumptions, seed: int) -> PeopleDesign:
    """With its coverage, where it can be simulated."""
    if not _can_be_simulated(design, assumptions):
        return design
    return design_of(assumptions, design.annotators, design.items, simulated=True, seed=seed)


def _can_be_simulated(design: PeopleDesign, assumptions: Assumptions) -> bool:
    varies = sum(asdict(assumptions.components).values())
    size = design.annotators * max(design.items, assumptions.max_items)
    return size <= MOST_SIMULATED and 0 < varies <= MOST_VARIANCE


def _best(designs: Sequence[PeopleDesign], least: float | None) -> PeopleDesign | None:
    """The first that is known to cover the truth often enough, or is not known not to."""
    if least is None:
        return designs[0] if designs else None
    return next((design for design in designs if not design.coverage < least), None)


def _three(
    assumptions: Assumptions, budget: float | None, *, checked: bool, seed: int
) -> PeopleDesign | None:
    items = assumptions.max_items
    if budget is not None:
        items = min(items, assumptions.costs.most_items(LEAST_ANNOTATORS, budget))
    if items < assumptions.least_items:
        return None
    design = design_of(assumptions, LEAST_ANNOTATORS, items)
    return _simulated(design, assumptions, seed) if checked else design


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
    return replace(planned, detectable=detectable_difference(comparison))


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
            f"{assumptions.least_items} items each cost {cost:.2f}."
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
