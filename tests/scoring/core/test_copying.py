"""Mistakes shared with a system, against counting by hand and the binomial law."""

from math import comb

import numpy as np
import pytest

from scoring.core.copying import LEVEL, shared_mistakes

A, B = frozenset({"a"}), frozenset({"b"})


def test_is_a_binomial_tail_over_the_items_that_count() -> None:
    mistakes = dict.fromkeys(range(6), A)
    own = {**dict.fromkeys(range(5), A), 5: B}
    # Of 3 × 6 answers of the others 5 are the system's; all of them agree on none of the items.
    others = [{**dict.fromkeys(range(6), B), place: A} for place in range(3)]
    others[0] |= {3: A, 4: A}
    found = shared_mistakes(own, mistakes, others)
    assert (found.shared, found.items, found.usual) == (5, 6, 5 / 18)
    usual = 6 / 20
    tail = sum(comb(6, k) * usual**k * (1 - usual) ** (6 - k) for k in (5, 6))
    assert found.p == pytest.approx(tail)
    assert found.is_beyond_chance


def test_counts_no_item_that_everybody_gets_wrong_alike_or_few_answered() -> None:
    own = mistakes = {1: A, 2: A, 3: A}
    others = [{1: A, 2: A}, {1: A, 2: B}, {1: A}]
    found = shared_mistakes(own, mistakes, others)
    assert (found.shared, found.items) == (1, 1)
    assert shared_mistakes({}, mistakes, others).p == 1


def test_does_not_depend_on_the_order_of_items_or_people() -> None:
    rng = np.random.default_rng(7)
    people = [{item: (A, B)[rng.integers(2)] for item in range(30)} for _ in range(6)]
    mistakes = dict.fromkeys(range(0, 30, 2), A)
    found = shared_mistakes(people[0], mistakes, people[1:])
    turned = [dict(reversed(one.items())) for one in people]
    assert found == shared_mistakes(turned[0], dict(reversed(mistakes.items())), turned[:0:-1])


def test_flags_hardly_anybody_who_answers_like_the_others() -> None:
    """People who are wrong at random, each item as hard for all; one draw in a thousand at most."""
    rng, flagged = np.random.default_rng(11), 0
    for _ in range(1000):
        hard = rng.uniform(0.1, 0.6, size=40)
        wrong = rng.uniform(size=(6, 40)) < hard
        people = [{item: (B, A)[int(row[item])] for item in range(40)} for row in wrong]
        mistakes = {item: A for item in range(40) if rng.uniform() < hard[item]}
        found = shared_mistakes(people[0], mistakes, people[1:])
        flagged += found.is_beyond_chance and found.p <= LEVEL
    assert flagged <= 1
