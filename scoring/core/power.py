"""How likely people and a system are shown to differ, before anybody has worked.

Right-or-wrong answers follow a logit model: μ + a·u + b·z for annotator u and item z, standard
normal; the system's runs take the place of annotators, on items correlated with the people's. Its
parameters are solved for assumed variance components, by Gauss and Hermite's quadrature. The power
is a noncentral t at the expected mean squares of the test; a plan is simulated from the same model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from scoring.core.comparison import FEWEST_RUNS, PEOPLE_ON_EXTRA, SYSTEM_ON_EXTRA
from scoring.core.intervals import EXPLORATORY_BELOW, FEWEST_FOR_SURE
from scoring.core.variance import (
    Components,
    Floats,
    MeanSquares,
    mean_squares,
    satterthwaite,
    t_quantile,
    with_constant_items,
    within,
)

ALPHA = 0.05


@dataclass(frozen=True)
class Contrast:
    """The difference to show, people minus the system, and what is assumed of the system and of the
    test, on the scale of the scores. run_sd: over runs, counted from five on; correlation: of what
    makes an item hard for either side; margin: within it both are as good; comparisons: of the
    family. Raises ValueError on values outside their range."""

    difference: float
    runs: int = 1
    run_sd: float = 0.02
    correlation: float = 0.5
    margin: float = 0.0
    comparisons: int = 1

    def __post_init__(self) -> None:
        if not -1 < self.difference < 1:
            raise ValueError(f"The difference is {self.difference:g}; it lies between -1 and 1.")
        if self.runs < 1 or self.comparisons < 1:
            raise ValueError("A comparison needs at least one run and one system.")
        if not 0 <= self.run_sd < 0.5:
            raise ValueError(f"The SD over runs is {self.run_sd:g}; it lies between 0 and 0.5.")
        if not -1 <= self.correlation <= 1:
            raise ValueError(
                f"The items' correlation is {self.correlation:g}; it lies between -1 and 1."
            )
        if not 0 <= self.margin < 1:
            raise ValueError(f"The margin is {self.margin:g}; it lies between 0 and 1.")

    def is_decided_by(self, annotators: int) -> bool:
        """Whether so many people can show it, as ahead or behind."""
        return annotators >= EXPLORATORY_BELOW and abs(self.difference) > self.margin

    @property
    def sampled_run_sd(self) -> float:
        return self.run_sd if self.runs >= FEWEST_RUNS else 0.0


@dataclass(frozen=True)
class LogitModel:
    """mu, a and b of the people, mu and s (a run's) of the system, whose b is the people's; what
    follows for either side's variance; and how much the expected difference varies over items."""

    mu: float
    a: float
    b: float
    system_mu: float
    s: float
    people: Components
    system: Components
    item_difference_var: float


NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@lru_cache(maxsize=256)
def logit_model(
    mean: float, annotator_var: float, item_var: float, contrast: Contrast
) -> LogitModel:
    """Model people who score this on average, with these components between them and between items;
    ValueError where no right or wrong answers are like that."""
    q = mean - contrast.difference
    if not 0 < mean < 1 or not 0 < q < 1:
        raise ValueError(
            f"With people at {100 * mean:g} % and the system at {100 * q:g} % nothing can be "
            "planned: both must lie between 0 and 100 %."
        )
    if min(annotator_var, item_var) < 0:
        raise ValueError("A variance cannot be negative.")
    mu, a, b = _solved(mean, annotator_var, item_var)
    system_mu, s, _ = _solved(q, contrast.sampled_run_sd**2, b=b)
    rho = contrast.correlation
    pairs = rho * NODES[:, None] + np.sqrt(1 - rho**2) * NODES
    beside = np.tensordot(WEIGHTS, _chances(system_mu, s, b, pairs), 1) @ WEIGHTS
    together = WEIGHTS @ (WEIGHTS @ _chances(mu, a, b) * beside) - mean * (WEIGHTS @ beside)
    people, system = _components(mu, a, b), _components(system_mu, s, b)
    apart = people.item + system.item - 2 * float(together)
    return LogitModel(mu, a, b, system_mu, s, people, system, apart)


def _chances(mu: float, a: float, b: float, items: Floats = NODES) -> Floats:
    """The chances of a right answer: of annotators at the nodes, × items."""
    return np.asarray(scipy.special.expit(np.add.outer(mu + a * NODES, b * items)))


def _moments(mu: float, a: float, b: float) -> tuple[float, float, float]:
    """Mean, and the variances between annotators and between items."""
    chances = _chances(mu, a, b)
    by_annotator, by_item = chances @ WEIGHTS, WEIGHTS @ chances
    mean = float(WEIGHTS @ by_item)
    between = float(WEIGHTS @ (by_annotator - mean) ** 2)
    return mean, between, float(WEIGHTS @ (by_item - mean) ** 2)


def _components(mu: float, a: float, b: float) -> Components:
    mean, annotator, item = _moments(mu, a, b)
    return Components(annotator, item, mean * (1 - mean) - annotator - item)


def _solved(
    mean: float, annotator_var: float, item_var: float | None = None, *, b: float = 0.0
) -> tuple[float, float, float]:
    """μ, a and b with these moments; without a variance between items, μ and a beside this b."""
    targets = (annotator_var, item_var or 0.0)
    free = [k for k in (0, 1) if targets[k] > 0]
    room = max(mean * (1 - mean) - sum(targets), 1e-9)

    def moved(values: Floats) -> tuple[float, float, float]:
        scales = [0.0, b]
        for k, value in zip(free, values[1:], strict=True):
            scales[k] = float(np.exp(np.clip(value, -30, 6)))
        return float(values[0]), scales[0], scales[1]

    def off(values: Floats) -> list[float]:
        centre, *variances = _moments(*moved(values))
        return [centre - mean, *(np.log(variances[k] / targets[k] + 1e-300) for k in free)]

    # Where answers vary little, a variance is about the squared scale times p(1 − p)².
    scales = np.log([np.sqrt(targets[k] / (mean * (1 - mean) * room)) for k in free])
    solution = scipy.optimize.root(off, [scipy.special.logit(mean), *scales], tol=1e-13)
    if not np.abs(off(solution.x)).max() < 1e-9:
        raise ValueError(
            f"Right or wrong answers with a mean of {100 * mean:g} % do not vary as is assumed."
        )
    return moved(solution.x)


def planned_power(
    *,
    mean: float,
    annotator_var: float,
    item_var: float,
    difference: float,
    annotators: int,
    items: int,
    runs: int,
    run_sd: float = 0.02,
    correlation: float = 0.5,
    margin: float = 0.0,
    alpha: float = ALPHA,
) -> float:
    """The chance that people who score `mean` are shown to be ahead of a system `difference` below
    them, or behind one above them, by more than the margin, with an unadjusted p of alpha or less.

    All on the scale of scores in [0, 1]; the variances are between annotators and between items.
    NaN with fewer than five annotators, or a difference within the margin. Raises ValueError on
    values outside their range, and where no right or wrong answers vary like that.
    """
    if annotators < 1 or items < 1 or not 0 < alpha < 1:
        raise ValueError("Power takes annotators, items and an alpha between 0 and 1.")
    contrast = Contrast(difference, runs, run_sd, correlation, margin)
    model = logit_model(mean, annotator_var, item_var, contrast)
    return power_of(model, contrast, annotators, items, alpha)


def power_of(
    model: LogitModel, contrast: Contrast, annotators: int, items: int, alpha: float = ALPHA
) -> float:
    """`planned_power` by a solved model."""
    if not contrast.is_decided_by(annotators):
        return np.nan
    n, m, r, d = annotators, items, contrast.runs, contrast.difference
    noise = model.people.residual / n + model.system.residual / r
    each = model.item_difference_var + noise
    spread = model.people.annotator / n + model.system.annotator / r + each / m
    sides = [(model.people, n), (model.system, r)][: 2 if r >= FEWEST_RUNS else 1]
    samples = [with_constant_items(expected_squares(parts, k, m), 2) for parts, k in sides]
    item_var = ((m - 1) * each + 0.5 + 2 * d**2 * m / (m + 2)) / (m + 1)
    variance, df = _difference_spread(samples, np.float64(item_var))
    limit = float(t_quantile(df, 1 - alpha) * np.sqrt(variance / spread))
    return 1 - float(scipy.special.nctdtr(df, (abs(d) - contrast.margin) / np.sqrt(spread), limit))


def expected_squares(parts: Components, n: int, m: int) -> MeanSquares:
    """The mean squares to expect of n × m scores with these components."""
    e = np.float64(parts.residual)
    return MeanSquares(m * parts.annotator + e, n * parts.item + e, e, n, m)


def _difference_spread(
    samples: Sequence[MeanSquares], item_var: Floats | np.float64
) -> tuple[Floats, Floats]:
    """V and degrees of freedom of a difference, from the mean squares of the sides that are
    samples and the variance of the item differences; all with the two more items."""
    m = samples[0].m
    between = [side.annotator / (side.n * m) for side in samples]
    noise = [side.residual / (side.n * m) for side in samples]
    people, items = sum(between), item_var / m
    variance = np.maximum(people + items - sum(noise), np.maximum(people, items))
    df = satterthwaite(
        variance,
        (items, m - 1),
        *((term, side.n - 1) for term, side in zip(between, samples, strict=True)),
        *((term, (side.n - 1) * (m - 1)) for term, side in zip(noise, samples, strict=True)),
    )
    return np.asarray(variance), within(df, min(side.n for side in samples) - 1, m - 1)


@dataclass(frozen=True)
class Chances:
    """The chances of a simulated plan: that its difference is probable (p ≤ .05), and sure (p ≤
    .05 over the number of comparisons, and p ≤ .05 without any one annotator; none below eight
    people)."""

    probable: float
    sure: float


DRAWS = 1000
MOST_SCORES = 100_000_000
"""Of a large plan fewer studies are drawn, so that it takes seconds."""
AT_ONCE = 4_000_000


def simulated_chances(
    model: LogitModel,
    contrast: Contrast,
    annotators: int,
    items: int,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Chances | None:
    """Play whole studies by the model, through the test itself; None where the difference cannot be
    shown."""
    if not contrast.is_decided_by(annotators):
        return None
    rng = np.random.default_rng([seed, annotators, items])
    scores = (annotators + contrast.runs) * items
    draws = max(100, min(draws, MOST_SCORES // scores))
    block = max(1, AT_ONCE // scores)
    p_values = np.concatenate(
        [
            _p_values(*_draw(model, contrast, annotators, items, size, rng), contrast)
            for size in (min(block, draws - start) for start in range(0, draws, block))
        ]
    )
    sure = (p_values[:, 0] <= ALPHA / contrast.comparisons) & (p_values <= ALPHA).all(axis=1)
    is_enough = annotators >= FEWEST_FOR_SURE
    return Chances(float((p_values[:, 0] <= ALPHA).mean()), float(sure.mean()) * is_enough)


Answers = NDArray[np.float32]


def _draw(
    model: LogitModel, contrast: Contrast, n: int, m: int, draws: int, rng: np.random.Generator
) -> tuple[Answers, Floats]:
    """Right or wrong answers of people, and of runs: of fewer than five only their item means."""
    items, noise = rng.standard_normal((2, draws, 1, m), np.float32)
    rho, r = contrast.correlation, contrast.runs
    theirs = rho * items + np.sqrt(1 - rho**2) * noise
    people = rng.standard_normal((draws, n, 1), np.float32) * model.a + model.b * items + model.mu
    y = rng.random((draws, n, m), np.float32) < scipy.special.expit(people.astype(np.float32))
    chance = model.system_mu + model.b * theirs
    if r < FEWEST_RUNS:
        fixed = rng.binomial(r, scipy.special.expit(chance.astype(float))) / r
        return y.astype(np.float32), fixed
    chance = scipy.special.expit(rng.standard_normal((draws, r, 1), np.float32) * model.s + chance)
    runs = rng.random((draws, r, m), np.float32) < chance
    return y.astype(np.float32), runs.astype(float)


def _p_values(people: Answers, system: Floats, contrast: Contrast) -> Floats:
    """draws × (1 + n): of the direction that is true, with everybody and without each in turn. Mean
    squares come from sums, quickly had without a person; all include the two more items."""
    n, m = people.shape[1], people.shape[2] + 2
    extra = np.broadcast_to(SYSTEM_ON_EXTRA, (*system.shape[:2], 2))
    system = np.concatenate([system, extra], axis=2)
    fixed, totals = system.mean(axis=1), people.sum(axis=2, dtype=float)
    by_item = np.stack([people.sum(axis=1), fixed[:, :-2].astype(np.float32)], axis=2)
    crossed = (people @ by_item).astype(float)
    squared = PEOPLE_ON_EXTRA @ PEOPLE_ON_EXTRA
    # By annotator: sum, sum of squares, squared sum, products with the items' sums and the system.
    sums, squares = totals + PEOPLE_ON_EXTRA.sum(), totals + squared
    products = crossed[..., 0] + n * squared
    beside = crossed[..., 1] + PEOPLE_ON_EXTRA @ SYSTEM_ON_EXTRA
    parts = np.stack([sums, squares, sums**2, products, beside])
    whole = parts.sum(axis=2, keepdims=True)
    # What the squares of the items' sums lose with a person.
    parts[3] = 2 * products - squares
    runs = [mean_squares(system[:, None])] if contrast.runs >= FEWEST_RUNS else []
    against = fixed.sum(axis=1)[:, None], (fixed**2).sum(axis=1)[:, None]
    both = (whole, n), (whole - parts, n - 1)
    return np.concatenate([_p(*of, m, against, runs, contrast) for of in both], axis=1)


def _p(
    sums: Floats,
    n: int,
    m: int,
    against: tuple[Floats, Floats],
    runs: list[MeanSquares],
    contrast: Contrast,
) -> Floats:
    total, squares, by_annotator, by_item, beside = sums
    people = by_annotator / m - total**2 / (n * m)
    rest = (squares - by_item / n - people) / ((n - 1) * (m - 1))
    side = MeanSquares(people / (n - 1), np.float64(np.nan), rest, n, m)
    apart = total / n - against[0]
    items = by_item / n**2 - 2 * beside / n + against[1] - apart**2 / m
    variance, df = _difference_spread([side, *runs], items / (m - 1))
    # The two more items take nothing from the difference.
    beyond = np.sign(contrast.difference) * apart / (m - 2) - contrast.margin
    return np.asarray(2 * scipy.special.stdtr(df, -beyond / np.sqrt(variance)))
