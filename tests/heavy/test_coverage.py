"""What intervals and verdicts promise, in simulated studies: how often an interval holds the truth,
and how often a study without any difference claims a sure one. A bound leaves three standard errors
of the simulation."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from scoring.core.comparison import paired_difference, paired_without_each
from scoring.core.intervals import cell_interval
from scoring.core.people_designs import ScoreModel
from scoring.core.shared import shared_average
from scoring.core.variance import Components, Floats
from scoring.core.verdicts import SURE, Member, verdicts

pytestmark = pytest.mark.long

Rng = np.random.Generator
STUDIES = 600


def model(mean: float, sd: float) -> ScoreModel:
    """Right or wrong answers of people who differ by this SD, on items as in real tasks."""
    total = mean * (1 - mean)
    people = min(sd**2, total / 3)
    return ScoreModel.of_components(Components(people, total**2, total - people - total**2))


def least(bound: float, studies: int = STUDIES) -> float:
    return bound - 3 * (bound * (1 - bound) / studies) ** 0.5


def cells(of: ScoreModel, n: int, m: int, rng: Rng, studies: int = STUDIES) -> Iterator[Floats]:
    for _ in range(studies // 50):
        yield from of.draw(n, m, replicates=50, rng=rng).astype(float)


@pytest.mark.parametrize(
    ("n", "m", "mean", "sd", "bound"),
    [
        *(
            (n, m, mean, sd, 0.93)
            for n, m in product((5, 8, 15, 30), (60, 200))
            for mean, sd in ((0.6, 0.08), (0.85, 0.08), (0.97, 0.04))
        ),
        # People of whom nearly all are nearly perfect and a few are far below.
        (5, 200, 0.97, 0.08, 0.7),
        (15, 200, 0.97, 0.08, 0.85),
        (30, 200, 0.97, 0.08, 0.89),
        (3, 200, 0.85, 0.08, 0.90),
        (2, 200, 0.85, 0.08, 0.87),
    ],
)
def test_intervals_for_new_items_hold_the_mean(
    n: int, m: int, mean: float, sd: float, bound: float
) -> None:
    rng = np.random.default_rng([1, n, m, int(1000 * mean)])
    found = [cell_interval(y) for y in cells(model(mean, sd), n, m, rng)]
    assert np.mean([one.low <= mean <= one.high for one in found]) >= least(bound)


@pytest.mark.parametrize(
    ("n", "viewers", "m", "mean"),
    [(n, v, 200, p) for n, v, p in product((15, 40, 150), (2, 3), (0.5, 0.9, 0.995))],
)
def test_intervals_of_parts_hold_the_mean(n: int, viewers: int, m: int, mean: float) -> None:
    studies = 200
    rng = np.random.default_rng([2, n, viewers, int(1000 * mean)])
    held, widths = [], []
    for y in cells(model(mean, 0.08), n, m, rng, studies):
        seen = np.zeros((n, m), bool)
        order, place = rng.permutation(n * viewers) % n, 0
        for item in range(m):
            who = {order[(place + k) % len(order)] for k in range(viewers)}
            while len(who) < viewers:
                who.add(int(rng.integers(n)))
            seen[[*who], item] = True
            place += viewers
        one = cell_interval(np.where(seen, y, np.nan))
        held.append(one.low <= mean <= one.high)
        widths.append(one.high - one.low)
    assert np.mean(held) >= least(0.94, studies)


@pytest.mark.parametrize(
    ("n", "m", "runs", "run_sd"), [*product((8, 15), (60, 200), (1, 5), (0.0, 0.04, 0.07))]
)
def test_intervals_of_differences_hold_the_difference(
    n: int, m: int, runs: int, run_sd: float
) -> None:
    """The system finds hard what people do, by half; fewer than five runs are these outputs."""
    rng = np.random.default_rng([3, n, m, runs, int(1000 * run_sd)])
    people = model(0.85, 0.08)
    held = []
    for _ in range(STUDIES):
        items = rng.standard_normal((1, 1, m), np.float32)
        who = rng.standard_normal((1, n, 1), np.float32)
        y = people.draw_for(who, items, rng=rng)[0].astype(float)
        skills = 0.8 + run_sd * rng.standard_normal(runs)
        skills = np.clip(skills, 0.55, 0.98)
        hard = 0.5 * items[0, 0] + 0.75**0.5 * rng.standard_normal(m)
        rows = [_right(p, hard, rng) for p in skills]
        truth = 0.85 - (skills.mean() if runs < 5 else 0.8)
        found = paired_difference(y, rows)
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) >= least(0.93)


def _right(p: float, hard: Floats, rng: Rng) -> Floats:
    """One run of this mean over new items, a third of whose variance lies in how hard they are."""
    one = ScoreModel(p, 0.0, 1 / 3)
    chances = one.item_means(hard)
    right: Floats = (rng.random(len(hard)) < chances).astype(float)
    return right


@pytest.mark.parametrize(("n", "tasks", "share"), [(8, 2, 1.0), (8, 6, 1.0), (15, 4, 0.5)])
def test_averages_of_people_in_several_tasks_hold_the_mean(
    n: int, tasks: int, share: float
) -> None:
    """People's ability is the same in all of their tasks; a part of them did all."""
    rng = np.random.default_rng([4, n, tasks])
    of, mean = model(0.85, 0.1), 0.85
    held = []
    for _ in range(STUDIES):
        both = round(share * n)
        ability = rng.standard_normal((both, 1), np.float32)
        matrices, persons = [], []
        for task in range(tasks):
            alone = rng.standard_normal((n - both, 1), np.float32)
            who = np.concatenate([ability, alone])[None]
            items = rng.standard_normal((1, 1, 60), np.float32)
            matrices.append(of.draw_for(who, items, rng=rng)[0].astype(float))
            persons.append([*range(both), *((task, k) for k in range(n - both))])
        found = shared_average(matrices, persons)
        held.append(found.low <= mean <= found.high)
    assert np.mean(held) >= least(0.92)


