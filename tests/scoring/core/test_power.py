import numpy as np
import pytest
from scipy import stats

from scoring.core.comparison import pair_up, paired_difference
from scoring.core.variance import Components
from scoring.core.verdicts import (
    AverageDesign,
    ComparisonDesign,
    detectable_difference,
    observed_design,
    power_to_differ,
)

PEOPLE, SYSTEM = Components(0.002, 0.05, 0.08), Components(0.001, 0.06, 0.05)


def design(annotators: int = 6, runs: int = 5, items: int = 100) -> ComparisonDesign:
    return ComparisonDesign(annotators, runs, items, PEOPLE, SYSTEM, item_difference_var=0.03)


def simulated_power(difference: float, size: ComparisonDesign, replicates: int) -> float:
    """How often the real test detects it, on normal scores with these components."""
    rng = np.random.default_rng(7)
    m = size.items

    def side(count: int, parts: Components) -> np.ndarray:
        own = rng.normal(0, np.sqrt(parts.annotator), (count, 1))
        return own + rng.normal(0, np.sqrt(parts.residual), (count, m))

    shown = 0
    for _ in range(replicates):
        gap = rng.normal(difference, np.sqrt(size.item_difference_var), m)
        people, system = side(size.annotators, PEOPLE) + gap, side(size.runs, SYSTEM)
        shown += paired_difference(people, system).p < 0.05
    return shown / replicates


@pytest.mark.parametrize("difference", [0.0, 0.06, 0.1])
def test_agrees_with_how_often_the_test_finds_it(difference: float) -> None:
    expected = simulated_power(difference, design(items=15), replicates=600)
    found = power_to_differ(difference, design(items=15))
    # The test's own SE is floored from below, so it finds a little less than the formula says.
    assert found == pytest.approx(expected, abs=0.06)


def test_agrees_with_the_noncentral_t_distribution_but_for_the_larger_se() -> None:
    for difference in (0.02, 0.06, 0.12):
        se, df = design().spread(difference)
        own = design().standard_error
        limit = stats.t.ppf(0.975, df) * se / own
        upper = stats.nct.sf(limit, df, difference / own)
        expected = upper + stats.nct.cdf(-limit, df, difference / own)
        assert power_to_differ(difference, design()) == pytest.approx(expected, abs=1e-5)


def test_has_nearly_the_size_of_the_test_where_nothing_differs() -> None:
    assert 0.04 < power_to_differ(0, design()) < 0.05
    many = design(items=100_000)
    assert power_to_differ(0, many) == pytest.approx(0.05, abs=1e-4)
    assert power_to_differ(0, many) == pytest.approx(0.05, abs=1e-4)


def test_expects_the_se_of_simulated_tests() -> None:
    rng = np.random.default_rng(9)
    size = design(items=30)
    found = []
    for _ in range(300):
        gap = rng.normal(0.05, np.sqrt(size.item_difference_var), 30)
        people = rng.normal(0, np.sqrt(PEOPLE.annotator), (6, 1)) + gap
        people = people + rng.normal(0, np.sqrt(PEOPLE.residual), (6, 30))
        system = rng.normal(0, np.sqrt(SYSTEM.annotator), (5, 1))
        system = system + rng.normal(0, np.sqrt(SYSTEM.residual), (5, 30))
        found.append(paired_difference(people, system))
    assert np.std([f.difference for f in found]) == pytest.approx(size.standard_error, rel=0.12)
    variance = np.mean([f.se**2 for f in found])
    assert np.sqrt(variance) == pytest.approx(size.spread(0.05)[0], rel=0.05)


def test_grows_with_the_difference_people_and_items() -> None:
    power = power_to_differ(0.06, design())
    assert power < power_to_differ(0.08, design())
    assert power < power_to_differ(0.06, design(annotators=12))
    assert power < power_to_differ(0.06, design(items=300))
    assert power_to_differ(-0.06, design()) == pytest.approx(power)


def test_finds_the_difference_that_has_the_power() -> None:
    for power in (0.5, 0.8, 0.95):
        found = detectable_difference(design(), power=power)
        assert power_to_differ(found, design()) == pytest.approx(power, abs=1e-6)


def test_takes_a_single_run() -> None:
    n, m = 6, 100
    expected = 0.002 / n + 0.08 / (n * m) + 0.03 / m + 0.05 / m
    assert design(runs=1).standard_error ** 2 == pytest.approx(expected)
    assert design(runs=1).spread()[0] ** 2 == pytest.approx(expected, rel=0.01)


def test_has_no_detectable_difference_where_nothing_is_shown_often_enough() -> None:
    assert np.isnan(detectable_difference(design(annotators=2, items=2)))


@pytest.mark.parametrize("size", [{"annotators": 1}, {"items": 1}, {"runs": 0}])
def test_rejects_a_design_without_a_test(size: dict) -> None:
    with pytest.raises(ValueError, match="two annotators, two items and one run"):
        power_to_differ(0.1, design(**size))


def test_rejects_a_power_that_the_test_always_or_never_has() -> None:
    for power in (0.05, 1.0):
        with pytest.raises(ValueError, match="power is"):
            detectable_difference(design(), power=power)


def right_or_wrong(rng: np.random.Generator, rows: int, chance: float) -> np.ndarray:
    skill = rng.normal(chance, 0.05, (rows, 1))
    return (rng.random((rows, 200)) < skill).astype(float)


def test_expects_of_a_comparison_as_it_was_made_the_spread_that_it_had() -> None:
    rng = np.random.default_rng(3)
    people, system = right_or_wrong(rng, 8, 0.8), right_or_wrong(rng, 5, 0.7)
    test = paired_difference(people, system)
    own = observed_design(pair_up(people, system))
    se, df = own.spread(test.difference)
    assert se == pytest.approx(test.se, rel=0.02)
    assert df == pytest.approx(test.df, rel=0.05)


def test_counts_the_noise_of_a_single_run_as_differences_between_items() -> None:
    rng = np.random.default_rng(4)
    people, system = right_or_wrong(rng, 8, 0.8), right_or_wrong(rng, 1, 0.7)
    test = paired_difference(people, system)
    se, _ = observed_design(pair_up(people, system)).spread(test.difference)
    assert se == pytest.approx(test.se, rel=0.02)


def test_an_average_of_one_task_is_that_task() -> None:
    rng = np.random.default_rng(5)
    own = observed_design(pair_up(right_or_wrong(rng, 6, 0.9), right_or_wrong(rng, 3, 0.85)))
    alone = AverageDesign([own])
    assert alone.spread(0.1) == pytest.approx(own.spread(0.1))
    assert detectable_difference(alone) == pytest.approx(detectable_difference(own))


def test_an_average_over_more_tasks_detects_less() -> None:
    rng = np.random.default_rng(6)
    own = observed_design(pair_up(right_or_wrong(rng, 6, 0.9), right_or_wrong(rng, 3, 0.85)))
    four = AverageDesign([own] * 4)
    assert four.standard_error == pytest.approx(own.standard_error / 2)
    assert four.spread()[0] == pytest.approx(own.spread()[0] / 2)
    assert detectable_difference(four) < 0.6 * detectable_difference(own)
