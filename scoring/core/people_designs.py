"""What a number of people and items costs, and the interval that it should give.

The engine of `sample_size.plan_people`: by the formula on the plain scale, by the interval's own
formulas with expected mean squares, and by simulation.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from scoring.core.intervals import new_items_limits, these_items_limits
from scoring.core.one_more_item import expected_spread
from scoring.core.simulation import ScoreModel
from scoring.core.variance import Components, Floats, MeanSquares, crossed_spread, nested_groups
from scoring.core.wilson import t_quantile, wilson_limits

REPLICATES = 4000
"""Simulated cells of each design: a standard error of a third of a point."""

MOST_SCORES = 200_000_000
"""Of a large design fewer cells are simulated, so that none takes minutes."""

AT_ONCE = 12_500_000
"""Scores that are drawn together."""


@dataclass(frozen=True)
class PeopleDesign:
    """n annotators on m items each, in every batch: what it costs, and the cell's interval.

    cost is in the currency of the rate, width and se on the scale of the scores. coverage is that
    of a simulation, as then is the width; NaN where none was asked for. people counts everybody
    whom the design needs, over all batches: one person may work on one of them only.
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

    @property
    def batches(self) -> int:
        return self.people // self.annotators


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


def formula_design(n: int, m: int, costs: Costs, parts: Components, aim: Aim) -> PeopleDesign:
    """By expected mean squares on the plain scale: V = A/n + I/m + R/(nm) over the cell's people,
    whose splits are fixed; for these items without I/m, but for what is left out of them."""
    people = n * costs.batches
    expected = _expected_squares(n, m, costs.batches, parts)
    if aim.estimand == "new_items":
        se, df = map(float, crossed_spread(expected))
    else:
        # Part of a test set says less about all of it: a finite population's correction.
        unseen = parts.item / m * (1 - m / aim.max_items)
        se = math.sqrt(parts.annotator / people + parts.residual / (people * m) + unseen)
        df = expected.annotator_df
    width = 2 * float(t_quantile(df, aim.level)) * se
    return PeopleDesign(n, m, people, costs.of(n, m), width, se, df)


def expected_width(design: PeopleDesign, parts: Components, aim: Aim, mean: float) -> float:
    """The width of the interval that the table will show, around this mean; for these items the
    formula's, which knows what a part of them leaves out."""
    if aim.estimand == "these_items":
        return design.width
    squares = _expected_squares(design.annotators, design.items, design.batches, parts)
    spread = expected_spread(squares, mean)
    low, high = wilson_limits(mean, spread.effective, t_quantile(spread.df, aim.level))
    return float(high - low)


def simulated_design(design: PeopleDesign, model: ScoreModel, aim: Aim, seed: int) -> PeopleDesign:
    """With the mean width of its simulated intervals, and how often these hold the truth."""
    rng = np.random.default_rng([seed, design.annotators, design.items])
    size = design.people * aim.max_items
    replicates = max(100, min(REPLICATES, MOST_SCORES // size))
    block = max(1, min(250, AT_ONCE // size))
    parts = [
        _simulated_cells(design, model, aim, min(block, replicates - start), rng)
        for start in range(0, replicates, block)
    ]
    held, width = np.concatenate(parts, axis=1)
    coverage = float(held.mean())
    return replace(
        design,
        width=float(width.mean()),
        coverage=coverage,
        coverage_se=math.sqrt(coverage * (1 - coverage) / replicates),
    )


def _simulated_cells(
    design: PeopleDesign, model: ScoreModel, aim: Aim, replicates: int, rng: np.random.Generator
) -> Floats:
    """For each cell whether its interval holds the truth, and the interval's width."""
    people = rng.standard_normal((replicates, design.people, 1), np.float32)
    items = rng.standard_normal((replicates, 1, aim.max_items), np.float32)
    y = model.draw_for(people, items[:, :, : design.items], rng=rng).astype(float)
    splits = nested_groups(np.repeat(range(design.batches), design.annotators), design.people)
    truth: Floats | float = model.mean
    if aim.estimand == "these_items":
        truth = model.item_means(items[:, 0].astype(float)).mean(axis=1)
        low, high = these_items_limits(y, aim.level, splits)
    else:
        low, high = new_items_limits(y, aim.level, splits)
    return np.array([(low <= truth) & (truth <= high), high - low])


def _expected_squares(n: int, m: int, batches: int, parts: Components) -> MeanSquares:
    """Of a cell of n people in each of several splits, on the same m items."""
    people = n * batches
    return MeanSquares(
        annotator=np.float64(m * parts.annotator + parts.residual),
        item=np.float64(people * parts.item + parts.residual),
        residual=np.float64(parts.residual),
        n=people,
        m=m,
        groups=batches if n > 1 else 1,
    )
