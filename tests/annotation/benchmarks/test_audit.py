from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.audit import Finding
from annotation.benchmarks.importing import import_benchmark
from annotation.benchmarks.material import Material, ceiling_score, floor_scores
from annotation.models import Task
from tests.annotation.benchmarks.clues_files import Row, choice_row, spans_row, write_task

pytestmark = pytest.mark.django_db


def audited(
    tmp_path: Path,
    test: Sequence[Row] = (),
    shots: Mapping[tuple[int, int], Sequence[Row]] | None = None,
    **task_file: Any,
) -> dict[str, Finding]:
    """The findings for one task of these files, by code."""
    write_task(tmp_path / "Task", test, {} if shots is None else shots, **task_file)
    (task,) = import_benchmark(tmp_path, name="mine").tasks
    return {finding.code: finding for finding in task.findings}


def of_clues(clues: Path, slug: str) -> dict[str, Finding]:
    (task,) = import_benchmark(clues, name="clues", tasks=[slug]).tasks
    return {finding.code: finding for finding in task.findings}


@pytest.mark.parametrize(("gold", "severity"), [("AAAAA", "warning"), ("AAABB", "note")])
def test_doubts_a_task_that_one_answer_is_enough_for(
    tmp_path: Path, gold: str, severity: str
) -> None:
    rows = [choice_row(n, choices=["one", "two"], answer=letter) for n, letter in enumerate(gold)]
    finding = audited(tmp_path, rows)["floors"]
    assert finding.severity == severity
    assert ("people notice" in finding.message) == (severity == "warning")


class TestClues:
    """The published files, against the published figures."""

    def test_finds_the_faults_of_conll03(self, clues: Path) -> None:
        findings = of_clues(clues, "conll03")
        assert findings["equal_test_rows"].figures == {"count": 3, "distinct": 597}
        assert findings["gold_not_in_context"].figures == {"count": 4}
        assert '“"MOODY S"”' in " ".join(findings["gold_not_in_context"].examples)
        assert findings["floors"].figures["set"] == {"empty": pytest.approx(51.333333)}
        assert findings["ceiling"].figures == {"any": 100, "set": 100}
        assert findings["reach"].figures["spans"] == 760

    def test_finds_the_ids_of_sst2(self, clues: Path) -> None:
        findings = of_clues(clues, "sst2")
        assert findings["several_ids"].figures == {
            "contents": 150,
            "several_ids": 99,
            "ambiguous_ids": 30,
        }
        assert findings["floors"].figures["any"] == {
            "empty": 0,
            "best_label": pytest.approx(56.190476),
            "every_label": pytest.approx(66.666667),
        }
        assert "labels_not_in_question" not in findings

    def test_finds_the_chains_and_alternatives_of_squadv2(self, clues: Path) -> None:
        findings = of_clues(clues, "squadv2")
        nesting = findings["shots_do_not_nest"]
        assert nesting.figures["chains"] == ["1→5→5", "2→3→1", "3→1→2", "4→4→4", "5→2→3"]
        assert "1→5→5, 2→3→1, 3→1→2, 4→4→4, 5→2→3" in nesting.message
        assert findings["several_alternatives"].figures["rows"] == 55
        assert findings["ceiling"].figures == {"any": 100, "set": pytest.approx(88.8)}
        assert findings["floors"].figures["any"] == {"empty": pytest.approx(49.5)}
        assert findings["reach"].figures["share"] > 0.98

    def test_finds_the_floors_of_record(self, clues: Path) -> None:
        findings = of_clues(clues, "record")
        assert findings["floors"].figures["any"] == {
            "empty": 0,
            "most_frequent_candidate": pytest.approx(21),
            "first_candidate": pytest.approx(12.5),
            "every_candidate": pytest.approx(18.026962),
        }
        assert {"training_in_test", "gold_not_offered"}.isdisjoint(findings)


def test_finds_no_fault_in_a_clean_task(tmp_path: Path) -> None:
    findings = audited(
        tmp_path, [choice_row(1), choice_row(2)], {(2, 1): [choice_row(3), choice_row(4)]}
    )
    assert {finding.severity for finding in findings.values()} == {"note"}
    assert set(findings) == {"floors", "ceiling", "rows"}


