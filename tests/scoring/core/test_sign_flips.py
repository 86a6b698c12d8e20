from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.core.bootstrap import sign_flip_p


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def test_meets_the_exact_p(reference: Callable) -> None:
    values = reference("intervals_and_tests")
    d = np.mean(values["H"], axis=0) - np.mean(values["M"], axis=0)
    known = values["paired_human_minus_model"]["item_signflip_exact_p"]
    assert sign_flip_p(d) == exactly(known)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=7))
def test_flips_signs_as_going_through_all_of_them_does(differences: list[float]) -> None:
    observed = abs(sum(differences))
    flips = list(product([1, -1], repeat=len(differences)))
    extreme = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-9
        for signs in flips
    )
    assert sign_flip_p(differences) == exactly(extreme / len(flips))


def test_draws_flips_close_to_the_exact_answer() -> None:
    d = np.random.default_rng(4).normal(0.12, 0.5, 40)
    drawn = sign_flip_p(d, rng=np.random.default_rng(5))
    assert drawn == sign_flip_p(d, rng=np.random.default_rng(5))
    assert drawn == pytest.approx(stats.ttest_1samp(d, 0).pvalue, abs=0.02)
