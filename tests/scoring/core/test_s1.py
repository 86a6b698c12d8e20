import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.s1 import (
    REFERENCE_POLICIES,
    s1_best,
    s1_score,
    s1_union,
    score_many,
    score_one,
)

spans = st.lists(st.sampled_from(["a", "b", "c", "A", "a ", "", "New York"]), max_size=5)
golds = st.lists(spans, max_size=4)


def plain_s1(predicted: list[str], gold: list[str]) -> Fraction:
    """The definition, word for word: precision, recall, their harmonic mean."""
    predicted = list(dict.fromkeys(p for p in predicted if p != ""))
    gold = list(dict.fromkeys(g for g in gold if g != ""))
    if predicted == [] and gold == []:
        return Fraction(1)
    hits = sum(1 for p in predicted if p in gold)
    if predicted == [] or gold == [] or hits == 0:
        return Fraction(0)
    precision, recall = Fraction(hits, len(predicted)), Fraction(hits, len(gold))
    return 2 / (1 / precision + 1 / recall)


def test_scores_a_partly_right_answer() -> None:
    assert s1_score(["a", "b"], ["b", "c", "d"]) == pytest.approx(0.4)


def test_meets_every_unit_case_of_the_reference(reference: Callable) -> None:
    for case in reference("s1_scores")["unit_cases"]:
        assert s1_score(case["predicted"], case["gold"]) == pytest.approx(case["s1"], abs=1e-12)


@given(predicted=spans, gold=spans)
def test_agrees_with_the_definition_in_exact_fractions(predicted: list, gold: list) -> None:
    assert s1_score(predicted, gold) == pytest.approx(float(plain_s1(predicted, gold)), abs=1e-15)


@given(predicted=spans, gold=spans, seed=st.integers(0, 99))
def test_ignores_order_and_repetition(predicted: list, gold: list, seed: int) -> None:
    shuffled = predicted * 2
    random.Random(seed).shuffle(shuffled)
    assert s1_score(shuffled, gold[::-1] + gold) == s1_score(predicted, gold)


@given(predicted=spans, gold=spans)
def test_keeps_its_score_when_strings_are_renamed_one_to_one(predicted: list, gold: list) -> None:
    def rename(strings: list[str]) -> list[str]:
        return [s and f"<{s}>" for s in strings]

    assert s1_score(rename(predicted), rename(gold)) == s1_score(predicted, gold)


@given(predicted=spans, gold=spans)
def test_scores_both_directions_alike(predicted: list, gold: list) -> None:
    assert s1_score(predicted, gold) == s1_score(gold, predicted)


def test_takes_any_collection_of_strings() -> None:
    assert s1_score({"a"}, ("a", "b")) == s1_score(frozenset({"a"}), {"a": 1, "b": 2}.keys())


def test_takes_the_best_alternative_or_their_union() -> None:
    alternatives = [["a"], ["a b"], ["c", "d"]]
    assert s1_best(["a"], alternatives) == 1
    assert s1_union(["a"], alternatives) == pytest.approx(2 / 5)
    assert score_one(["a"], alternatives, references="set") == pytest.approx(2 / 5)


@given(predicted=spans, gold=spans)
def test_gives_both_policies_one_score_where_there_is_one_alternative(
    predicted: list, gold: list
) -> None:
    assert s1_best(predicted, [gold]) == s1_union(predicted, [gold]) == s1_score(predicted, gold)


def test_reads_no_alternative_as_an_empty_gold() -> None:
    assert s1_best([], []) == s1_union([], []) == s1_best([""], [[""]]) == 1
    assert s1_best(["a"], []) == s1_union(["a"], []) == 0


@given(rows=st.lists(st.tuples(spans, golds), max_size=12))
@pytest.mark.parametrize("references", ["set", "any"])
def test_scores_many_answers_as_it_scores_one(references: str, rows: list) -> None:
    predictions = [predicted for predicted, _ in rows]
    alternatives = [gold for _, gold in rows]
    many = score_many(predictions, range(len(rows)), alternatives, references=references)
    one = [score_one(p, gold, references=references) for p, gold in rows]
    assert many.tolist() == pytest.approx(one, abs=1e-15)


def test_scores_many_answers_to_few_items() -> None:
    scores = score_many([["a"], ["b"], [], ["a", "a"]], [0, 0, 1, 0], [[["a"]], [[]]])
    assert scores.tolist() == [1, 0, 1, 1]


def test_scores_no_answers_at_all() -> None:
    assert score_many([], [], [[["a"]]]).shape == (0,)


@pytest.mark.parametrize("score", [s1_score, s1_best, s1_union])
def test_rejects_a_string_in_place_of_a_collection(score: Callable) -> None:
    with pytest.raises(ValueError, match="'Belgrade' is one string"):
        score("Belgrade", [["Belgrade"]])


@pytest.mark.parametrize(
    ("predictions", "items", "message"),
    [
        (["a"], [0], "one string"),
        ([["a"]], [1], "outside the 1 items"),
        ([["a"]], [-1], "outside the 1 items"),
        ([["a"]], [0, 0], "1 answers but item indices"),
    ],
)
def test_rejects_bad_rows(predictions: list, items: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_many(predictions, items, [[["a"]]])


@pytest.mark.parametrize("gold", ["Belgrade", ""])
@pytest.mark.parametrize("references", REFERENCE_POLICIES)
def test_rejects_a_string_in_place_of_alternatives(gold: str, references: str) -> None:
    with pytest.raises(ValueError, match=f"'{gold}' is one string"):
        score_many([["Belgrade"]], [0], [gold], references=references)


def test_rejects_an_unknown_policy() -> None:
    with pytest.raises(ValueError, match="'best'"):
        score_many([["a"]], [0], [[["a"]]], references="best")
    with pytest.raises(ValueError, match="'best'"):
        score_one(["a"], [["a"]], references="best")


@given(rows=st.lists(st.tuples(spans, golds), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_gives_each_answer_its_own_score_in_any_order(rows: list, seed: int) -> None:
    alternatives = [gold for _, gold in rows]
    predictions = [predicted for predicted, _ in rows]
    order = np.random.default_rng(seed).permutation(len(rows))
    shuffled = score_many([predictions[i] for i in order], order, alternatives)
    assert (
        shuffled.tolist() == score_many(predictions, range(len(rows)), alternatives)[order].tolist()
    )
