"""How many episodes and examples, or people and items, a budget should buy.

Two planners. `simulate_intervals` follows FLEX (Bragg et al. 2021, section 5): coverage and width
of percentile-bootstrap intervals over episodes. `plan_people` does the same for human cells, by the
formulas of the interval that the cells will get.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from scoring.core.episodes import Configuration, Simulation, simulate_all
from scoring.core.intervals import check_estimand, check_level
from scoring.core.people_designs import (
    Aim,
    Costs,
    PeopleDesign,
    expected_width,
    formula_design,
    simulated_design,
)
from scoring.core.simulation import ScoreModel
from scoring.core.variance import Components, Floats

EPISODE_SD = 0.05
"""FLEX's assumption: how much a system's true accuracy varies over episodes."""

SIMULATED = 5
"""How many of the narrowest designs, and of the cheapest beside them, are simulated when a coverage
is asked for."""

NEARLY = 1.1
"""A design that is a tenth wider than the narrowest does as well."""

PUBLISHED_HOURS = (24, 36, 48, 60, 72, 84)
PUBLISHED_EPISODES = (5, *range(15, 151, 15))
PUBLISHED_ACCURACIES = tuple(k / 100 for k in range(30, 96, 5))


@dataclass(frozen=True)
class SimulatedIntervals:
    """Coverage and mean width of the intervals, with their Monte Carlo standard errors.

    bias is the mean distance of the bootstrap's own mean from the accuracy. All have the shape that
    accuracy, episodes and examples broadcast to; NaN where there is not one example per episode.
    """

    coverage: Floats
    coverage_se: Floats
    width: Floats
    width_se: Floats
    bias: Floats


def simulate_intervals(
    accuracy: ArrayLike,
    episodes: ArrayLike,
    examples: ArrayLike,
    *,
    replicates: int = 1000,
    resamples: int = 1000,
    seed: int,
    level: float = 0.95,
    episode_sd: float = EPISODE_SD,
    target: str = "nominal",
    workers: int | None = None,
) -> SimulatedIntervals:
    """Simulate evaluations and count how often a bootstrap interval holds the true accuracy.

    An episode's accuracy is `accuracy` + Normal(0, episode_sd), clipped to [0, 1]; each of its
    `examples` is right with that probability; the interval is the percentile bootstrap of the mean
    over `episodes`. target: what the interval should hold, the `nominal` accuracy (as in FLEX's
    published script, whose coverage near 1 therefore falls) or the `clipped` mean, which the model
    really has.

    A configuration's numbers follow from the seed and its own three values, on any number of
    workers (threads; None: one per processor), whatever else is simulated. Every forty replicates
    share their bootstrap weights, also with other configurations of as many episodes. Each interval
    stays an honest bootstrap; as the data are its own, sharing adds no more than a twentieth to the
    standard errors given. Raises ValueError on values outside their range.
    """
    check_level(level)
    _check_simulation(replicates, resamples, seed, episode_sd, target)
    values = np.broadcast_arrays(*_checked_grid(accuracy, episodes, examples))
    wanted = [
        Configuration(float(a), int(e), int(n))
        for a, e, n in zip(*map(np.ravel, values), strict=True)
    ]
    plan = Simulation(replicates, resamples, seed, level, episode_sd, target)
    found = simulate_all({c for c in wanted if c.examples > 0}, plan, workers)
    nothing = np.full(5, np.nan)
    rows = np.array([found.get(configuration, nothing) for configuration in wanted])
    columns = rows.reshape(-1, 5).T
    return SimulatedIntervals(*(column.reshape(values[0].shape)[()] for column in columns))


def published_examples(budget_hours: ArrayLike, episodes: ArrayLike) -> np.ndarray:
    """Test examples per episode that FLEX's cost model buys; below 1 the budget is too small."""
    e = np.asarray(episodes, float)
    seconds = np.asarray(budget_hours, float) * 3600
    return np.floor((seconds - 1166.0522286 * e) / (7.5251996952 * e)).astype(int)


def _checked_grid(
    accuracy: ArrayLike, episodes: ArrayLike, examples: ArrayLike
) -> Iterator[np.ndarray]:
    a, e, n = (np.asarray(values, float) for values in (accuracy, episodes, examples))
    if not ((a >= 0) & (a <= 1)).all():
        raise ValueError("An accuracy must lie between 0 and 1.")
    if not (e >= 1).all() or (e % 1 != 0).any() or (n % 1 != 0).any():
        raise ValueError("Episodes and examples are whole numbers, with at least one episode.")
    yield from (a, e, n)


def _check_simulation(
    replicates: int, resamples: int, seed: int, episode_sd: float, target: str
) -> None:
    if replicates < 1 or resamples < 1:
        raise ValueError("A simulation needs at least one replicate and one resample.")
    if seed < 0:
        raise ValueError(f"The seed is {seed}; it must be a whole number from 0.")
    if episode_sd < 0:
        raise ValueError(f"The SD over episodes is {episode_sd}; it cannot be negative.")
    if target not in ("nominal", "clipped"):
        raise ValueError(f"The target is {target!r}; it must be 'nominal' or 'clipped'.")


