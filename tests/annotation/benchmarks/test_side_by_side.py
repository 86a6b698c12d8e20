"""Files that lie side by side, under one name or under ids that they share: a task each."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.formats.task_files import also_said
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.test_published_files import gold_of
from tests.annotation.benchmarks.test_published_gaps import JOINED, of_folders
from tests.annotation.benchmarks.test_strange_tables import table
from tests.annotation.benchmarks.test_tables import read, read_text
from tests.annotation.benchmarks.test_unusual_shapes import asked_of, folder_of, said


def reviews(*labels: str, by: str = "label") -> str:
    rows = [(f"It is {n}.", labels[n % len(labels)]) for n in range(12)]
    return table("text", by, rows=rows)


def choices(path: Path, files: dict[str, str], **how: Any) -> dict[str, list[str]]:
    """The labels of each task."""
    return {task.slug: list(task.sets[-1].choices) for task in read(folder_of(files, path), **how)}


def test_takes_files_of_one_name_in_several_folders_for_tasks_of_their_own(tmp_path: Path) -> None:
    files = {
        "coarse/insults.test.jsonl": reviews("yes", "no"),
        "fine/insults.test.jsonl": reviews("rude", "vile", by="depth"),
        "fine/task.json": json.dumps({"columns": {"answer": "depth"}}),
        "other/moods.test.jsonl": reviews("glad", "sad"),
        "en/test/law.jsonl": reviews("just", "unjust"),
        "zh/test/law.jsonl": reviews("right", "wrong"),
    }
    assert choices(tmp_path, files) == {
        "law-en": ["just", "unjust"],
        "law-zh": ["right", "wrong"],
        "insults-coarse": ["no", "yes"],
        "insults-fine": ["rude", "vile"],
        "moods": ["glad", "sad"],
    }


def halves(level: str, *labels: str) -> dict[str, str]:
    """A table of texts and one of labels, under the same ids."""
    texts, golds = (
        table("id", column, rows=[(f"i{n}", of(n)) for n in range(12)])
        for column, of in (
            ("tweet", lambda n: f"Tweet {n}."),
            ("label", lambda n: labels[n % len(labels)]),
        )
    )
    return {f"testset-{level}.jsonl": texts, f"labels-{level}.jsonl": golds}


LEVELS = {**halves("levela", "OFF", "NOT"), **halves("levelb", "TIN", "UNT")}
TRAINING = "olid-training-v1.0.jsonl"
WANTED = {"levela": ["NOT", "OFF"], "levelb": ["TIN", "UNT"]}


def test_joins_files_by_what_their_names_have_in_common(tmp_path: Path) -> None:
    asked = asked_of(LEVELS, tmp_path)
    assert '"join": "id"' in asked.readings
    assert choices(tmp_path, LEVELS, said={"join": "id"}) == WANTED


@pytest.mark.parametrize("kept", ["testset-levela.csv", "labels-levela.csv"])
def test_refuses_to_join_what_has_no_rows(kept: str, tmp_path: Path) -> None:
    columns = {"testset-levela.csv": "tweet", "labels-levela.csv": "label"}
    files = {name: f"id,{of}\n" + "i0,Yes\n" * (name == kept) for name, of in columns.items()}
    with pytest.raises(BadInput, match=r"is empty|its “id” must stand once in"):
        read(folder_of(files, tmp_path), said={"join": "id"})


def test_joins_the_tests_beside_a_training_file_of_another_name(tmp_path: Path) -> None:
    files = {**LEVELS, TRAINING: table("id", "tweet", "subtask", rows=[("a", "No.", "OFF")] * 2)}
    asked = asked_of(files, tmp_path)
    assert '"join": "id"' in asked.readings
    asked = asked_of(files, tmp_path, said={"join": "id"})
    (line,) = asked.readings
    assert line == f'"leave_out": ["{TRAINING}"]'
    assert choices(tmp_path, files, said=also_said({"join": "id"}, said(line))) == WANTED


def test_joins_subtasks_with_the_gold_in_their_folders(tmp_path: Path) -> None:
    files = of_folders("id,gold\n")
    files |= {name.replace("subtaskA", "subtaskB"): text for name, text in files.items()}
    how = {**JOINED, "answer_by": "index", "parts": {"shots": "train"}}
    tasks = read(folder_of(files, tmp_path), said=how)
    assert [task.slug for task in tasks] == ["subtaska", "subtaskb"]
    assert [gold_of(task)[:2] for task in tasks] == [["t a0", "t b1"]] * 2


def test_joins_the_files_of_each_folder_that_says_so(tmp_path: Path) -> None:
    levels = {"a": halves("levela", "OFF", "NOT"), "b": halves("levelb", "TIN", "UNT")}
    files = {f"{of}/{name}": text for of, texts in levels.items() for name, text in texts.items()}
    files |= {f"{of}/task.json": '{"join": "id"}' for of in levels}
    assert choices(tmp_path, files) == {"a": ["NOT", "OFF"], "b": ["TIN", "UNT"]}


def test_says_which_files_of_a_label_a_line_are_read(tmp_path: Path) -> None:
    files = {"test.jsonl": table("text", rows=[("One.",), ("Two.",)]), "test.ans": "A\nB\n"}
    with pytest.raises(BadInput, match=r"no file is named for answers a line: .* test-labels\.txt"):
        read(folder_of(files, tmp_path), said={"join": "line"})


def test_reads_texts_and_labels_a_line_each(tmp_path: Path) -> None:
    files = {
        "irony/test_text.txt": "So glad\u2028.\n\tIt rains, again.\n" * 6,
        "irony/test_labels.txt": "1\n0\n" * 6,
        "irony/mapping.txt": "0\tno\n1\tyes\n",
    }
    asked = asked_of(files, tmp_path)
    assert "irony/test_labels.txt lies beside irony/test_text.txt" in asked.what
    how = {**said(next(iter(asked.readings))), "label_names": ["no", "yes"]}
    [task] = read(folder_of(files, tmp_path), said=how)
    assert (task.slug, gold_of(task)[:2]) == ("irony", ["yes", "no"])
    assert task.sets[-1].examples[1].context == ("It rains, again.",)


def test_names_what_is_sent_alone_for_its_version() -> None:
    assert read_text("in_domain_dev.jsonl", reviews("yes", "no")).slug == "in_domain"