def test_finds_shot_sets_whose_numbers_are_permuted(tmp_path: Path) -> None:
    one, two, three, four = (choice_row(n) for n in range(1, 5))
    shots = {(1, 1): [one], (1, 2): [two], (2, 1): [two, three], (2, 2): [one, four]}
    findings = audited(tmp_path, shots=shots)
    assert findings["shots_do_not_nest"].severity == "warning"
    assert findings["shots_do_not_nest"].figures == {"count": 2, "chains": ["1→2", "2→1"]}
    assert "shot_sets_without_chain" not in findings


def test_tells_that_shot_sets_nest(tmp_path: Path) -> None:
    shots = {(1, 1): [choice_row(1)], (2, 1): [choice_row(1), choice_row(2)]}
    findings = audited(tmp_path, shots=shots)
    assert findings["shots_nest"].severity == "note"
    assert "1→1" in findings["shots_nest"].message


def test_finds_shot_sets_without_a_chain(tmp_path: Path) -> None:
    shots = {(1, 1): [choice_row(1)], (2, 1): [choice_row(2), choice_row(3)]}
    findings = audited(tmp_path, shots=shots)
    assert findings["shot_sets_without_chain"].examples == ("train-2-1",)
    assert findings["shots_do_not_nest"].figures == {"count": 1, "chains": ["1"]}


def test_finds_gold_spans_that_are_not_in_the_context(tmp_path: Path) -> None:
    findings = audited(tmp_path, [spans_row(1, ["Anna", "Clara"]), spans_row(2, [""])])
    assert findings["gold_not_in_context"].figures == {"count": 1}
    assert findings["gold_not_in_context"].examples == ("test q1: “Clara”",)
    # Of {Anna, Clara} only Anna can be given: 2·1 / (1 + 2).
    assert findings["ceiling"].figures["any"] == pytest.approx(100 * (2 / 3 + 1) / 2)
    assert findings["ceiling"].severity == "warning"
    assert findings["reach"].figures["spans"] == 1


def test_finds_gold_spans_that_two_taps_do_not_reach(tmp_path: Path) -> None:
    findings = audited(tmp_path, [spans_row(1, ["nna"]), spans_row(2, ["Boris"]), spans_row(3, [])])
    assert findings["reach"].severity == "warning"
    assert findings["reach"].examples == ("“nna”",)
    assert (findings["reach"].figures["reached"], findings["reach"].figures["share"]) == (1, 0.5)


def test_says_where_the_browser_alone_knows_the_words(tmp_path: Path) -> None:
    rows = [spans_row(1, ["東京"], context="彼は東京で学ぶ。"), spans_row(2, ["Boris"])]
    reach = audited(tmp_path, rows)["reach"]
    assert "In scripts without spaces (1 of them)" in reach.message
    without = audited(tmp_path, [spans_row(2, ["Boris"])])["reach"]
    assert "without spaces" not in without.message


def test_looks_for_a_span_in_every_segment(tmp_path: Path) -> None:
    rows = [spans_row(1, ["Boris"], context=["Who met Anna?", "Boris did."]), spans_row(2, [])]
    findings = audited(tmp_path, rows)
    assert "gold_not_in_context" not in findings
    assert findings["reach"].figures["reached"] == 1


def test_notes_groups_that_may_be_clusters(tmp_path: Path) -> None:
    def rows_with(group: str, values: list[str]) -> list[dict[str, Any]]:
        return [
            {**spans_row(n, ["Boris"], context=f"Boris {n}"), "groups": {group: value}}
            for n, value in enumerate(values)
        ]

    likely = audited(tmp_path / "few", rows_with("story", [f"s{n // 3}" for n in range(15)]))
    assert likely["likely_clusters"].examples == ("story",)
    assert likely["likely_clusters"].severity == "note"
    for values in (["easy", "hard"] * 10, [f"s{n}" for n in range(15)]):
        folder = tmp_path / str(len(set(values)))
        assert "likely_clusters" not in audited(folder, rows_with("story", values))


def test_notes_labels_that_some_questions_alone_name(tmp_path: Path) -> None:
    rows = [choice_row(1, "entailment", question="entailment or not?"), choice_row(2, "good")]
    findings = audited(tmp_path / "some", rows)
    assert findings["labels_not_in_question"].examples == ("entailment", "good")
    assert findings["labels_not_in_question"].severity == "note"
    rows = [choice_row(n, label, question="Which?") for n, label in enumerate(("bad", "good"))]
    assert "labels_not_in_question" not in audited(tmp_path / "none", rows)


