import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models.errors import BadInput
from scoring.models import Run
from tests.scoring.runs.runs_from import FILES, answers, imported, toy_benchmark, written

pytestmark = pytest.mark.django_db

MOOD = next((FILES / "lm_eval").glob("samples_mood_*"))
NAMES = next((FILES / "lm_eval").glob("samples_names_*"))


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], None], source: Path = MOOD) -> Path:
    """A copy of the samples with every row changed, and the results file beside it."""
    for results in source.parent.glob("results_*"):
        shutil.copy(results, tmp_path)
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    for row in rows:
        change(row)
    return written(tmp_path / source.name, rows)


def test_takes_the_likeliest_choice() -> None:
    run = imported(MOOD, toy_benchmark()).runs[0].run
    assert answers(run) == {
        "test 0": ["bad"],
        "test 1": ["good"],
        "test 2": ["good"],
        "test 3": ["bad"],
    }
    assert (run.system, run.method, run.shots, run.split) == ("made/Toy-1B", "ICL", 2, None)


def test_takes_the_first_of_equally_likely_choices(tmp_path: Path) -> None:
    def tie(row: dict[str, Any]) -> None:
        row["filtered_resps"] = [["-1.0", "False"], ["-1.0", "False"]]

    run = imported(changed(tmp_path, tie), toy_benchmark()).runs[0].run
    assert set(map(tuple, answers(run).values())) == {("bad",)}


def test_leaves_out_what_weighs_the_choices_without_the_prompt(tmp_path: Path) -> None:
    def weigh_alone(row: dict[str, Any]) -> None:
        for number in (0, 1):
            alone = {"arg_0": "", "arg_1": row["arguments"][f"gen_args_{number}"]["arg_1"]}
            row["arguments"][f"gen_args_{number + 2}"] = alone
            row["filtered_resps"].append(["0.0", "False"])

    run = imported(changed(tmp_path, weigh_alone), toy_benchmark()).runs[0].run
    assert answers(run)["test 1"] == ["good"]


def test_reads_what_lettered_choices_stand_for(tmp_path: Path) -> None:
    def letter(row: dict[str, Any]) -> None:
        row["doc"]["choices"] = ["bad", "good"]
        for number, name in enumerate("AB"):
            row["arguments"][f"gen_args_{number}"]["arg_1"] = f" {name}"

    run = imported(changed(tmp_path, letter), toy_benchmark()).runs[0].run
    assert answers(run)["test 1"] == ["good"]


def test_asks_which_filter_counts() -> None:
    with pytest.raises(BadInput, match=r"several filters \(first-word, none\).*--filter"):
        imported(NAMES, toy_benchmark())
    with pytest.raises(BadInput, match="has no filter “last”"):
        imported(NAMES, toy_benchmark("other"), choice="last")


def test_reads_the_chosen_filter_alone() -> None:
    report = imported(NAMES, toy_benchmark(), choice="none")
    assert answers(report.runs[0].run) == {
        "test 0": ["Anna", "Boris"],
        "test 1": [],
        "test 2": ["Boris"],
        "test 3": ["Anna", "Boris"],
    }
    assert report.total.left_out == 4
    assert "a JSON list of strings, else one piece per line" in report.runs[0].notes[0]


def test_joins_by_the_document_where_it_has_no_id(tmp_path: Path) -> None:
    def count_wrongly(row: dict[str, Any]) -> None:
        del row["doc"]["id"]
        row["doc_id"] = 3 - row["doc_id"]

    run = imported(changed(tmp_path, count_wrongly), toy_benchmark()).runs[0].run
    assert answers(run)["test 0"] == ["bad"]


def test_does_not_believe_an_id_whose_text_is_another_examples(tmp_path: Path) -> None:
    def number_anew(row: dict[str, Any]) -> None:
        row["doc"]["id"] = f"test {3 - row['doc_id']}"

    run = imported(changed(tmp_path, number_anew), toy_benchmark()).runs[0].run
    assert answers(run)["test 0"] == ["bad"]


def test_counts_rows_that_were_written_twice(tmp_path: Path) -> None:
    twice = tmp_path / MOOD.name
    twice.write_text(MOOD.read_text() * 2)
    report = imported(twice, toy_benchmark(), run={"shots": 2, "system": "Toy"})
    assert (report.total.matched, report.total.duplicate) == (4, 4)


def test_says_which_facts_are_missing_without_the_results_file(tmp_path: Path) -> None:
    shutil.copy(MOOD, tmp_path)
    with pytest.raises(BadInput, match=r"nothing names the system.*--system"):
        imported(tmp_path / MOOD.name, toy_benchmark())
    run = imported(tmp_path / MOOD.name, toy_benchmark("b"), run={"shots": 2, "system": "Toy"})
    assert run.runs[0].run.system == "Toy"


def as_lists(row: dict[str, Any]) -> None:
    """As older versions wrote the arguments."""
    row["arguments"] = [[given["arg_0"], given["arg_1"]] for given in row["arguments"].values()]


def test_reads_arguments_that_are_lists(tmp_path: Path) -> None:
    run = imported(changed(tmp_path, as_lists), toy_benchmark()).runs[0].run
    assert answers(run) == answers(imported(MOOD, toy_benchmark("other")).runs[0].run)


def test_reads_what_was_written_after_arguments_that_are_lists(tmp_path: Path) -> None:
    path = changed(tmp_path, as_lists, NAMES)
    run = imported(path, toy_benchmark(), choice="none").runs[0].run
    assert answers(run)["test 3"] == ["Anna", "Boris"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["prompt"], "“arguments” does not list a prompt and what followed"),
        ([["prompt"]], "“arguments” does not list a prompt and what followed"),
        ([["prompt", " bad"]], "the row has 2 filtered responses to 1 requests"),
        ([], "the row has 2 filtered responses to 0 requests"),
        (None, "the row has 2 filtered responses to 0 requests"),
    ],
)
def test_refuses_arguments_that_do_not_say_what_was_weighed(
    tmp_path: Path, arguments: object, sentence: str
) -> None:
    """A log-likelihood is no answer."""

    def lose(row: dict[str, Any]) -> None:
        row["arguments"] = arguments

    with pytest.raises(BadInput, match=sentence):
        imported(changed(tmp_path, lose), toy_benchmark())
    assert not Run.every.exists()


def test_refuses_a_row_whose_likelihoods_are_missing(tmp_path: Path) -> None:
    def lose(row: dict[str, Any]) -> None:
        if row["doc_id"] == 1:
            row["filtered_resps"] = ["", ""]

    report = imported(changed(tmp_path, lose), toy_benchmark())
    assert (report.total.matched, report.total.refused, report.total.missing) == (3, 1, 1)
