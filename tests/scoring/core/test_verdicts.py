from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.core.comparison import paired_difference
from scoring.core.verdicts import AHEAD, BEHIND, SAME, is_fragile, likeliest, verdicts


@dataclass(frozen=True)
class Known:
    difference: float
    se: float = 0.02
    df: float = 30
    exploratory: bool = False


def test_meets_the_known_verdicts(reference: Callable) -> None:
    for row in reference("differences")["rows"]:
        found = paired_difference(row["people"], row["system"])
        for margin, known in row["verdicts"].items():
            direction, p = likeliest(found, margin=float(margin))
            assert direction == known["direction"]
            assert p == pytest.approx(known["p"], abs=1e-9)


@given(st.floats(-1, 1), st.floats(0.001, 0.3), st.floats(1, 300), st.sampled_from([0, 0.02, 0.1]))
def test_decides_where_the_interval_does(d: float, se: float, df: float, margin: float) -> None:
    half = stats.t.ppf(0.975, df) * se
    low, high = d - half, d + half
    by_interval = {
        AHEAD: low > margin,
        BEHIND: high < -margin,
        SAME: -margin < low and high < margin,
    }
    likely, p = likeliest(Known(d, se, df), margin=margin)
    decided = [direction for direction, holds in by_interval.items() if holds]
    if abs(p - 0.05) > 1e-9:
        assert decided == ([likely] if p < 0.05 else [])


def test_turns_with_the_difference() -> None:
    ahead, behind = likeliest(Known(0.1), margin=0.02), likeliest(Known(-0.1), margin=0.02)
    assert (ahead[0], behind[0]) == (AHEAD, BEHIND)
    assert ahead[1] == pytest.approx(behind[1])


def test_adjusts_over_the_cells_that_allow_a_claim() -> None:
    tests = [Known(0.1), Known(0.043), Known(0.001), Known(0.2, exploratory=True), Known(0.1, nan)]
    found = verdicts(tests)
    assert [verdict.outcome for verdict in found] == [
        "ahead",
        "undecided",
        "undecided",
        "exploratory",
        "untested",
    ]
    assert [verdict.family for verdict in found] == [3] * 5
    assert [verdict.alone for verdict in found] == [False, True, False, False, False]
    assert isnan(found[3].p_holm)
    assert found[0].p_holm == pytest.approx(3 * found[0].p)
    assert verdicts([]) == ()


def test_calls_people_as_good_within_the_margin() -> None:
    assert verdicts([Known(0.0)], margin=0.05)[0].outcome == SAME
    assert verdicts([Known(0.0)])[0].outcome == "undecided"


def test_is_fragile_where_one_annotator_carries_it() -> None:
    tests = [Known(0.1), Known(0.001)]
    assert not is_fragile(0, tests, [Known(0.09), Known(0.11)])
    assert is_fragile(0, tests, [Known(0.09), Known(0.03)])
    assert is_fragile(0, tests, [Known(-0.1)])
    assert is_fragile(0, tests, [Known(0.1, nan)])
    # What was decided for nobody does not fall.
    assert not is_fragile(1, tests, [Known(0.1)])


def test_is_fragile_by_the_adjusted_p() -> None:
    tests = [Known(0.1), *[Known(0.001)] * 9]
    without = Known(0.05)
    assert not is_fragile(0, tests[:1], [without])
    assert is_fragile(0, tests, [without])


def test_rejects_a_negative_margin() -> None:
    for margin in (-0.1, np.nan):
        with pytest.raises(ValueError, match="margin is"):
            likeliest(Known(0.1), margin=margin)
