"""How often intervals hold the truth; `make bench` has the long form."""

import numpy as np
import pytest

from scoring.core.intervals import cell_interval, new_items_limits, these_items_limits
from scoring.core.people_designs import ScoreModel
from scoring.core.variance import Components

TYPICAL = (0.0016, 0.072, 0.0864)
UNEVEN = (0.0053, 0.076, 0.0944)
NEAR_1 = (0.0001, 0.0100, 0.0094)
ALMOST_1 = (0.00002, 0.0020, 0.0030)


def model_of(components: tuple[float, float, float]) -> ScoreModel:
    return ScoreModel.of_components(Components(*components))


@pytest.mark.parametrize("components", [TYPICAL, UNEVEN, NEAR_1, ALMOST_1])
@pytest.mark.parametrize(("n", "m"), [(5, 15), (5, 200), (10, 60)])
@pytest.mark.parametrize("right", [True, False])
def test_covers_the_truth_about_new_items_from_five_annotators_on(
    components: tuple[float, float, float], n: int, m: int, right: bool
) -> None:
    model = model_of(components)
    y = model.draw(n, m, replicates=1000, rng=np.random.default_rng(n + m)).astype(float)
    low, high = new_items_limits(y if right else 1 - y, 0.95)
    truth = model.mean if right else 1 - model.mean
    assert np.mean((low <= truth) & (truth <= high)) >= 0.92


@pytest.mark.parametrize(("n", "least"), [(2, 0.85), (3, 0.88)])
def test_covers_less_with_fewer_who_differ_much(n: int, least: float) -> None:
    y = model_of((0.0064, 0.07, 0.08)).draw(n, 200, replicates=1500, rng=np.random.default_rng(n))
    low, high = new_items_limits(y.astype(float), 0.95)
    truth = model_of((0.0064, 0.07, 0.08)).mean
    assert least <= np.mean((low <= truth) & (truth <= high)) <= 0.97


@pytest.mark.parametrize("components", [TYPICAL, ALMOST_1])
def test_covers_the_truth_about_these_items(components: tuple[float, float, float]) -> None:
    model = model_of(components)
    rng = np.random.default_rng(5)
    items = rng.standard_normal(60)
    truth = model.item_means(items).mean()
    people = rng.standard_normal((1000, 5, 1), np.float32)
    y = model.draw_for(people, items.astype(np.float32), rng=rng).astype(float)
    low, high = these_items_limits(y, 0.95)
    assert np.mean((low <= truth) & (truth <= high)) >= 0.92


@pytest.mark.parametrize("components", [TYPICAL, NEAR_1])
def test_covers_the_truth_where_items_have_two_viewers_or_more(
    components: tuple[float, float, float],
) -> None:
    model, rng = model_of(components), np.random.default_rng(6)
    held = []
    for y in model.draw(6, 60, replicates=400, rng=rng).astype(float):
        y[2:][rng.random((4, 60)) < 0.6] = np.nan
        cell = cell_interval(rng.permuted(y, axis=0))
        held.append(cell.low <= model.mean <= cell.high)
    assert np.mean(held) >= 0.92


def test_is_narrow_near_1_with_two_people() -> None:
    """On the logit scale it was 53 points wide."""
    model = model_of((0.00002, 0.0096, 0.00998))
    y = model.draw(2, 200, replicates=500, rng=np.random.default_rng(7)).astype(float)
    low, high = new_items_limits(y, 0.95)
    assert 0.03 < np.mean(high - low) < 0.12
