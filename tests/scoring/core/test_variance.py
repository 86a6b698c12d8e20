import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from scoring.core.people_designs import ScoreModel
from scoring.core.variance import (
    Components,
    crossed_spread,
    mean_squares,
    variance_components,
)

CELLS = [("H", "human_cell"), ("M", "model_cell")]


def exactly(value: object) -> object:
    return pytest.approx(value, abs=1e-9)


@pytest.fixture
def values(reference: Callable) -> dict:
    return reference("intervals_and_tests")


@pytest.fixture
def people(values: dict) -> np.ndarray:
    return np.array(values["H"])


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_mean_squares_and_components(values: dict, scores: str, cell: str) -> None:
    squares, known = mean_squares(values[scores]), values[cell]
    found = (squares.annotator, squares.item, squares.residual)
    assert found == exactly((known["MSA"], known["MSI"], known["MSE"]))
    assert dataclasses.asdict(variance_components(values[scores])) == exactly(
        known["variance_components"]
    )


@pytest.mark.parametrize(("scores", "cell"), CELLS)
def test_meets_the_spread_of_the_matrix_as_it_stands(values: dict, scores: str, cell: str) -> None:
    known = values[cell]["E2_satterthwaite"]
    assert crossed_spread(mean_squares(values[scores])) == exactly((known["se"], known["df"]))


def test_estimates_components_without_bias_when_scores_are_missing() -> None:
    rng = np.random.default_rng(3)
    n, m = 12, 60
    found = []
    for _ in range(200):
        y = rng.normal(0, 0.1, (n, 1)) + rng.normal(0, 0.2, m) + rng.normal(0, 0.3, (n, m))
        # Some annotators saw most items, some only a few.
        missing = rng.random((n, m)) < np.linspace(0.1, 0.7, n)[:, None]
        found.append(dataclasses.astuple(variance_components(np.where(missing, np.nan, y))))
    assert np.mean(found, axis=0) == pytest.approx([0.01, 0.04, 0.09], rel=0.07)


def test_changes_its_estimates_little_when_one_score_is_missing() -> None:
    y = one_cell(n=8, m=80)
    whole = dataclasses.astuple(variance_components(y))
    y[3, 5] = np.nan
    assert dataclasses.astuple(variance_components(y)) == pytest.approx(whole, abs=1e-3)


def test_has_no_components_for_one_annotator(people: np.ndarray) -> None:
    assert np.isnan(dataclasses.astuple(variance_components(people[:1]))).all()


def one_cell(n: int, m: int) -> np.ndarray:
    model = ScoreModel.of_components(Components(annotator=0.002, item=0.07, residual=0.09))
    return model.draw(n, m, replicates=1, rng=np.random.default_rng(n))[0].astype(float)
