from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from scoring.core.bootstrap import episode_score
from scoring.core.episodes import (
    FLEX_CLASS,
    FLEX_DOMAIN_AND_TASK,
    Episode,
    EpisodeRules,
    checksum,
    sample_episodes,
    verify_checksum,
)
from tests.every import every


def data_set(*sizes: int) -> dict[str, str]:
    """Class k named `class k`, its examples `k-0`, `k-1`, …"""
    return {f"{k}-{i}": f"class {k}" for k, size in enumerate(sizes) for i in range(size)}


MANY = data_set(*[60 + 5 * k for k in range(14)])
RULES = replace(FLEX_CLASS, few_shot=600, zero_shot=600)


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    return sample_episodes(MANY, RULES, seed=1)


def classes_of(ids: tuple[str, ...]) -> Counter:
    return Counter(MANY[i] for i in ids)


def test_samples_flex_episodes() -> None:
    found = sample_episodes(MANY, FLEX_CLASS, seed=3)
    assert [e.number for e in found] == list(range(1, 181))
    assert every(e.training for e in found[:90])
    assert not any(e.training for e in found[90:])
    for episode in found:
        assert set(classes_of(episode.training)) == (
            set(episode.labels) if episode.training else set()
        )
        assert set(classes_of(episode.test)) == set(episode.labels)


def uniform(values: list[int], least: int, most: int) -> bool:
    counts = Counter(values)
    assert counts.keys() == set(range(least, most + 1))
    return float(stats.chisquare([counts[k] for k in range(least, most + 1)]).pvalue) > 0.001


def test_draws_ways_uniformly(episodes: list[Episode]) -> None:
    assert uniform([len(e.labels) for e in episodes], 5, 10)


def test_draws_shots_uniformly_and_for_each_class_on_its_own(episodes: list[Episode]) -> None:
    shots = [[classes_of(e.training)[label] for label in e.labels] for e in episodes[:600]]
    assert uniform([k for row in shots for k in row], 1, 5)
    # Independent shots of two classes: each of the 25 pairs equally often.
    pairs = Counter((row[0], row[1]) for row in shots)
    assert len(pairs) == 25
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001


def test_takes_every_class_and_every_example_as_often(episodes: list[Episode]) -> None:
    ways = Counter(label for e in episodes for label in e.labels)
    assert stats.chisquare(list(ways.values())).pvalue > 0.001
    trained = Counter(i for e in episodes[:600] for i in e.training)
    of_one = [trained[i] for i, label in MANY.items() if label == "class 0"]
    assert stats.chisquare(of_one).pvalue > 0.001


