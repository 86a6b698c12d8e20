import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core import s1 as floors
from scoring.core.s1 import score_many

Figures = Callable[..., Any]
DEMO = Path(__file__).parents[3] / "annotation/simulation/demo/benchmark"


class Task:
    """A CLUES test file as plain lists."""

    def __init__(self, path: Path) -> None:
        self.rows = [json.loads(line) for line in path.read_text().splitlines()]
        self.answers = [[text(a) for a in row["answer"] if text(a)] for row in self.rows]

    def one_set(self) -> list[list[list[str]]]:
        return [[answer] for answer in self.answers]

    def references(self) -> list[list[list[str]]]:
        return [[[string] for string in answer] for answer in self.answers]


def text(answer: str | dict) -> str:
    return answer["text"] if isinstance(answer, dict) else answer


@pytest.fixture
def published(reference: Callable) -> Figures:
    values = reference("s1_scores")

    def figure(task: str, name: str, references: str = "set") -> object:
        return near(values[task][name][references])

    return figure


def percent(predictions: list, golds: list, references: str) -> float:
    return 100 * score_many(predictions, range(len(golds)), golds, references=references).mean()


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-6)


def test_meets_the_floors_of_sst2(clues: Path, published: Figures) -> None:
    golds, labels = Task(clues / "SST-2/sst_test.jsonl").one_set(), ["negative", "positive"]
    best, score = floors.best_constant_label(golds, labels)
    worst = floors.best_constant_label(golds, ["negative"])[1]
    every = floors.every_candidate_score(golds, [labels] * len(golds))
    assert (len(golds), best) == (210, "positive")
    assert 100 * score == published("SST-2", "constant_positive")
    assert 100 * worst == published("SST-2", "constant_negative")
    assert 100 * every == published("SST-2", "all_labels_at_once")
    assert floors.empty_score(golds) == published("SST-2", "all_empty")
    assert percent([["Negative"]] * 210, golds, "set") == published(
        "SST-2", "CASE_constant_Negative"
    )
    assert percent([gold[0] for gold in golds], golds, "set") == 100


def test_meets_the_figures_of_conll03(clues: Path, published: Figures) -> None:
    task = Task(clues / "CoNLL2003/conll_test.jsonl")
    golds = task.one_set()
    first = [answer[:1] for answer in task.answers]
    whole = [[row["context"]] for row in task.rows]
    assert 100 * floors.empty_score(golds) == published("CoNLL03", "all_empty")
    assert percent(whole, golds, "set") == published("CoNLL03", "whole_context")
    assert percent(first, golds, "set") == published("CoNLL03", "first_span_only")
    assert percent(task.answers, golds, "set") == 100


@pytest.mark.parametrize("asked_for", ["locations", "people names"])
def test_meets_the_floor_of_one_conll03_question(
    clues: Path, published: Figures, asked_for: str
) -> None:
    task = Task(clues / "CoNLL2003/conll_test.jsonl")
    rows = zip(task.one_set(), task.rows, strict=True)
    golds = [gold for gold, row in rows if asked_for in row["question"]]
    assert len(golds) == 200
    assert 100 * floors.empty_score(golds) == published("CoNLL03", f"all_empty | {asked_for}")


@pytest.mark.parametrize("references", ["set", "any"])
def test_meets_the_figures_of_squadv2(clues: Path, published: Figures, references: str) -> None:
    task = Task(clues / "SQuAD-v2/squad-v2_test.jsonl")
    golds = task.references()
    plausible = [[text(a) for a in row.get("plausible_answers", [])[:1]] for row in task.rows]
    figures: dict[str, list[Any]] = {
        "all_empty": [()] * len(golds),
        "gold_as_prediction": task.answers,
        "first_reference_only": [answer[:1] for answer in task.answers],
        "longest_reference_only": [sorted(a, key=len)[-1:] for a in task.answers],
        "plausible_answers_for_impossible": [
            a[:1] or p for a, p in zip(task.answers, plausible, strict=True)
        ],
    }
    for name, predictions in figures.items():
        expected = published("SQuADv2", name, references)
        assert percent(predictions, golds, references) == expected, name


