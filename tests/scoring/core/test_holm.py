from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.verdicts import holm

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def test_meets_the_adjusted_p_values(reference: Callable) -> None:
    known = reference("intervals_and_tests")["adjust"]
    assert holm(known["p"]) == exactly(known["holm"])


@given(p_lists)
def test_adjusts_as_the_definitions_say(p: list[float]) -> None:
    size = len(p)
    for i, value in enumerate(p):
        rank = sorted(range(size), key=lambda k: (p[k], k))
        place = rank.index(i)
        down = max((size - k) * p[rank[k]] for k in range(place + 1))
        assert holm(p)[i] == exactly(min(1, down))
        assert holm(p)[i] >= value - 2e-12


def test_leaves_an_unknown_p_out_of_the_family() -> None:
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert holm([np.nan]) == pytest.approx([np.nan], nan_ok=True)


def test_rejects_what_is_no_p() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, 1.2])
