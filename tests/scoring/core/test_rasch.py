import numpy as np
import pytest
from scipy import integrate, special, stats

from scoring.core.rasch import rasch


def drawn(
    people: int, items: int, *, ability_sd: float = 0.8, seed: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Answers that the model makes, and the abilities and difficulties behind them."""
    rng = np.random.default_rng(seed)
    ability = 1.5 + ability_sd * rng.standard_normal(people)
    difficulty = 1.2 * rng.standard_normal(items)
    chance = special.expit(ability[:, None] - difficulty)
    return (rng.random((people, items)) < chance).astype(float), ability, difficulty


def dense_log_posterior(
    y: np.ndarray, ability: np.ndarray, mean: float, sds: tuple[float, float]
) -> float:
    """The same density by adaptive integration, one item after the other."""
    total = float(stats.norm.logpdf(ability, mean, sds[0]).sum())
    for answers in y.T:

        def density(difficulty: float, answers: np.ndarray = answers) -> float:
            chance = special.expit(ability - difficulty)
            likely = np.prod(np.where(answers == 1, chance, 1 - chance)[~np.isnan(answers)])
            return float(likely * stats.norm.pdf(difficulty, 0, sds[1]))

        total += np.log(integrate.quad(density, -12 * sds[1], 12 * sds[1], limit=200)[0])
    return total


def test_abilities_are_the_likeliest_by_adaptive_integration() -> None:
    y, _, _ = drawn(5, 12)
    y[1, 2] = np.nan
    fit = rasch(y)
    ability, sds = np.array([p.logit for p in fit.people]), (fit.ability_sd, fit.difficulty_sd)
    for step in np.eye(5) * 1e-3:
        above, below = (
            dense_log_posterior(y, at, fit.mean, sds) for at in (ability + step, ability - step)
        )
        assert (above - below) / 2e-3 == pytest.approx(0, abs=1e-3)


def test_recovers_what_made_the_answers() -> None:
    y, ability, difficulty = drawn(20, 150)
    fit = rasch(y)
    assert fit.ability_sd == pytest.approx(ability.std(ddof=1), rel=0.3)
    assert fit.difficulty_sd == pytest.approx(1.2, rel=0.2)
    assert np.corrcoef([p.logit for p in fit.people], ability)[0, 1] > 0.95
    assert np.corrcoef([i.logit for i in fit.items], difficulty)[0, 1] > 0.85
    inside = [
        abs(p.logit - true) < 1.96 * p.se for p, true in zip(fit.people, ability, strict=True)
    ]
    assert np.mean(inside) > 0.85


def test_draws_few_answers_towards_the_others() -> None:
    """One answer in one more item moves nobody to 0 or 100."""
    y, _, _ = drawn(6, 40)
    y[0], y[1] = 1.0, np.nan
    y[1, :3] = 0.0
    fit = rasch(y)
    assert 0.5 < fit.people[0].chance < 1
    assert fit.people[1].chance > 0.1
    assert fit.people[1].high > 0.5
    assert fit.people[1].se > max(person.se for person in fit.people[2:])


def test_does_not_depend_on_the_order() -> None:
    y, _, _ = drawn(6, 40)
    fit, turned = rasch(y), rasch(y[::-1, ::-1])
    assert [p.logit for p in turned.people[::-1]] == pytest.approx(
        [p.logit for p in fit.people], abs=1e-3
    )
    assert [i.chance for i in turned.items[::-1]] == pytest.approx(
        [i.chance for i in fit.items], abs=1e-3
    )


def test_mirrors_when_right_and_wrong_are_exchanged() -> None:
    y, _, _ = drawn(6, 40)
    fit, mirrored = rasch(y), rasch(1 - y)
    assert mirrored.average == pytest.approx(1 - fit.average, abs=1e-3)
    assert [p.chance for p in mirrored.people] == pytest.approx(
        [1 - p.chance for p in fit.people], abs=1e-3
    )


def test_names_the_weak_and_the_faulty() -> None:
    y, _, _ = drawn(8, 100, ability_sd=0.3)
    rng = np.random.default_rng(1)
    y[2] = (rng.random(100) < 0.45).astype(float)
    y[:, 7] = 0.0
    fit = rasch(y)
    assert fit.people[2].high < fit.average
    assert all(person.high > fit.average for k, person in enumerate(fit.people) if k != 2)
    assert fit.items[7].high < 0.5
    assert fit.items[7].chance == pytest.approx(min(item.chance for item in fit.items))


def test_holds_where_one_item_and_one_person_decide_everything() -> None:
    """Nothing but the extremes, where the likelihood alone would have no limit."""
    y = np.ones((7, 20))
    y[:, 0] = y[6, :11] = 0
    fit = rasch(y)
    assert fit.people[6].high < fit.average < fit.people[0].high
    assert [k for k, item in enumerate(fit.items) if item.high < 0.5] == [0]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_stays_within_limits_where_all_are_alike(value: float) -> None:
    fit = rasch(np.full((5, 20), value))
    for one in (*fit.people, *fit.items):
        assert 0 <= one.low < one.chance < one.high <= 1


@pytest.mark.parametrize(
    ("right", "why"),
    [
        (np.ones((4, 20)), "five|5 people"),
        (np.ones((5, 9)), "10 items"),
        (np.full((5, 20), 0.5), "right"),
        (np.where(np.arange(20) == 3, np.nan, np.ones((5, 20))), "no answer"),
    ],
)
def test_refuses_what_it_cannot_pool(right: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        rasch(right)
