"""Whom a screening rule keeps out, against exact probabilities and a loop in plain Python."""

from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import integrate, special, stats

from scoring.core.screening import (
    CAREFUL_SD,
    ITEM_SD,
    ScreeningRule,
    _careful_logit,
    _passes,
    simulate_screening,
)

FLOOR = ScreeningRule(items=20, places=15, labels=2, floor=70)


def rises_above_chance(rule: ScreeningRule) -> float:
    """The binomial chance that a guesser reaches the floor."""
    least = next(n for n in range(rule.items + 1) if 100 * n / rule.items >= (rule.floor or 0))
    return float(stats.binom.sf(least - 1, rule.items, rule.chance))


@pytest.mark.parametrize("labels", [None, 2, 3, 5])
@pytest.mark.parametrize(("items", "floor"), [(10, 50), (20, 40), (20, 70), (50, 60)])
def test_guessers_pass_a_floor_as_often_as_the_binomial_says(
    labels: int | None, items: int, floor: float
) -> None:
    rule = ScreeningRule(items=items, places=15, labels=labels, floor=floor)
    found = simulate_screening(rule)
    assert found.guessers_in == pytest.approx(rises_above_chance(rule), abs=0.02)
    assert found.guessers_in == found.guessers_past_floor


def test_the_careful_fall_below_a_floor_as_often_as_their_model_says() -> None:
    """Given the annotator, the items are independent: a binomial mixture, integrated here."""

    def right(person: float) -> float:
        logit = _careful_logit() + CAREFUL_SD * person
        return integrate.quad(
            lambda item: special.expit(logit + ITEM_SD * item) * stats.norm.pdf(item), -8, 8
        )[0]

    def expected(share: float, of: int) -> float:
        return integrate.quad(
            lambda u: stats.binom.cdf(share, of, right(u)) * stats.norm.pdf(u), -6, 6, epsabs=1e-4
        )[0]

    assert integrate.quad(lambda u: right(u) * stats.norm.pdf(u), -8, 8)[0] == pytest.approx(0.85)
    assert simulate_screening(FLOOR).careful_out == pytest.approx(expected(13, 20), abs=0.005)


def test_without_a_rule_everybody_gets_in() -> None:
    found = simulate_screening(replace(FLOOR, floor=None))
    assert (found.guessers_in, found.careful_out) == (1, 0)


@pytest.mark.parametrize("in_sds", [False, True])
def test_the_drop_compares_with_everybody_before(in_sds: bool) -> None:
    rule = ScreeningRule(
        items=10, places=9, floor=30, max_drop=1.5 if in_sds else 25, drop_in_sds=in_sds
    )
    scores = np.random.default_rng(1).choice(np.arange(0, 101, 10.0), (50, 12))
    for filling, passes in zip(scores, _passes(rule, scores), strict=True):
        for arrival, score in enumerate(filling):
            group = list(filling[:arrival])
            lowest = 30.0
            if len(group) >= rule.group_size:
                unit = stdev(group) if in_sds else 1
                lowest = max(lowest, fmean(group) - (rule.max_drop or 0) * unit)
            assert passes[arrival] == (score >= lowest)


def test_a_higher_floor_keeps_out_more_of_both() -> None:
    found = [simulate_screening(replace(FLOOR, floor=floor)) for floor in range(0, 101, 10)]
    guessers, careful = [f.guessers_in for f in found], [f.careful_out for f in found]
    assert guessers == sorted(guessers, reverse=True)
    assert careful == sorted(careful)


def test_a_drop_keeps_out_more_than_its_floor_alone() -> None:
    found = simulate_screening(replace(FLOOR, floor=50, max_drop=15))
    assert found.guessers_in < found.guessers_past_floor


def test_a_drop_waits_for_its_group() -> None:
    late = replace(FLOOR, floor=None, max_drop=5, group_size=100)
    assert simulate_screening(late).guessers_in == 1


def test_names_the_lowest_floor_past_which_at_most_one_in_ten_gets() -> None:
    weak = replace(FLOOR, floor=50)
    proposed = simulate_screening(weak).lowest_floor
    assert proposed == 70
    assert rises_above_chance(replace(weak, floor=proposed)) <= 0.1
    assert rises_above_chance(replace(weak, floor=proposed - 10)) > 0.1
    assert simulate_screening(replace(weak, floor=None)).lowest_floor == proposed
    assert simulate_screening(FLOOR).lowest_floor is None


def test_no_floor_helps_where_a_single_guess_is_right_too_often() -> None:
    found = simulate_screening(ScreeningRule(items=1, places=5, labels=2, floor=100))
    assert found.guessers_in > 0.2
    assert found.lowest_floor is None


def test_the_same_rule_gives_the_same_figures() -> None:
    first = simulate_screening(FLOOR)
    simulate_screening.cache_clear()
    assert simulate_screening(FLOOR) == first


@pytest.mark.parametrize("rule", [replace(FLOOR, items=0), replace(FLOOR, places=0)])
def test_refuses_a_rule_without_items_or_places(rule: ScreeningRule) -> None:
    with pytest.raises(ValueError, match="at least one"):
        simulate_screening(rule)
