"""S1 of a million answers, against a plain double loop over answers and alternatives.

    python -m tools.benchmarks.bench_s1 [--answers 1000000] [--rounds 3]

Both score the same answers in the same run, in turns, and must give the same figures; the ratio
holds for this machine at this moment.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from scoring.core.s1 import REFERENCE_POLICIES, score_many, score_one

ITEMS = 3_600  # six tasks of 600
NAMES = ["Anna", "Boris", "Clara", "Dora", "Emil"]
WORDS = [f"{first} {last}" for first in NAMES for last in "ABCDEF"]


@dataclass(frozen=True)
class Answers:
    predictions: Sequence[Sequence[str]]
    items: Sequence[int]
    golds: Sequence[Sequence[Sequence[str]]]


def draw(count: int) -> Answers:
    """Zero to three texts in an answer, one to three alternatives in a gold, as in SQuAD and
    NER."""
    rng = random.Random(1)

    def texts() -> list[str]:
        return rng.sample(WORDS, rng.randint(0, 3))

    return Answers(
        predictions=[texts() for _ in range(count)],
        items=[rng.randrange(ITEMS) for _ in range(count)],
        golds=[[texts() for _ in range(rng.choice((1, 1, 1, 3)))] for _ in range(ITEMS)],
    )


def by_plain_loop(answers: Answers, references: str) -> np.ndarray:
    pairs = zip(answers.predictions, answers.items, strict=True)
    return np.array(
        [score_one(texts, answers.golds[item], references=references) for texts, item in pairs]
    )


def by_core(answers: Answers, references: str) -> np.ndarray:
    return score_many(answers.predictions, answers.items, answers.golds, references=references)


def timed(work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    answers = draw(options.answers)
    for references in REFERENCE_POLICIES:
        loops, cores = [], []
        for _ in range(options.rounds):
            loop_s, slow = timed(partial(by_plain_loop, answers, references))
            core_s, fast = timed(partial(by_core, answers, references))
            if not np.array_equal(slow, fast):
                raise SystemExit("The two do not give the same figures.")
            loops.append(loop_s)
            cores.append(core_s)
        ratios = [loop / core for loop, core in zip(loops, cores, strict=True)]
        sys.stdout.write(
            f"{options.answers:,} answers, references {references}: plain loop "
            f"{median(loops):.2f} s, core {median(cores):.2f} s, ratio {median(ratios):.1f} "
            f"({min(ratios):.1f} to {max(ratios):.1f})\n"
        )


if __name__ == "__main__":
    main()
