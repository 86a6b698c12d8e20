"""How long FLEX's published grid takes, against a plain loop over a small part of it.

Run: python -m tools.benchmarks.bench_sample_size [--replicates 1000] [--resamples 1000]
The loop draws every example and every resample on its own, as the definition says. Both run here,
one after the other, so the ratio holds for this machine at this moment.
"""

import argparse
import random
import sys
import time
from statistics import fmean
from typing import Any

import numpy as np

from scoring.core.sample_size import (
    PUBLISHED_ACCURACIES,
    PUBLISHED_EPISODES,
    PUBLISHED_HOURS,
    simulate_intervals,
)
from scoring.episodes.grids import points_within

SMALL: dict[str, Any] = {"accuracy": 0.7, "episodes": 30, "examples": 100}
LOOP_REPLICATES, LOOP_RESAMPLES = 20, 200


def plain_loop(replicates: int, resamples: int) -> tuple[float, float]:
    rng = random.Random(1)
    held, widths = [], []
    for _ in range(replicates):
        means = []
        for _ in range(SMALL["episodes"]):
            chance = SMALL["accuracy"] + rng.gauss(0, 0.05)
            means.append(fmean(rng.random() <= chance for _ in range(SMALL["examples"])))
        boot = [fmean(rng.choices(means, k=len(means))) for _ in range(resamples)]
        low, high = np.percentile(boot, [2.5, 97.5])
        held.append(low <= SMALL["accuracy"] <= high)
        widths.append(high - low)
    return fmean(held), fmean(widths)


def timed_loop() -> float:
    """Seconds for one replicate with 1,000 resamples' worth of work."""
    started = time.perf_counter()
    coverage, width = plain_loop(LOOP_REPLICATES, LOOP_RESAMPLES)
    seconds = time.perf_counter() - started
    tell(f"plain loop: {LOOP_REPLICATES} replicates × {LOOP_RESAMPLES} resamples of {SMALL}")
    tell(f"  {seconds:.2f} s, coverage {coverage:.3f}, width {width:.4f}")
    return seconds / (LOOP_REPLICATES * LOOP_RESAMPLES)


def timed_core() -> float:
    """Seconds for the same work by the core, on one worker."""
    replicates, resamples = 2000, LOOP_RESAMPLES
    started = time.perf_counter()
    found = simulate_intervals(
        **SMALL, replicates=replicates, resamples=resamples, seed=1, workers=1
    )
    seconds = time.perf_counter() - started
    tell(f"core, one worker: {replicates} replicates × {resamples} resamples of the same")
    tell(f"  {seconds:.2f} s, coverage {found.coverage:.3f}, width {found.width:.4f}")
    return seconds / (replicates * resamples)


def timed_grid(replicates: int, resamples: int) -> None:
    points = points_within(PUBLISHED_HOURS, PUBLISHED_EPISODES, PUBLISHED_ACCURACIES)
    for workers in (1, None):
        started = time.perf_counter()
        found = simulate_intervals(
            [point["accuracy"] for point in points],
            [point["episodes"] for point in points],
            [point["examples"] for point in points],
            replicates=replicates,
            resamples=resamples,
            seed=1,
            workers=workers,
        )
        seconds = time.perf_counter() - started
        name = "one worker" if workers else "a worker for each processor"
        tell(
            f"published grid, {len(points)} configurations × {replicates} replicates × "
            f"{resamples} resamples, {name}: {seconds:.1f} s "
            f"(coverage {found.coverage.min():.3f} to {found.coverage.max():.3f})"
        )


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=1000)
    chosen = parser.parse_args()
    tell(f"ratio for the same work: {timed_loop() / timed_core():.0f}")
    timed_grid(chosen.replicates, chosen.resamples)


if __name__ == "__main__":
    main()