@pytest.mark.parametrize(
    ("n", "m", "sd", "careless"),
    [(8, 60, 0.06, 0.0), (8, 200, 0.13, 0.1), (15, 60, 0.13, 0.1), (15, 200, 0.06, 0.0)],
)
def test_studies_without_a_difference_are_seldom_sure_of_one(
    n: int, m: int, sd: float, careless: float
) -> None:
    """Six tasks and one run of a system that is as good as those whom a floor of 70 % on twenty
    items lets in; in two of the settings one arrival in ten guesses."""
    studies = 300
    rng = np.random.default_rng([5, n, m, int(100 * sd)])
    people = model(0.85, sd)
    pool = _arrivals(people, 40_000, careless, rng)
    truth = float(pool.mean())
    wrong = 0
    for _ in range(studies):
        members = []
        for _task in range(6):
            chances = rng.choice(pool, n)
            hard = rng.standard_normal(m)
            y = np.array([_of_person(people, p, hard, rng) for p in chances])
            system = [_right(truth, 0.5 * hard + 0.75**0.5 * rng.standard_normal(m), rng)]
            members.append(
                Member(
                    paired_difference(y, system),
                    partial(paired_without_each, y, system),
                )
            )
        wrong += any(one.certainty == SURE for one in verdicts(members))
    assert wrong / studies <= 0.10 + 3 * (0.1 * 0.9 / studies) ** 0.5


def _arrivals(people: ScoreModel, many: int, careless: float, rng: Rng) -> Floats:
    """The true shares of right answers of those who pass the floor."""
    spread = rng.standard_normal(many) * people.annotator_share**0.5
    rest = (1 - people.annotator_share) ** 0.5
    skills = ndtr((ndtri(people.mean) + spread) / rest)
    skills = np.where(rng.random(many) < careless, 0.5, skills)
    passed: Floats = skills[rng.binomial(20, skills) >= 14]
    return passed


def _of_person(people: ScoreModel, p: float, hard: Floats, rng: Rng) -> Floats:
    """Answers of one whose share over new items is p."""
    share = people.item_share / (1 - people.annotator_share)
    right: Floats = (rng.random(len(hard)) < ScoreModel(p, 0.0, share).item_means(hard)).astype(
        float
    )
    return right
