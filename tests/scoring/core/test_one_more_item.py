import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from scoring.core.variance import (
    complete_spread,
    expected_spread,
    mean_squares,
    with_constant_items,
    with_one_more,
)

matrices = arrays(
    float,
    array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7),
    elements=st.sampled_from([0.0, 0.5, 2 / 3, 1.0]),
)


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


def test_adds_an_item_that_goes_against_the_mean() -> None:
    assert with_one_more(np.array([[1.0, 0.0]])).tolist() == [[1, 0, 0]]
    assert with_one_more(np.array([[0.5, 0.0]])).tolist() == [[0.5, 0, 1]]
    many = with_one_more(np.array([[[1.0, 1.0]], [[0.0, 0.0]]]))
    assert many[..., -1].tolist() == [[0], [1]]


@given(matrices)
def test_needs_only_mean_squares_and_the_mean(y: np.ndarray) -> None:
    found, scored = expected_spread(mean_squares(y), float(y.mean())), complete_spread(y)
    for name in ("mean", "se", "df", "effective"):
        assert getattr(found, name) == exactly(float(getattr(scored, name)))


@given(matrices, st.integers(1, 3))
def test_knows_the_mean_squares_with_constant_items(y: np.ndarray, count: int) -> None:
    longer = mean_squares(np.column_stack([y, np.tile(range(count), (len(y), 1))]))
    found = with_constant_items(mean_squares(y), count)
    assert found.annotator == exactly(float(longer.annotator))
    assert found.residual == exactly(float(longer.residual))
    assert (found.n, found.m) == (longer.n, longer.m)


@given(matrices)
def test_varies_even_where_no_score_does(y: np.ndarray) -> None:
    assert complete_spread(y).se > 0
    assert complete_spread(np.ones_like(y)).se > 0
