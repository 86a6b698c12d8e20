import numpy as np
import pytest
from scipy import stats

from scoring.core.comparison import paired_difference
from scoring.core.power import ComparisonDesign, detectable_difference, power_to_differ
from scoring.core.variance import Components

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


def test_agrees_with_the_noncentral_t_distribution() -> None:
    for difference in (0.02, 0.06, 0.12):
        se, df = design().spread()
        limit = stats.t.ppf(0.975, df)
        upper = stats.nct.sf(limit, df, difference / se)
        expected = upper + stats.nct.cdf(-limit, df, difference / se)
        assert power_to_differ(difference, design()) == pytest.approx(expected, abs=1e-5)


def test_has_the_size_of_the_test_where_nothing_differs() -> None:
    assert power_to_differ(0, design()) == pytest.approx(0.05, abs=1e-6)
    assert power_to_differ(0, design(), level=0.9) == pytest.approx(0.1, abs=1e-6)


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
    assert design(runs=1).spread()[0] ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("size", [{"annotators": 1}, {"items": 1}, {"runs": 0}])
def test_rejects_a_design_without_a_test(size: dict) -> None:
    with pytest.raises(ValueError, match="two annotators, two items and one run"):
        power_to_differ(0.1, design(**size))


def test_rejects_a_power_that_the_test_always_or_never_has() -> None:
    for power in (0.05, 1.0):
        with pytest.raises(ValueError, match="power is"):
            detectable_difference(design(), power=power)
