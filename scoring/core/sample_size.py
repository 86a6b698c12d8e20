"""How many episodes and examples, or people and items, a budget should buy.

Two planners. `simulate_intervals` follows FLEX (Bragg et al. 2021, section 5): coverage and width
of percentile-bootstrap intervals over episodes. `plan_people` does the same for human cells, by the
formulas of the interval that the cells will get.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from scoring.core.episode_intervals import Configuration, Simulation, simulate_all
from scoring.core.intervals import (
    check_estimand,
    check_level,
    new_items_limits,
    these_items_limits,
)
from scoring.core.simulation import ScoreModel
from scoring.core.variance import (
    Components,
    Floats,
    MeanSquares,
    crossed_spread,
    mean_squares,
)

EPISODE_SD = 0.05
"""FLEX's assumption: how much a system's true accuracy varies over episodes."""

SIMULATED = 5
"""How many of the narrowest designs are simulated when a coverage is asked for."""

REPLICATES = 4000
"""Simulated cells of each of them: a standard error of a third of a point."""

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


@dataclass(frozen=True)
class PeopleDesign:
    """n annotators on m items each: what it costs, and the interval that it should give.

    cost is in the currency of the rate, width and se on the scale of the scores. coverage is that
    of a simulation, NaN where none was asked for. people counts everybody whom the design needs,
    over all batches: one person may work on one of them only.
    """

    annotators: int
    items: int
    people: int
    cost: float
    width: float
    se: float
    df: float
    coverage: float = float("nan")
    coverage_se: float = float("nan")


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

    With min_coverage the narrowest designs are simulated (right-or-wrong scores with these
    components), at least five of them and on until one reaches it; only those that do are returned.
    Empty when the budget buys nothing. Raises ValueError on values outside their range.
    """
    costs = Costs(rate, onboarding_s, shots, train_s, item_s, fee, batches)
    parts = Components(annotator_var, item_var, residual_var)
    aim = Aim(estimand, max_items, level)
    _check_plan(budget, costs, parts, aim)
    sizes = _affordable(budget, costs, max_items, min_annotators, min(min_items, max_items))
    designs = [_design(n, m, costs, parts, aim) for n, m in sizes]
    designs.sort(key=lambda design: design.width)
    if min_coverage is None:
        return tuple(designs)
    return tuple(_reaching(min_coverage, designs, parts, aim, seed))


@dataclass(frozen=True)
class Costs:
    """What one person costs; the fields are those of `plan_people`."""

    rate: float
    onboarding_s: float
    shots: int
    train_s: float
    item_s: float
    fee: float
    batches: int

    def of(self, n: int, m: int) -> float:
        seconds = self.onboarding_s + self.shots * self.train_s + m * self.item_s
        return self.batches * n * seconds * self.rate / 3600 * (1 + self.fee)

    def most_items(self, n: int, budget: float) -> int:
        per_item = self.of(n, 1) - self.of(n, 0)
        # A budget that fits to the cent must not lose an item to rounding.
        return math.floor((budget - self.of(n, 0)) / per_item + 1e-9)


@dataclass(frozen=True)
class Aim:
    """What the interval is about: which items, out of how many, at which level."""

    estimand: str
    max_items: int
    level: float


def _affordable(
    budget: float, costs: Costs, max_items: int, min_annotators: int, min_items: int
) -> Iterator[tuple[int, int]]:
    for n in count(max(2, min_annotators)):
        m = min(max_items, costs.most_items(n, budget))
        if m < min_items:
            return
        yield n, m


def _design(n: int, m: int, costs: Costs, parts: Components, aim: Aim) -> PeopleDesign:
    """The width by the interval's own formulas with expected mean squares."""
    a, i, r = parts.annotator, parts.item, parts.residual
    if aim.estimand == "new_items":
        expected = MeanSquares(
            annotator=np.float64(m * a + r),
            item=np.float64(n * i + r),
            residual=np.float64(r),
            n=n,
            m=m,
        )
        se, df = map(float, crossed_spread(expected))
    else:
        # Part of a test set says less about all of it: a finite population's correction.
        unseen = i / m * (1 - m / aim.max_items)
        se, df = math.sqrt(a / n + r / (n * m) + unseen), n - 1
    width = 2 * float(stats.t.ppf((1 + aim.level) / 2, df)) * se
    return PeopleDesign(n, m, n * costs.batches, costs.of(n, m), width, se, df)


def _reaching(
    least: float, designs: list[PeopleDesign], parts: Components, aim: Aim, seed: int
) -> Iterator[PeopleDesign]:
    """Of the narrowest designs, those whose simulated coverage is at least this."""
    model = ScoreModel.from_components(
        annotator_var=parts.annotator, item_var=parts.item, residual_var=parts.residual
    )
    found = 0
    for place, design in enumerate(designs):
        if place >= SIMULATED and found:
            return
        held = _coverage(design, model, aim, seed)
        if held >= least:
            found += 1
            spread = math.sqrt(held * (1 - held) / REPLICATES)
            yield replace(design, coverage=held, coverage_se=spread)


def _coverage(design: PeopleDesign, model: ScoreModel, aim: Aim, seed: int) -> float:
    """How often the interval of a cell of this size holds the truth."""
    rng = np.random.default_rng([seed, design.annotators, design.items])
    held = 0
    for _ in range(REPLICATES // 250):
        people = rng.standard_normal((250, design.annotators, 1), np.float32)
        items = rng.standard_normal((250, 1, aim.max_items), np.float32)
        y = model.draw_for(people, items[:, :, : design.items], rng=rng)
        squares, means = mean_squares(y), y.mean(axis=2, dtype=float)
        low, high = new_items_limits(means.mean(axis=1), squares, aim.level)
        truth: Floats | float = model.mean
        if aim.estimand == "these_items":
            t_low, t_high = these_items_limits(means, aim.level)
            low, high = np.where(squares.flat, low, t_low), np.where(squares.flat, high, t_high)
            truth = model.item_means(items[:, 0].astype(float)).mean(axis=1)
        held += int(((low <= truth) & (truth <= high)).sum())
    return held / REPLICATES


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
