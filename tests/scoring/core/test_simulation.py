import numpy as np
import pytest

from scoring.core.people_designs import ScoreModel
from scoring.core.variance import Components, mean_squares


@pytest.mark.parametrize(
    "components",
    [(0.0016, 0.072, 0.0864), (0.000025, 0.119935, 0.02114), (0.0053, 0.076, 0.0944)],
)
def test_draws_scores_with_the_stated_components(components: tuple[float, ...]) -> None:
    a, i, r = components
    model = ScoreModel.of_components(Components(a, i, r))
    n, m = 8, 150
    y = model.draw(n, m, replicates=3000, rng=np.random.default_rng(1))
    squares = mean_squares(y)
    residual = squares.residual.mean()
    assert model.mean * (1 - model.mean) == pytest.approx(a + i + r)
    assert y.mean() == pytest.approx(model.mean, abs=0.002)
    assert (squares.annotator.mean() - residual) / m == pytest.approx(a, rel=0.1, abs=1e-5)
    assert (squares.item.mean() - residual) / n == pytest.approx(i, rel=0.02)
    assert residual == pytest.approx(r, rel=0.02)


def test_knows_what_a_new_annotator_scores_on_given_items() -> None:
    model = ScoreModel.of_components(Components(annotator=0.004, item=0.07, residual=0.09))
    rng = np.random.default_rng(2)
    items = np.array([-2, -0.5, 0, 1.5])
    people = rng.standard_normal((1, 40_000, 1), np.float32)
    drawn = model.draw_for(people, items.astype(np.float32), rng=rng).mean(axis=(0, 1))
    assert drawn == pytest.approx(model.item_means(items), abs=0.01)


def test_holds_scores_without_annotator_or_item_variance() -> None:
    model = ScoreModel.of_components(Components(annotator=0, item=0, residual=0.16))
    assert (model.annotator_share, model.item_share) == (0, 0)
    assert model.mean == pytest.approx(0.8)


@pytest.mark.parametrize("residual", [0.0, 0.26])
def test_rejects_components_that_no_score_can_have(residual: float) -> None:
    with pytest.raises(ValueError, match=r"at most 0\.25"):
        ScoreModel.of_components(Components(annotator=0, item=0, residual=residual))