@pytest.mark.parametrize("references", ["set", "any"])
def test_meets_the_figure_of_the_answerable_squadv2_items(
    clues: Path, published: Figures, references: str
) -> None:
    answerable = [
        gold for gold in Task(clues / "SQuAD-v2/squad-v2_test.jsonl").references() if gold
    ]
    first = [gold[0] for gold in answerable]
    expected = published("SQuADv2", "first_reference_only | answerable", references)
    assert len(answerable) == 101
    assert percent(first, answerable, references) == expected


@pytest.mark.parametrize("references", ["set", "any"])
def test_meets_the_floors_of_record(clues: Path, published: Figures, references: str) -> None:
    task = Task(clues / "ReCoRD/record_test.jsonl")
    golds = task.one_set() if references == "set" else task.references()
    candidates = [
        [row["context"][e["start"] : e["end"] + 1] for e in row["entities"]] for row in task.rows
    ]
    rules: dict[str, Callable[..., float]] = {
        "most_frequent_entity": floors.most_frequent_candidate_score,
        "first_entity": floors.first_candidate_score,
        "all_entities": floors.every_candidate_score,
    }
    for name, floor in rules.items():
        expected = published("ReCoRD", name, references)
        assert 100 * floor(golds, candidates, references=references) == expected, name
    assert floors.empty_score(golds) == published("ReCoRD", "all_empty")
    first = [answer[:1] for answer in task.answers]
    assert percent(task.answers, golds, references) == percent(first, golds, references) == 100


def test_shows_what_one_span_can_reach_on_squadv2(clues: Path, published: Figures) -> None:
    golds = Task(clues / "SQuAD-v2/squad-v2_test.jsonl").references()
    first = published("SQuADv2", "first_reference_only")
    assert 100 * floors.ceiling_score(golds, most=1, references="set") == near(first)
    assert floors.ceiling_score(golds, most=1, references="any") == 1


class TestDemonstration:
    """What follows for its test files from counting rows."""

    def test_meets_the_counts_of_its_labels(self) -> None:
        golds = Task(DEMO / "Reviews/reviews_test.jsonl").one_set()
        labels = [label for [[label]] in golds]
        counts = {label: labels.count(label) for label in sorted(set(labels))}
        best, score = floors.best_constant_label(golds, list(counts))
        assert (counts[best], score) == (max(counts.values()), max(counts.values()) / 24)
        assert floors.every_candidate_score(golds, [list(counts)] * 24) == near(2 / 3)
        assert floors.empty_score(golds) == 0

    def test_meets_the_counts_of_its_names(self) -> None:
        golds = (task := Task(DEMO / "Newsroom/newsroom_test.jsonl")).one_set()
        sizes = [len(answer) for answer in task.answers]
        assert 36 > sizes.count(0) > 0
        assert floors.empty_score(golds) == near(sizes.count(0) / 36)
        one_piece = sum(2 / (1 + size) if size else 1 for size in sizes) / 36
        assert floors.ceiling_score(golds, most=1) == near(one_piece)

    def test_meets_the_counts_of_its_alternatives(self) -> None:
        golds = (task := Task(DEMO / "Reading/reading_test.jsonl")).references()
        sizes = [len(set(answer)) for answer in task.answers]
        assert max(sizes) > 1
        one_of_all = sum(2 / (1 + size) if size else 1 for size in sizes) / 16
        assert floors.ceiling_score(golds, most=1, references="set") == near(one_of_all)
        assert floors.ceiling_score(golds, most=1, references="any") == 1
        assert floors.empty_score(golds) == near(sizes.count(0) / 16)

    def test_meets_the_counts_of_its_candidates(self) -> None:
        golds = (task := Task(DEMO / "Cloze/cloze_test.jsonl")).one_set()
        candidates = [
            [row["context"][e["start"] : e["end"] + 1] for e in row["entities"]]
            for row in task.rows
        ]
        pairs = [(names, answer[0]) for names, answer in zip(candidates, task.answers, strict=True)]
        first = sum(names[0] == right for names, right in pairs) / 16
        often = sum(max(names, key=names.count) == right for names, right in pairs) / 16
        every = sum(2 / (1 + len(set(names))) for names, _ in pairs) / 16
        assert floors.first_candidate_score(golds, candidates) == near(first)
        assert floors.most_frequent_candidate_score(golds, candidates) == near(often)
        assert floors.every_candidate_score(golds, candidates) == near(every)


