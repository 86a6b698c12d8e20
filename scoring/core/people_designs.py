"""What a number of people and items costs, and the interval that it should give: by the formula on
the plain scale, by the interval's own formulas with expected mean squares, and by simulation of
right-or-wrong scores with stated variance components. The engine of `sample_size.plan_people`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count

import numpy as np
import scipy
from numpy.typing import NDArray

from scoring.core import intervals
from scoring.core.power import (
    Chances,
    Contrast,
    LogitModel,
    expected_squares,
    power_of,
    simulated_chances,
)
from scoring.core.variance import (
    Components,
    Floats,
    crossed_spread,
    expected_spread,
    satterthwaite,
    t_quantile,
    wilson_limits,
    within,
)


@dataclass(frozen=True)
class ScoreModel:
    """Shares of latent variance that are an annotator's and an item's own; the rest is noise."""

    mean: float
    annotator_share: float
    item_share: float

    @classmethod
    def of_components(cls, parts: Components) -> "ScoreModel":
        """The model of 0/1 scores with these components, on the upper side of one half: the mean p
        follows from p(1−p), the sum of the three; ValueError above 1/4, the most it can be."""
        total = parts.annotator + parts.item + parts.residual
        if not 0 < total <= 0.25 + 1e-9:
            raise ValueError(
                f"Annotator, item and residual variance add up to {total:g}; "
                "scores in [0, 1] vary by more than 0 and at most 0.25."
            )
        mean = (1 + np.sqrt(max(0.0, 1 - 4 * total))) / 2
        shares = [_latent_share(mean, part) for part in (parts.annotator, parts.item)]
        # Close to 1 together only if the residual is next to nothing.
        scale = max(1.0, sum(shares) / 0.999)
        return cls(float(mean), shares[0] / scale, shares[1] / scale)

    def draw(
        self, n: int, m: int, *, replicates: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Scores of replicates × n × m, each replicate with new annotators and new items."""
        people = rng.standard_normal((replicates, n, 1), np.float32)
        items = rng.standard_normal((replicates, 1, m), np.float32)
        return self.draw_for(people, items, rng=rng)

    def draw_for(
        self, people: NDArray[np.float32], items: NDArray[np.float32], *, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Scores of given annotators and items, as standard normal effects that broadcast."""
        noise = np.float32(1 - self.annotator_share - self.item_share)
        latent = people * np.float32(np.sqrt(self.annotator_share))
        latent = latent + items * np.float32(np.sqrt(self.item_share))
        drawn = rng.standard_normal(latent.shape, np.float32)
        drawn *= np.sqrt(noise)
        drawn += latent
        above: NDArray[np.bool_] = drawn > -scipy.special.ndtri(self.mean)
        return above.astype(np.float32)

    def item_means(self, items: Floats) -> Floats:
        """What a new annotator scores on average on items of these standard normal effects."""
        threshold = scipy.special.ndtri(self.mean) + items * np.sqrt(self.item_share)
        return np.asarray(scipy.special.ndtr(threshold / np.sqrt(1 - self.item_share)))


def _latent_share(mean: float, variance: float) -> float:
    """The latent correlation that gives two 0/1 scores of this mean this covariance."""
    if variance <= 0:
        return 0.0
    threshold = scipy.special.ndtri(mean)

    def excess(share: float) -> float:
        both = mean - 2 * scipy.special.owens_t(threshold, np.sqrt((1 - share) / (1 + share)))
        return float(both - mean**2 - variance)

    # The extreme is all variance shared; rounding may leave it a hair short.
    return 1.0 if excess(1.0) <= 0 else float(scipy.optimize.brentq(excess, 0.0, 1.0))


REPLICATES = 4000
"""Simulated cells of each design: a standard error of a third of a point."""

MOST_SCORES = 12_000_000
"""Of a large design fewer cells are simulated, so that a page waits for none: of 42 people on 200
items 1,428, a standard error of half a point."""

AT_ONCE = 12_500_000
"""Scores that are drawn together."""

WIDTHS = (0.05, 0.8, 0.95)
"""Of simulated widths these quantiles are told: four of five studies get at most the second."""


@dataclass(frozen=True)
class PeopleDesign:
    """n people, over all batches and splits of a cell, on m items each: what it costs, in the
    currency of the rate, and the cell's interval on the scale of the scores. coverage is that of a
    simulation, as then is the width, with its quantiles (`WIDTHS`); NaN and none without one. Of a
    difference to show: the power, by the formula, and the chances, of simulated studies."""

    annotators: int
    items: int
    cost: float
    width: float
    se: float
    df: float
    coverage: float = float("nan")
    coverage_se: float = float("nan")
    widths: tuple[float, ...] = ()
    power: float | None = None
    chances: Chances | None = None
    # Of a test set in parts: the items of all people together.
    seen: int | None = None

    @property
    def has_too_few(self) -> bool:
        """People, for any claim of a difference."""
        return self.annotators < intervals.EXPLORATORY_BELOW


@dataclass(frozen=True)
class Costs:
    """What one person costs; the fields are those of `plan_people`."""

    rate: float
    onboarding_s: float
    shots: int
    train_s: float
    item_s: float
    fee: float

    def of(self, n: int, m: int) -> float:
        seconds = self.onboarding_s + self.shots * self.train_s + m * self.item_s
        return n * seconds * self.rate / 3600 * (1 + self.fee)

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
    """Find the width by expected mean squares on the plain scale: V = A/n + I/m + R/(nm); for these
    items without I/m, but for what is left out of them."""
    if aim.estimand == "new_items":
        se, df = map(float, crossed_spread(expected_squares(parts, n, m)))
    else:
        # Part of a test set says less about all of it: a finite population's correction.
        unseen = parts.item / m * (1 - m / aim.max_items)
        se = math.sqrt(parts.annotator / n + parts.residual / (n * m) + unseen)
        df = n - 1
    width = 2 * float(t_quantile(df, aim.level)) * se
    return PeopleDesign(n, m, costs.of(n, m), width, se, df)


def parts_design(
    n: int, items: int, viewers: int, costs: Costs, parts: Components, aim: Aim
) -> PeopleDesign:
    """n people on so many items each, of which every one has so many people, with the expected mean
    squares of the additive fit: V = A/n + I/m + R/(m·viewers), for these items with I/m only for
    what is left out of them. Raises ValueError where the items have no two people each."""
    m = min(aim.max_items, n * items // viewers)
    total = m * viewers
    if viewers < 2 or total - n - m < 0:
        raise ValueError("Parts need two people an item, and more answers than people and items.")
    people = parts.annotator / n + parts.residual / total * (n - 1) / (total - m)
    among = parts.item / m + parts.residual / total * (m - 1) / (total - n)
    noise = parts.residual / total * (1 - (n - 1) / (total - m) - (m - 1) / (total - n))
    if aim.estimand == "these_items":
        among -= parts.item / aim.max_items
    variance = max(people + among + noise, people, among)
    terms = ((people, n - 1), (among, m - 1), (noise, total - n - m + 1))
    df = float(within(satterthwaite(np.float64(variance), *terms), n - 1, m - 1))
    se = math.sqrt(variance)
    width = 2 * float(t_quantile(df, aim.level)) * se
    return PeopleDesign(n, items, costs.of(n, items), width, se, df, seen=m)


def expected_width(design: PeopleDesign, parts: Components, aim: Aim, mean: float) -> float:
    """The width of the interval that the table will show, around this mean; for these items the
    formula's, which knows what a part of them leaves out."""
    if aim.estimand == "these_items":
        return design.width
    spread = expected_spread(expected_squares(parts, design.annotators, design.items), mean)
    low, high = wilson_limits(mean, spread.effective, t_quantile(spread.df, aim.level))
    return float(high - low)


def simulated_design(design: PeopleDesign, model: ScoreModel, aim: Aim, seed: int) -> PeopleDesign:
    """Give a design the mean width of its simulated intervals and its quantiles, and how often
    these hold the truth."""
    rng = np.random.default_rng([seed, design.annotators, design.items])
    size = design.annotators * aim.max_items
    replicates = max(100, min(REPLICATES, MOST_SCORES // size))
    block = max(1, min(250, AT_ONCE // size))
    parts = [
        _simulated_cells(design, model, aim, min(block, replicates - start), rng)
        for start in range(0, replicates, block)
    ]
    holds, width = np.concatenate(parts, axis=1)
    coverage = float(holds.mean())
    return replace(
        design,
        width=float(width.mean()),
        coverage=coverage,
        coverage_se=math.sqrt(coverage * (1 - coverage) / replicates),
        widths=tuple(np.quantile(width, WIDTHS).tolist()),
    )


def _simulated_cells(
    design: PeopleDesign, model: ScoreModel, aim: Aim, replicates: int, rng: np.random.Generator
) -> Floats:
    """Whether each cell's interval holds the truth, and the interval's width."""
    people = rng.standard_normal((replicates, design.annotators, 1), np.float32)
    items = rng.standard_normal((replicates, 1, aim.max_items), np.float32)
    y = model.draw_for(people, items[:, :, : design.items], rng=rng).astype(float)
    truth: Floats | float = model.mean
    if aim.estimand == "these_items":
        truth = model.item_means(items[:, 0].astype(float)).mean(axis=1)
        low, high = intervals.these_items_limits(y, aim.level)
    else:
        low, high = intervals.new_items_limits(y, aim.level)
    return np.array([(low <= truth) & (truth <= high), high - low])


def with_chances(
    design: PeopleDesign, model: LogitModel, contrast: Contrast, seed: int
) -> PeopleDesign:
    n, m = design.annotators, design.items
    chances = simulated_chances(model, contrast, n, m, seed=seed)
    return replace(with_power(design, model, contrast), chances=chances)


def with_power(design: PeopleDesign, model: LogitModel, contrast: Contrast) -> PeopleDesign:
    power = power_of(model, contrast, design.annotators, design.items)
    return replace(design, power=None if math.isnan(power) else power)


def planned_cell(
    *, annotators: int, items: int, mean: float, annotator_var: float, item_var: float
) -> PeopleDesign:
    """What one cell of right or wrong answers will give, without its cost (NaN): the mean width of
    its 95 % interval for new items and its quantiles. Raises ValueError on values outside their
    range, and where no right or wrong answers vary so."""
    if annotators < 2 or items < 2:
        raise ValueError("An interval needs two annotators and two items.")
    parts = Components(annotator_var, item_var, mean * (1 - mean) - annotator_var - item_var)
    costs, aim = Costs(math.nan, 0, 0, 0, 0, 0), Aim("new_items", items, 0.95)
    design = formula_design(annotators, items, costs, parts, aim)
    return simulated_design(design, ScoreModel.of_components(parts), aim, seed=0)


SIMULATED = 5
"""How many of the narrowest designs, and of the cheapest beside them, are simulated when a coverage
is asked for."""

NEARLY = 1.1
"""A design that is a tenth wider than the narrowest does as well."""


def recommended(designs: Sequence[PeopleDesign]) -> PeopleDesign | None:
    """The cheapest whose width is within a tenth of the narrowest; of equally cheap ones the
    narrowest."""
    if not designs:
        return None
    narrowest = min(design.width for design in designs)
    nearly = [design for design in designs if design.width <= NEARLY * narrowest]
    return min(nearly, key=lambda design: (design.cost, design.width))


def affordable(
    budget: float, costs: Costs, max_items: int, min_annotators: int, min_items: int
) -> Iterator[tuple[int, int]]:
    for n in count(max(2, min_annotators)):
        m = min(max_items, costs.most_items(n, budget))
        if m < min_items:
            return
        yield n, m


def reaching(
    least: float, designs: list[PeopleDesign], parts: Components, aim: Aim, seed: int
) -> Iterator[PeopleDesign]:
    """Yields of the most promising designs those whose simulated coverage is at least this."""
    model = ScoreModel.of_components(parts)
    widths = {design: expected_width(design, parts, aim, model.mean) for design in designs}
    narrowest_first = sorted(widths, key=widths.__getitem__)
    # The first few, and the few cheapest that are nearly as narrow.
    most = NEARLY * min(widths.values(), default=0.0)
    nearly = sorted((d for d in narrowest_first if widths[d] <= most), key=lambda d: d.cost)
    promising = dict.fromkeys([*narrowest_first[:SIMULATED], *nearly[:SIMULATED]])
    reached = 0
    for place, design in enumerate(dict.fromkeys([*promising, *narrowest_first])):
        if place >= len(promising) and reached:
            return
        checked = simulated_design(design, model, aim, seed)
        if checked.coverage >= least:
            reached += 1
            yield checked


POSITIVE = ("budget", "rate", "item_s", "max_items")
"""What a plan takes only above 0; the rest may be 0."""


def check_plan(budget: float, costs: Costs, parts: Components, aim: Aim) -> None:
    numbers = {"budget": budget, "max_items": aim.max_items, **asdict(costs)}
    numbers |= {f"{name}_var": value for name, value in asdict(parts).items()}
    for name, value in numbers.items():
        if name in POSITIVE and not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be above 0.")
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; it cannot be negative.")
    intervals.check_estimand(aim.estimand)
    intervals.check_level(aim.level)
