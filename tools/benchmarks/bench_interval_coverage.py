"""How often the intervals of a cell cover the truth and how wide they are, over means, numbers of
annotators and of items; and how often the usual shortcuts do.

Run: python -m tools.benchmarks.bench_interval_coverage [--replicates 2000]
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from scoring.core.bootstrap import resample_counts
from scoring.core.intervals import cell_interval, new_items_limits
from scoring.core.people_designs import ScoreModel
from scoring.core.variance import Components, complete_spread, t_quantile, wilson_limits

LEVEL = 0.95
MEANS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.995)
SIZES = tuple((n, m) for n in (2, 3, 5, 10) for m in (15, 60, 200))
# Between annotators, in points, at a mean of one half; and the items' share of what is left.
CROWDS = {"alike": (1, 0.6), "typical": (4, 0.45), "uneven": (8, 0.45)}

Limits = tuple[np.ndarray, np.ndarray]


def new_items(y: np.ndarray) -> Limits:
    return new_items_limits(y, LEVEL)


def guard(y: np.ndarray) -> Limits:
    spread = complete_spread(y)
    t = t_quantile(min(y.shape[1] - 1, y.shape[2]), LEVEL)
    return wilson_limits(y.mean(axis=(1, 2)), spread.effective, t)


def bootstrap(axis: int) -> Callable[[np.ndarray], Limits]:
    """The percentile bootstrap over annotators (axis 2 averaged) or over items (axis 1)."""

    def limits(y: np.ndarray) -> Limits:
        means = y.mean(axis=axis)
        size = means.shape[1]
        counts = resample_counts(size, size, 400, np.random.default_rng(1)) / size
        low, high = np.quantile(means @ counts.T, [0.025, 0.975], axis=1)
        return low, high

    return limits


def with_gaps(y: np.ndarray) -> Limits:
    """The first replicates only; two annotators saw everything, the others two fifths."""
    rng = np.random.default_rng(2)
    part = y[:200].copy()
    part[:, 2:][rng.random(part[:, 2:].shape) < 0.6] = np.nan
    cells = [cell_interval(scores) for scores in part]
    return np.array([cell.low for cell in cells]), np.array([cell.high for cell in cells])


METHODS: dict[str, Callable[[np.ndarray], Limits]] = {
    "new items": new_items,
    "guard": guard,
    "gaps (200 runs)": with_gaps,
    "item boot.": bootstrap(1),
    "annot. boot.": bootstrap(2),
}


def crowd(mean: float, sd_points: float, item_share: float) -> ScoreModel:
    """Annotators who differ by so much at one half; the same latent shares at other means."""
    total = 0.25
    annotator = (sd_points / 100) ** 2
    item = item_share * (total - annotator)
    half = ScoreModel.of_components(Components(annotator, item, total - annotator - item))
    return ScoreModel(mean, half.annotator_share, half.item_share)


def measured(model: ScoreModel, n: int, m: int, replicates: int) -> list[float]:
    """For each method the coverage; of the first the median width in points, too."""
    rng = np.random.default_rng(n * 1000 + m)
    y = model.draw(n, m, replicates=replicates, rng=rng).astype(float)
    found = []
    for method in METHODS.values():
        low, high = method(y)
        found.append(float(np.mean((low <= model.mean) & (model.mean <= high))))
    low, high = new_items(y)
    return [100 * float(np.median(high - low)), *found]


def table(replicates: int) -> Iterator[str]:
    names = ("width", *METHODS)
    yield f"{'crowd':10}{'mean':>6}{'n':>4}{'m':>5}" + "".join(f"{name:>16}" for name in names)
    least: dict[int, float] = {}
    for name, shape in CROWDS.items():
        for mean in MEANS:
            model = crowd(mean, *shape)
            for n, m in SIZES:
                width, *held = measured(model, n, m, replicates)
                least[n] = min(least.get(n, 1.0), held[0])
                cells = f"{width:16.1f}" + "".join(f"{value:16.3f}" for value in held)
                yield f"{name:10}{mean:6.3f}{n:4}{m:5}{cells}"
    for n, coverage in least.items():
        error = stats.binom.std(replicates, coverage) / replicates
        yield f"least coverage with {n} annotators: {coverage:.3f} (SE {error:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=2000)
    replicates = parser.parse_args().replicates
    started = time.perf_counter()
    for line in table(replicates):
        sys.stdout.write(line + "\n")
    sys.stdout.write(f"{time.perf_counter() - started:.1f} s, {replicates} replicates a row\n")


if __name__ == "__main__":
    main()