def test_ceiling_is_never_passed_by_any_answer_of_the_form() -> None:
    golds: list[list[list[str]]] = [[["a", "b", "c"], ["d"]], [["x", "y"]], [[]]]
    offered = [["a", "d", "z"], ["x"], ["q"]]
    singles: list[list[list[str]]] = [[[s] for s in strings] + [[]] for strings in offered]
    for references in ("set", "any"):
        best = [
            max(score_many(choices, [item] * len(choices), golds, references=references))
            for item, choices in enumerate(singles)
        ]
        ceiling = floors.ceiling_score(golds, offered=offered, most=1, references=references)
        assert ceiling == pytest.approx(np.mean(best))


def test_ceiling_counts_a_gold_that_nobody_can_give_as_zero() -> None:
    assert floors.ceiling_score([[["absent"]], [["there"]]], offered=[["x"], ["there"]]) == 0.5


def test_breaks_ties_by_first_occurrence() -> None:
    candidates = [["b", "a", "a", "b"]]
    assert floors.most_frequent_candidate_score([[["b"]]], candidates) == 1
    assert floors.most_frequent_candidate_score([[["a"]]], candidates) == 0
    assert floors.best_constant_label([[["a"]], [["b"]]], ["b", "a"]) == ("b", 0.5)


def test_scores_an_item_without_candidates_as_empty() -> None:
    assert floors.first_candidate_score([[["a"]], [[]]], [[], []]) == 0.5
    assert floors.most_frequent_candidate_score([[["a"]], [[]]], [[], []]) == 0.5


def test_has_no_floor_without_items() -> None:
    assert np.isnan(floors.empty_score([]))
    assert np.isnan(floors.ceiling_score([]))


def test_rejects_candidates_of_another_number_of_items() -> None:
    with pytest.raises(ValueError, match="1 items but candidates for 2"):
        floors.first_candidate_score([[["a"]]], [["a"], ["b"]])
    with pytest.raises(ValueError, match="1 items but candidates for 0"):
        floors.ceiling_score([[["a"]]], offered=[])


def test_rejects_a_constant_without_labels_and_an_answer_of_no_spans() -> None:
    with pytest.raises(ValueError, match="no labels"):
        floors.best_constant_label([[["a"]]], [])
    with pytest.raises(ValueError, match="at most 0 spans"):
        floors.ceiling_score([[["a"]]], most=0)


GOLDS = st.lists(
    st.lists(st.sets(st.sampled_from("abc"), max_size=2), max_size=3), min_size=1, max_size=6
)


@given(golds=GOLDS, policy=st.sampled_from(["any", "set"]))
def test_finds_the_best_constant_text_among_all_that_gold_holds(
    golds: list[list[set[str]]], policy: str
) -> None:
    texts = sorted({text for gold in golds for texts in gold for text in texts})
    best = floors.best_constant_text(golds, references=policy)
    if texts:
        expected = floors.best_constant_label(golds, texts, references=policy)
        assert best[1] == pytest.approx(expected[1])
        assert best[0] in texts
    else:
        assert best == ("", floors.empty_score(golds, references=policy))