def test_balances_the_test_part_and_keeps_half_for_training(episodes: list[Episode]) -> None:
    sizes = Counter(MANY.values())
    for episode in episodes[:600]:
        counts = set(classes_of(episode.test).values())
        assert counts == {min(sizes[label] for label in episode.labels) // 2}
    for episode in episodes[600:]:
        counts = set(classes_of(episode.test).values())
        assert counts == {min(110, *(sizes[label] for label in episode.labels))}


def test_never_repeats_an_example_within_an_episode(episodes: list[Episode]) -> None:
    for episode in episodes:
        both = episode.training + episode.test
        assert len(set(both)) == len(both)


def test_mixes_the_classes_in_the_order_of_an_episode(episodes: list[Episode]) -> None:
    first = Counter(e.labels.index(MANY[e.test[0]]) for e in episodes if len(e.labels) == 5)
    assert stats.chisquare([first[k] for k in range(5)]).pvalue > 0.001


def test_takes_all_classes_where_none_transfer() -> None:
    labels = data_set(40, 300, 400)
    found = sample_episodes(labels, FLEX_DOMAIN_AND_TASK, seed=2)
    assert every(sorted(e.labels) == ["class 0", "class 1", "class 2"] for e in found)
    assert {len(e.test) for e in found[:90]} == {3 * 20}
    assert {len(e.test) for e in found[90:]} == {3 * 40}
    large = sample_episodes(data_set(400, 500), FLEX_DOMAIN_AND_TASK, seed=2)
    assert {len(e.test) for e in large} == {2 * 110}


def test_takes_no_more_classes_than_there_are() -> None:
    rules = replace(FLEX_CLASS, few_shot=80, zero_shot=0)
    found = sample_episodes(data_set(*[20] * 7), rules, seed=2)
    assert {len(e.labels) for e in found} == {5, 6, 7}


def test_leaves_small_classes_enough_to_train_on() -> None:
    found = sample_episodes(data_set(2, 3, 50), FLEX_DOMAIN_AND_TASK, seed=2)
    for episode in found[:90]:
        assert len(episode.test) == 3
        assert len(episode.training) >= 3
    rules = EpisodeRules(few_shot=20, zero_shot=0, least_shots=4, most_shots=4)
    assert {len(e.test) for e in sample_episodes(data_set(5, 50), rules, seed=1)} == {2}


def test_repeats_itself_from_its_seed_in_any_order_of_the_data() -> None:
    found = sample_episodes(MANY, FLEX_CLASS, seed=5)
    turned = dict(reversed(MANY.items()))
    assert sample_episodes(turned, FLEX_CLASS, seed=5) == found
    assert sample_episodes(MANY, FLEX_CLASS, seed=6) != found


def test_adds_episodes_without_changing_those_before() -> None:
    few = sample_episodes(MANY, replace(FLEX_CLASS, few_shot=10, zero_shot=5), seed=5)
    many = sample_episodes(MANY, replace(FLEX_CLASS, few_shot=20, zero_shot=9), seed=5)
    assert many[:10] == few[:10]
    for new, old in zip(many[20:25], few[10:], strict=True):
        assert replace(new, number=0) == replace(old, number=0)


def test_keeps_one_checksum_on_every_machine() -> None:
    found = sample_episodes(MANY, FLEX_CLASS, seed=2021)
    assert checksum(found) == "35627fb9b308f5cb6e2fedf87eeb4d0150a09443660449020d0f15a444f7b4e9"
    verify_checksum(found, checksum(found))


def test_rejects_a_set_that_changed() -> None:
    found = sample_episodes(MANY, FLEX_CLASS, seed=5)
    known = checksum(found)
    first = found[0]
    changes = [
        found[1:],
        found[::-1],
        [replace(first, test=first.test[::-1]), *found[1:]],
        [replace(first, labels=("other", *first.labels[1:])), *found[1:]],
    ]
    for changed in changes:
        with pytest.raises(ValueError, match="sample them again"):
            verify_checksum(changed, known)


def test_scores_over_episodes() -> None:
    scores = np.random.default_rng(1).normal(0.6, 0.1, 90)
    found = episode_score(scores, rng=np.random.default_rng(2))
    assert found.mean == pytest.approx(scores.mean())
    assert found.sd == pytest.approx(np.sqrt(((scores - scores.mean()) ** 2).mean()))
    half = 1.96 * found.sd / np.sqrt(90)
    assert (found.low, found.high) == pytest.approx(
        (found.mean - half, found.mean + half), abs=0.004
    )
    assert found.episodes == 90
    assert episode_score(scores) == episode_score(scores)


def test_bootstraps_episodes_as_scipy_does() -> None:
    scores = np.random.default_rng(3).beta(8, 2, 40)
    other = stats.bootstrap(
        (scores,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    found = episode_score(scores, resamples=20_000, rng=np.random.default_rng(5))
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.002)


@pytest.mark.parametrize(
    ("labels", "rules", "message"),
    [
        (data_set(20, 20, 20), FLEX_CLASS, "3 classes; an episode needs 5"),
        (data_set(20, 1), FLEX_DOMAIN_AND_TASK, "'class 1' has 1 examples"),
        ({}, FLEX_DOMAIN_AND_TASK, "0 classes"),
    ],
)
def test_rejects_a_data_set_that_is_too_small(
    labels: dict[str, str], rules: EpisodeRules, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sample_episodes(labels, rules, seed=1)


@pytest.mark.parametrize(
    "changes",
    [
        {"few_shot": -1},
        {"least_classes": 11},
        {"least_shots": 0},
        {"most_shots": 0},
        {"kept": 1.0},
        {"most_test": 0},
    ],
)
def test_rejects_rules_that_no_episode_can_follow(changes: dict) -> None:
    with pytest.raises(ValueError, match=r"between 1|negative|some share"):
        EpisodeRules(**changes)


@pytest.mark.parametrize("scores", [[], [0.5, float("nan")], [[0.5]]])
def test_rejects_scores_that_are_not_one_an_episode(scores: list) -> None:
    with pytest.raises(ValueError, match="one score for each episode"):
        episode_score(scores)
