"""How often the intervals of a cell cover the truth, and how often the usual shortcuts do.

Run: python -m tests.benchmarks.bench_interval_coverage [--replicates 2000]
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from scoring.core.bootstrap import resample_counts
from scoring.core.intervals import cell_interval, new_items_limits
from scoring.core.simulation import ScoreModel
from scoring.core.variance import crossed_spread, mean_squares

LEVEL = 0.95
SCENARIOS = {
    "near-identical annotators": (0.000025, 0.119935, 0.02114),
    "typical crowd": (0.0016, 0.072, 0.0864),
    "uneven crowd": (0.0053, 0.076, 0.0944),
    "near the ceiling": (0.0001, 0.0254, 0.0309),
}
SIZES = [(3, 60), (3, 200), (5, 60), (5, 200), (10, 200)]

Limits = tuple[np.ndarray, np.ndarray]


def new_items(y: np.ndarray) -> Limits:
    return new_items_limits(y.mean(axis=(1, 2), dtype=float), mean_squares(y), LEVEL)


def guard(y: np.ndarray) -> Limits:
    squares, mean = mean_squares(y), y.mean(axis=(1, 2), dtype=float)
    half = stats.t.ppf((1 + LEVEL) / 2, y.shape[1] - 1) * crossed_spread(squares)[0]
    low, high = new_items_limits(mean, squares, LEVEL)
    return np.where(squares.flat, low, mean - half), np.where(squares.flat, high, mean + half)


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
    """The first replicates only, each annotator without a fifth of the items."""
    rng = np.random.default_rng(2)
    part = np.where(rng.random((60, *y.shape[1:])) < 0.2, np.nan, y[:60])
    cells = [cell_interval(scores, rng=rng) for scores in part]
    return np.array([cell.low for cell in cells]), np.array([cell.high for cell in cells])


METHODS: dict[str, Callable[[np.ndarray], Limits]] = {
    "new items": new_items,
    "guard": guard,
    "item boot.": bootstrap(1),
    "annot. boot.": bootstrap(2),
    "gaps (60 runs)": with_gaps,
}


def coverage(model: ScoreModel, n: int, m: int, replicates: int) -> list[float]:
    y = model.draw(n, m, replicates=replicates, rng=np.random.default_rng(n * 1000 + m))
    found = []
    for method in METHODS.values():
        low, high = method(y)
        found.append(float(np.mean((low <= model.mean) & (model.mean <= high))))
    return found


def table(replicates: int) -> Iterator[str]:
    yield f"{'scenario':28}{'n':>4}{'m':>5}" + "".join(f"{name:>16}" for name in METHODS)
    for name, (annotator, item, residual) in SCENARIOS.items():
        model = ScoreModel.from_components(
            annotator_var=annotator, item_var=item, residual_var=residual
        )
        for n, m in SIZES:
            row = coverage(model, n, m, replicates)
            yield f"{name:28}{n:4}{m:5}" + "".join(f"{value:16.3f}" for value in row)


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
