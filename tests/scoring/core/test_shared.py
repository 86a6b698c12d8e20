"""Averages over tasks of people who did several."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from scoring.core.comparison import paired_difference
from scoring.core.intervals import cell_interval
from scoring.core.shared import shared_average, shared_difference, shared_without_each
from scoring.core.verdicts import Member, likeliest, verdicts


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def test_meets_the_known_averages(reference: Callable) -> None:
    for row in reference("averages")["shared_people"]["rows"]:
        average = shared_average(row["people"], row["persons"])
        for name, value in row["average"].items():
            assert getattr(average, name) == exactly(value), name
        test = shared_difference(row["people"], row["system"], row["persons"])
        for name, value in row["average_difference"].items():
            assert getattr(test, name) == exactly(value), name


def test_meets_the_known_verdicts(reference: Callable) -> None:
    for row in reference("averages")["shared_people"]["rows"]:
        both = row["people"], row["system"], row["persons"]
        without = shared_without_each(*both)
        found = Member(shared_difference(*both), partial(list, without))
        for margin, known in row["verdicts"].items():
            assert likeliest(found.test, margin=float(margin))[1] == exactly(known["p"])
            if left := (row["leave_one_out"] or {}).get(margin):
                others = [likeliest(one, margin=float(margin))[1] for one in without]
                assert others == exactly(left["p"])
            [alone] = verdicts([found], margin=float(margin))
            state = row["state_alone"][margin].replace("too few people", "too_few")
            assert (alone.certainty or alone.outcome) == state


@pytest.mark.parametrize("runs", [1, 6])
def test_is_that_of_the_cell_for_one_task(runs: int) -> None:
    rng = np.random.default_rng(5)
    people, system = rng.random((7, 30)).round(), rng.random((runs, 30)).round()
    cell, average = cell_interval(people), shared_average([people], [range(7)])
    assert (average.low, average.high, average.df) == exactly((cell.low, cell.high, cell.df))
    pair = paired_difference(people, system)
    test = shared_difference([people], [system], [range(7)])
    assert (test.low, test.high, test.df, test.p) == exactly((pair.low, pair.high, pair.df, pair.p))


def test_says_nothing_of_gaps() -> None:
    people = np.ones((5, 9))
    people[0, 0] = np.nan
    average = shared_average([people, np.ones((5, 9))], [range(5)] * 2)
    test = shared_difference([people, np.ones((5, 9))], [np.zeros((1, 9))] * 2, [range(5)] * 2)
    assert np.isnan([average.low, average.high, average.se, test.p, test.low]).all()
    assert (average.mean, test.difference) == (1, 1)


def test_asks_who_each_row_is() -> None:
    with pytest.raises(ValueError, match="who each of its rows is"):
        shared_average([np.ones((5, 9))], [range(4)])