def test_finds_gold_that_is_not_offered(tmp_path: Path) -> None:
    rows = [choice_row(1, "good"), choice_row(2, "bad")]
    findings = audited(tmp_path, rows, choices=["good", "awful"])
    assert findings["gold_not_offered"].examples == ("test 2: bad",)
    assert findings["ceiling"].figures["any"] == 50


def test_finds_gold_that_no_candidate_has(tmp_path: Path) -> None:
    entities = [{"start": 0, "end": 3}]
    rows = [spans_row(n, [gold], entities=entities) for n, gold in [(1, "Anna"), (2, "Boris")]]
    findings = audited(tmp_path, rows)
    assert findings["gold_not_offered"].examples == ("test q2: Boris",)


def test_finds_several_alternatives_and_their_ceiling(tmp_path: Path) -> None:
    both = [{"text": "Anna"}, {"text": "Anna and Boris"}]
    findings = audited(tmp_path, [spans_row(1, both), spans_row(2, [])])
    # One of two strings: 2·1 / (1 + 2), and the empty answer in full.
    assert findings["several_alternatives"].figures == {
        "rows": 1,
        "ceiling_set": pytest.approx(100 * (2 / 3 + 1) / 2),
    }
    assert findings["ceiling"].figures["any"] == 100


def test_finds_training_examples_in_the_test(tmp_path: Path) -> None:
    shots = {(2, 1): [choice_row(1, id="again"), choice_row(7)], (1, 1): [choice_row(1)]}
    findings = audited(tmp_path, [choice_row(1), choice_row(2)], shots)
    assert findings["training_in_test"].figures == {"count": 1}
    assert "Review 1." in findings["training_in_test"].examples[0]


def test_finds_contexts_of_training_and_test_with_other_questions(tmp_path: Path) -> None:
    shots = {(1, 1): [spans_row(1, question="Where?")]}
    findings = audited(tmp_path, [spans_row(1), spans_row(2, [])], shots)
    assert findings["context_in_both"].figures == {"count": 1}
    assert "training_in_test" not in findings


def test_finds_equal_test_rows_and_their_other_gold(tmp_path: Path) -> None:
    rows = [choice_row(1), choice_row(1, id=2), choice_row(1, "bad", id=3), choice_row(4)]
    findings = audited(tmp_path, rows)
    assert findings["equal_test_rows"].figures == {"count": 2, "distinct": 2}
    assert "contents with more than one gold: 1" in findings["equal_test_rows"].message


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([spans_row(1, [{"text": "Anna", "answer_start": 7}]), spans_row(2)], "start_does_not_fit"),
        ([choice_row(1), choice_row(1, id="again")], "repeated_in_set"),
        ([choice_row(1, context=" "), choice_row(2)], "empty_context"),
    ],
)
def test_passes_on_what_the_reader_noted(tmp_path: Path, rows: list[Row], code: str) -> None:
    findings = audited(tmp_path, [choice_row(8), choice_row(9)], {(2, 1): rows})
    assert findings[code].severity == "warning"
    assert findings[code].figures == {"count": 1}
    assert findings[code].examples[0].startswith("Task/x_train_2_1.jsonl, line ")


def test_passes_on_gold_that_differs(tmp_path: Path) -> None:
    shots = {(1, 1): [choice_row(1, "good")], (1, 2): [choice_row(1, "bad")]}
    assert audited(tmp_path, shots=shots)["gold_differs"].figures == {"count": 1}


def test_shows_at_most_five_short_examples(tmp_path: Path) -> None:
    rows = [choice_row(1, id=n, context="long " * 100) for n in range(9)]
    shown = audited(tmp_path, rows)["equal_test_rows"]
    assert (shown.figures["count"], len(shown.examples)) == (8, 5)
    assert max(map(len, shown.examples)) == 160


@pytest.mark.parametrize(("code", "score"), [("floors", floor_scores), ("ceiling", ceiling_score)])
def test_scores_one_alternative_alike_under_both_policies(
    tmp_path: Path, code: str, score: Callable[[Material, str], Any]
) -> None:
    answers = [["Anna"], ["Boris"], ["Anna", "Boris"], [], ["absent"]]
    rows = [spans_row(number, answer) for number, answer in enumerate(answers)]
    found = audited(tmp_path, rows, {(2, 1): rows[:2]})[code]
    material = Material(Task.objects.get())
    assert found.figures == {policy: score(material, policy) for policy in ("any", "set")}
