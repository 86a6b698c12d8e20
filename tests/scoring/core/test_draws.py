from collections import Counter
from hashlib import sha256
from itertools import permutations

import pytest
from scipy import stats

from scoring.core.episodes import Draws


def test_draws_the_numbers_that_its_definition_gives() -> None:
    words = [
        int.from_bytes(sha256(f"7/order/a#{k}".encode()).digest()[:8], "big") for k in range(5)
    ]
    draws = Draws(7, "order", "a")
    assert [draws.below(1000) for _ in words] == [word % 1000 for word in words]


def test_gives_every_path_its_own_stream() -> None:
    streams = [Draws(1, "a"), Draws(1, "b"), Draws(2, "a"), Draws(1, "a", 0)]
    assert len({tuple(s.below(10**9) for _ in range(3)) for s in streams}) == 4


def test_draws_each_number_as_often() -> None:
    draws = Draws(3)
    counts = Counter(draws.between(5, 10) for _ in range(6000))
    assert counts.keys() == set(range(5, 11))
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_draws_each_order_as_often() -> None:
    draws = Draws(4)
    counts = Counter(tuple(draws.shuffled("abc")) for _ in range(3000))
    assert counts.keys() == set(permutations("abc"))
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_samples_without_replacement_and_leaves_the_population_alone() -> None:
    population = list(range(20))
    drawn = Draws(5).sample(population, 8)
    assert len(set(drawn)) == 8
    assert population == list(range(20))


def test_skips_the_incomplete_last_round() -> None:
    """A limit just over half of all words refuses nearly half of them, and stays below itself."""
    limit = 2**63 + 1
    words = [int.from_bytes(sha256(f"6#{k}".encode()).digest()[:8], "big") for k in range(40)]
    kept = [word for word in words if word < limit]
    draws = Draws(6)
    assert [draws.below(limit) for _ in range(10)] == kept[:10]
    assert kept[:10] != words[:10]


def test_rejects_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="below 0"):
        Draws(1).below(0)
    with pytest.raises(ValueError, match="3 cannot be drawn out of 2"):
        Draws(1).sample("ab", 3)