def plan_people(
    *,
    budget: float,
    rate: float,
    onboarding_s: float,
    shots: int,
    train_s: float,
    item_s: float,
    max_items: int,
    annotator_var: float,
    item_var: float,
    residual_var: float,
    fee: float = 0,
    estimand: str = "new_items",
    min_coverage: float | None = None,
    batches: int = 1,
    min_annotators: int = 3,
    min_items: int = 20,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[PeopleDesign, ...]:
    """For each number of annotators the most items that the budget allows, narrowest first.

    budget and the hourly rate are in one currency, times in seconds; fee is the platform's share on
    top (0.33 for a third). The variances are components on the scale of the scores, from a pilot or
    assumed. max_items is the size of the test set. With several batches (splits, episodes) every
    one gets its own annotators out of the one budget. Designs of fewer than min_items are left out.

    Without min_coverage width, se and df are the formula's, on the plain scale. With it the designs
    are ranked by the width of the interval that the cell will have, over all its batches; the
    narrowest and the cheapest that are nearly as narrow are simulated (right-or-wrong scores with
    these components), and further ones until a coverage reaches it; only those that do are
    returned, each with the width of its simulated intervals. Empty when the budget buys nothing.
    Raises ValueError on values outside their range.
    """
    costs = Costs(rate, onboarding_s, shots, train_s, item_s, fee, batches)
    parts = Components(annotator_var, item_var, residual_var)
    aim = Aim(estimand, max_items, level)
    _check_plan(budget, costs, parts, aim)
    sizes = _affordable(budget, costs, max_items, min_annotators, min(min_items, max_items))
    designs = [formula_design(n, m, costs, parts, aim) for n, m in sizes]
    if min_coverage is not None:
        designs = list(_reaching(min_coverage, designs, parts, aim, seed))
    return tuple(sorted(designs, key=lambda design: design.width))


def recommended(designs: Sequence[PeopleDesign]) -> PeopleDesign | None:
    """The cheapest whose width is within a tenth of the narrowest; of equally cheap ones the
    narrowest."""
    if not designs:
        return None
    narrowest = min(design.width for design in designs)
    nearly = [design for design in designs if design.width <= NEARLY * narrowest]
    return min(nearly, key=lambda design: (design.cost, design.width))


def _affordable(
    budget: float, costs: Costs, max_items: int, min_annotators: int, min_items: int
) -> Iterator[tuple[int, int]]:
    for n in count(max(2, min_annotators)):
        m = min(max_items, costs.most_items(n, budget))
        if m < min_items:
            return
        yield n, m


def _reaching(
    least: float, designs: list[PeopleDesign], parts: Components, aim: Aim, seed: int
) -> Iterator[PeopleDesign]:
    """Of the most promising designs, those whose simulated coverage is at least this."""
    model = ScoreModel.from_components(
        annotator_var=parts.annotator, item_var=parts.item, residual_var=parts.residual
    )
    narrowest_first = sorted(
        designs, key=lambda design: expected_width(design, parts, aim, model.mean)
    )
    promising = _promising(narrowest_first, parts, aim, model.mean)
    found = 0
    for place, design in enumerate(dict.fromkeys([*promising, *narrowest_first])):
        if place >= len(promising) and found:
            return
        checked = simulated_design(design, model, aim, seed)
        if checked.coverage >= least:
            found += 1
            yield checked


def _promising(
    designs: list[PeopleDesign], parts: Components, aim: Aim, mean: float
) -> list[PeopleDesign]:
    """Of designs, narrowest first, the first few, and the few cheapest that are nearly as
    narrow."""
    if not designs:
        return []
    most = NEARLY * expected_width(designs[0], parts, aim, mean)
    nearly = [d for d in designs if expected_width(d, parts, aim, mean) <= most]
    nearly.sort(key=lambda design: design.cost)
    return list(dict.fromkeys([*designs[:SIMULATED], *nearly[:SIMULATED]]))


def _check_plan(budget: float, costs: Costs, parts: Components, aim: Aim) -> None:
    positive = {
        "budget": budget,
        "rate": costs.rate,
        "item_s": costs.item_s,
        "max_items": aim.max_items,
        "batches": costs.batches,
    }
    not_negative = {
        "onboarding_s": costs.onboarding_s,
        "shots": costs.shots,
        "train_s": costs.train_s,
        "fee": costs.fee,
        "annotator_var": parts.annotator,
        "item_var": parts.item,
        "residual_var": parts.residual,
    }
    for name, value in positive.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be above 0.")
    for name, value in not_negative.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; it cannot be negative.")
    check_estimand(aim.estimand)
    check_level(aim.level)
