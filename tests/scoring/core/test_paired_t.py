import numpy as np
import pytest
from scipy import stats

from scoring.core.intervals import paired_p


def test_is_students_paired_t() -> None:
    d = np.random.default_rng(4).normal(0.12, 0.5, 40)
    assert paired_p(d) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=1e-12)
    assert paired_p(-d) == paired_p(d)


@pytest.mark.parametrize(("differences", "p"), [([0.2, 0.2], 0), ([0, 0, 0], 1)])
def test_decides_where_nothing_varies(differences: list[float], p: float) -> None:
    assert paired_p(differences) == p


@pytest.mark.parametrize("differences", [[], [0.3]])
def test_tells_nothing_below_two(differences: list[float]) -> None:
    assert np.isnan(paired_p(differences))
