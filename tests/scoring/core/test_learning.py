import numpy as np
import pytest
from scipy import stats

from scoring.core.learning import drift, learning_curve, third_change

PEOPLE, SHOTS = 12, 10


class Answers:
    """Annotators who each see the items in an order of their own."""

    def __init__(self, noise: float, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.who = np.repeat(np.arange(PEOPLE), SHOTS)
        self.items = np.concatenate([rng.permutation(SHOTS) for _ in range(PEOPLE)])
        self.positions = np.tile(np.arange(1, SHOTS + 1), PEOPLE)
        self.learned = 0.3 * (1 - np.exp(-np.arange(SHOTS) / 3))
        hard, able = np.linspace(-0.2, 0.2, SHOTS), np.linspace(-0.1, 0.1, PEOPLE)
        self.scores = 0.5 + hard[self.items] + able[self.who] + self.learned[self.positions - 1]
        self.scores += rng.normal(0, noise, len(self.scores))

    def rows(self) -> tuple[np.ndarray, ...]:
        return self.who, self.items, self.positions, self.scores


def dense_fit(answers: Answers) -> tuple[np.ndarray, np.ndarray]:
    """The same model as one dense design with reference levels, solved by least squares."""
    design = np.column_stack(
        [np.ones(len(answers.scores))]
        + [answers.who == k for k in range(1, PEOPLE)]
        + [answers.items == k for k in range(1, SHOTS)]
        + [answers.positions == k for k in range(2, SHOTS + 1)]
    ).astype(float)
    solution, residual, rank, _ = np.linalg.lstsq(design, answers.scores, rcond=None)
    effects = np.concatenate([[0], solution[-(SHOTS - 1) :]])
    variance = residual[0] / (len(answers.scores) - rank)
    covariance = np.zeros((SHOTS, SHOTS))
    covariance[1:, 1:] = variance * np.linalg.inv(design.T @ design)[1 - SHOTS :, 1 - SHOTS :]
    centre = np.eye(SHOTS) - 1 / SHOTS
    errors = np.sqrt(np.diag(centre @ covariance @ centre.T))
    return answers.scores.mean() + effects - effects.mean(), errors


def test_recovers_the_curve_behind_items_and_people() -> None:
    answers = Answers(noise=0)
    curve = learning_curve(*answers.rows())
    expected = answers.learned - answers.learned.mean() + answers.scores.mean()
    assert [p.adjusted for p in curve.points] == pytest.approx(expected, abs=1e-9)
    assert curve.residual_var == pytest.approx(0, abs=1e-12)


def test_agrees_with_a_dense_least_squares_fit() -> None:
    answers = Answers(noise=0.2)
    curve = learning_curve(*answers.rows())
    adjusted, errors = dense_fit(answers)
    assert [p.adjusted for p in curve.points] == pytest.approx(adjusted, abs=1e-9)
    assert [p.se for p in curve.points] == pytest.approx(errors, abs=1e-9)


def test_shows_the_plain_means_beside_the_adjusted_ones() -> None:
    answers = Answers(noise=0.2)
    curve = learning_curve(*answers.rows())
    by_place = answers.scores.reshape(PEOPLE, SHOTS)
    assert [p.mean for p in curve.points] == pytest.approx(by_place.mean(axis=0))
    assert list(curve.by_annotator) == list(range(PEOPLE))
    assert curve.by_annotator[3] == pytest.approx(by_place[3])
    assert [(p.first, p.last, p.n) for p in curve.points[:2]] == [(1, 1, PEOPLE), (2, 2, PEOPLE)]


def test_puts_positions_into_blocks() -> None:
    answers = Answers(noise=0.2)
    curve = learning_curve(*answers.rows(), block=4)
    assert [(p.first, p.last, p.n) for p in curve.points] == [(1, 4, 48), (5, 8, 48), (9, 10, 24)]
    by_place = answers.scores.reshape(PEOPLE, SHOTS)
    assert curve.points[2].mean == pytest.approx(by_place[:, 8:].mean())
    assert curve.by_annotator[0][0] == pytest.approx(by_place[0, :4].mean())


def test_does_not_depend_on_names_or_the_order_of_rows() -> None:
    answers = Answers(noise=0.2)
    who, items, positions, scores = answers.rows()
    order = np.random.default_rng(2).permutation(len(scores))
    named = [f"person {k}" for k in who[order]]
    shuffled = learning_curve(named, items[order] * 7 + 1, positions[order], scores[order])
    for found, expected in zip(
        shuffled.points, learning_curve(*answers.rows()).points, strict=True
    ):
        assert (found.adjusted, found.se) == pytest.approx((expected.adjusted, expected.se))


def test_cannot_adjust_when_everybody_has_the_same_order() -> None:
    scores = [0, 1, 1, 0, 0, 1]
    curve = learning_curve([1, 1, 1, 2, 2, 2], list("abcabc"), [1, 2, 3, 1, 2, 3], scores)
    assert [p.mean for p in curve.points] == pytest.approx([0, 0.5, 1])
    assert np.isnan([(p.adjusted, p.se) for p in curve.points]).all()
    assert np.isnan(curve.residual_var)


def test_cannot_adjust_one_annotator_alone() -> None:
    curve = learning_curve(["p"] * 3, list("abc"), [1, 2, 3], [0, 1, 1])
    assert np.isnan([p.adjusted for p in curve.points]).all()
    assert curve.by_annotator == {"p": (0, 1, 1)}


def test_holds_an_annotator_who_left_early() -> None:
    answers = Answers(noise=0.1)
    keep = ~((answers.who == 0) & (answers.positions > 4))
    curve = learning_curve(*(row[keep] for row in answers.rows()))
    assert curve.points[9].n == PEOPLE - 1
    assert np.isnan(curve.by_annotator[0][9])
    assert np.isfinite([p.adjusted for p in curve.points]).all()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([1, 1], ["a"], [1, 2], [0, 1]), "rows of one length"),
        (([], [], [], []), "rows of one length"),
        (([1, 1], ["a", "b"], [0, 1], [0, 1]), "count from 1"),
        (([1, 1], ["a", "b"], [1, 2], [0, np.nan]), "missing or infinite"),
        (([1, 1], ["a", "a"], [1, 2], [0, 1]), "same item twice"),
    ],
)
def test_rejects_bad_rows(rows: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learning_curve(*rows)


def test_takes_the_change_from_the_first_to_the_last_third() -> None:
    assert third_change([0, 0, 1, 1, 1, 1, 1]) == pytest.approx(1)
    assert third_change([1, 0.5, 0]) == pytest.approx(-1)


def test_gives_the_drift_a_paired_interval_over_people() -> None:
    changes = [0.1, -0.05, 0.2, 0.0, 0.02]
    found = drift(changes)
    low, high = stats.ttest_1samp(changes, 0).confidence_interval(0.95)
    assert (found.change, found.n) == (pytest.approx(np.mean(changes)), 5)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize("scores", [[0, 1], [[0, 1, 1]], [0, np.nan, 1]])
def test_rejects_what_has_no_thirds(scores: list) -> None:
    with pytest.raises(ValueError, match="three scores"):
        third_change(scores)


def test_rejects_the_drift_of_one_person() -> None:
    with pytest.raises(ValueError, match="two people"):
        drift([0.1])
