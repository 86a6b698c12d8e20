"""Published files with gaps that say nothing: options, answers, parts and pieces that only look as
if they were there. They are asked about or told, never taken for what they are not."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.formats.task_files import also_said
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.test_published_files import gold_of
from tests.annotation.benchmarks.test_strange_tables import question, table
from tests.annotation.benchmarks.test_tables import read, read_text
from tests.annotation.benchmarks.test_unusual_shapes import asked_of, folder_of, said

RIGHT = ["correct1", "correct2"]
OFFERED = [*RIGHT, "incorrect1", "incorrect2"]
DIALOGUES = table(
    *("conversation", *OFFERED),
    rows=[
        (f"Talk {n}", f"{n} hours", "none" if n % 3 else f"{n} h", f"{n} days", f"{n} weeks")
        for n in range(12)
    ],
)
SAID = {"kind": "labels", "columns": {"context": "conversation", "options": OFFERED}}
SAID["columns"]["answer"] = RIGHT  # type: ignore[index]


def test_asks_whether_a_sign_is_an_option() -> None:
    asked = question(DIALOGUES, said=SAID)
    assert [*asked.readings] == ['"missing": ["none"]', '"missing": []']
    assert "holds “none”, in 8 of 12 rows" in asked.what
    fewer = read_text("t.jsonl", DIALOGUES, said={**SAID, **said('"missing": ["none"]')})
    assert {len(row.options) for row in fewer.sets[-1].examples} == {3, 4}
    assert gold_of(fewer)[1] == "1 hours"
    assert "none" not in str(fewer.sets[-1].examples)
    assert len(fewer.notes["fewer_options"]) == 8
    kept = read_text("t.jsonl", DIALOGUES, said={**SAID, **said('"missing": []')})
    assert {len(row.options) for row in kept.sets[-1].examples} == {4}
    assert "none" in gold_of(kept)[1]


def test_says_which_sign_stands_nowhere() -> None:
    task = read_text("t.jsonl", DIALOGUES, said={**SAID, "missing": ["none", "n.a."]})
    assert task.notes["missing_unseen"] == ["n.a."]
    told = table(
        "text", "label", rows=[(f"Text {n}", ["good", "bad", "-"][n % 3]) for n in range(12)]
    )
    assert "missing_unseen" not in read_text("t.jsonl", told, said={"missing": ["-"]}).notes


def test_asks_whether_a_sign_is_one_of_several_answers() -> None:
    rows = [(f"Text {n}", f"Te {n}", ["none", f"ext {n}"][n % 2]) for n in range(12)]
    text = table("text", "first", "second", rows=rows)
    columns = {"kind": "text", "columns": {"answer": ["first", "second"]}}
    assert '"missing": ["none"]' in question(text, said=columns).readings


LABELS = ["NEUTRAL", "ENTAILMENT", "CONTRADICTION"]
EMOTIONS = ["anger", "joy", "fear"]


def emotions(part: str, *cells: object) -> str:
    rows = [(f"{part} {n}.", *cells[n % len(cells) :], *cells[: n % len(cells)]) for n in range(12)]
    return table("text", *EMOTIONS, rows=rows)


def test_leaves_out_a_file_of_one_word_for_every_label(tmp_path: Path) -> None:
    columns = {"kind": "labels", "columns": {"answer": EMOTIONS}}
    (tmp_path / "test.jsonl").write_text(emotions("test", *["NONE"] * 3))
    (tmp_path / "dev.jsonl").write_text(emotions("dev", 0, 1, 0))
    (task,) = read(tmp_path, said=columns)
    assert "dev 0." in task.sets[-1].examples[0].context
    assert "“fear” are “NONE” in every row" in task.notes["unlabelled"][0]


SICK = table(
    *("sentence_A", "sentence_B", "label", "SemEval_set"),
    rows=[
        (f"A {n} sleeps.", f"B {n} sleeps.", LABELS[n % 3], ["TRAIN", "TRIAL", "TEST"][n % 3])
        for n in range(120)
    ],
)
PAIRS = {"columns": {"context": ["sentence_A", "sentence_B"]}}


def test_asks_whether_a_column_names_the_part_of_a_row() -> None:
    asked = question(SICK, said=PAIRS)
    assert "“SemEval_set” holds names of parts of a set: test, train, trial." in asked.what
    line = '"columns": {"part": "SemEval_set"}'
    assert [*asked.readings] == [line, '"unused": ["SemEval_set"]']
    task = read_text("t.jsonl", SICK, said=also_said(PAIRS, said(line)))
    assert len(task.sets[-1].examples) == 40
    assert "A 2 sleeps." in task.sets[-1].examples[0].context
    assert "part: SemEval_set" in task.notes["columns"]
    dev = also_said(PAIRS, said(f'{line}, "parts": {{"test": "trial"}}'))
    assert "A 1 sleeps." in read_text("t.jsonl", SICK, said=dev).sets[-1].examples[0].context
    whole = read_text("t.jsonl", SICK, said={**PAIRS, "unused": ["SemEval_set"]})
    assert len(whole.sets[-1].examples) == 120


def reviews(*labels: str) -> str:
    return table(
        "text", "label", rows=[(f"It is {n}.", labels[n % len(labels)]) for n in range(12)]
    )


@pytest.mark.parametrize("other", ["dev.jsonl", "reviews.jsonl"])
def test_asks_whether_a_file_of_one_answer_has_none(other: str, tmp_path: Path) -> None:
    masked = "test.jsonl" if other == "dev.jsonl" else "reviews_masked_label.jsonl"
    files = {masked: reviews("neutral"), other: reviews("good", "neutral")}
    asked = asked_of(files, tmp_path, said={"kind": "choice"})
    lines = [f'"leave_out": ["{masked}"]', '"parts": {"test": "test"}']
    assert [*asked.readings] == lines
    assert asked.what.startswith(f"{masked}: every answer is “neutral”")
    (task,) = read(folder_of(files, tmp_path), said={"kind": "choice", **said(lines[0])})
    assert task.sets[-1].file == other
    kept = read(folder_of(files, tmp_path), said={"kind": "choice", **said(lines[1])})
    assert masked in {one.sets[-1].file for one in kept}


def test_asks_whether_no_label_fits_anywhere_in_a_file(tmp_path: Path) -> None:
    files = {"test.jsonl": emotions("test", 0, 0, 0), "dev.jsonl": ""}
    files["dev.jsonl"] = emotions("dev", 0, 1, 0) + "\n" + emotions("more", 0, 0, 0)
    asked = asked_of(files, tmp_path, said={"kind": "labels", "columns": {"answer": EMOTIONS}})
    assert "every answer is empty" in asked.what


def test_says_how_many_equal_pieces_count_once() -> None:
    rows = [("bad, bad and worse", [0, 1, 2, 5, 6, 7]), ("worse, really", [0, 1, 2, 3, 4])] * 2
    text = table("text", "answer", rows=[(f"{t} {n}", of) for n, (t, of) in enumerate(rows)])
    task = read_text("t.jsonl", text, said={"answers": "offsets", "kind": "spans"})
    assert task.notes["equal_pieces"] == [f"t.jsonl, line {n}: “bad”" for n in (1, 3)]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("SICK.txt", "id\ttext\n1\tA cat.\n", "SICK.txt holds tabs: rename it to end in .tsv"),
        ("bank.txt", "Sales rose .@positive\nNo .@neutral\n", "write “sep=@” above them"),
        ("dev.jsonl.tar.gz", "x", "is a tar archive, and only zip archives are read: unpack it"),
        ("ner.txt", "Anna B-PER\nmet O\nBo B-PER\n", "ner.txt holds a token a line, with its tag"),
        ("ner.conll", "Anna B-PER\nmet O\n", "ner.conll holds a token a line, with its tag"),
        ("ner.tsv", "Anna B-PER\nmet O\n", "ner.tsv holds a token a line, with its tag"),
        ("a.xml", "<a>", "a.xml is XML: write its texts as a table"),
    ],
)
def test_says_how_a_file_becomes_a_table(name: str, text: str, told: str, tmp_path: Path) -> None:
    folder = folder_of({name: text}, tmp_path)
    for source in (folder / name, folder):
        with pytest.raises(BadInput, match=told):
            read(source)


def test_reads_a_text_as_it_was_told_to() -> None:
    text = "sep=@\ntext@label\n" + "Sales rose .@positive\nNo sales .@neutral\n" * 6
    assert gold_of(read_text("bank.csv", text))[:2] == ["positive", "neutral"]


def gold_lines(part: str, heading: str) -> str:
    return heading + "".join(f"{part}{n},{n % 2}\n" for n in range(12))


def pair_lines(part: str) -> str:
    return "id,sent0,sent1\n" + "".join(f"{part}{n},{part} a{n},{part} b{n}\n" for n in range(12))


def of_folders(heading: str) -> dict[str, str]:
    return {
        "Dev Data/subtaskA_dev_data.csv": pair_lines("d"),
        "Dev Data/subtaskA_gold_answers.csv": gold_lines("d", heading),
        "Test Data/subtaskA_gold_answers.csv": gold_lines("t", heading),
        "Test Data/subtaskA_test_data.csv": pair_lines("t"),
        "Training  Data/subtaskA_answers_all.csv": gold_lines("r", heading),
        "Training  Data/subtaskA_data_all.csv": pair_lines("r"),
    }


JOINED = said(
    '"columns": {"question": "", "options": ["sent0", "sent1"], "answer": "gold"}, "join": "id"'
)


def test_joins_gold_with_the_data_of_its_folder(tmp_path: Path) -> None:
    how = {**JOINED, "answer_by": "index", "parts": {"shots": "train"}}
    (task,) = read(folder_of(of_folders("id,gold\n"), tmp_path), said=how)
    test = task.sets[-1]
    assert {row.source_id for row in test.examples} == {f"t{n}" for n in range(12)}
    assert gold_of(task)[:2] == ["t a0", "t b1"]
    assert "Dev Data" not in str(test)


def test_says_where_gold_in_its_own_file_lacks_a_heading(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gold_answers.csv: there is no column “id” to join"):
        read(folder_of(of_folders(""), tmp_path), said=JOINED)


def hybrid(*more: str) -> str:
    asked = [{"question": f"How many {n}?", **{name: str(n) for name in more}} for n in range(2)]
    rows = [([{"text": f"One {n}."}, {"text": f"Two {n}."}], asked) for n in range(8)]
    return table("paragraphs", "questions", rows=rows)


def test_offers_no_other_rows_than_those_it_was_told(tmp_path: Path) -> None:
    files = {"test.jsonl": hybrid(), "dev.jsonl": hybrid("answer")}
    columns = {"rows": "questions", "columns": {"context": "paragraphs.text"}, "kind": "text"}
    (task,) = read(folder_of(files, tmp_path), said=columns)
    assert task.sets[-1].examples[0].context == ("One 0.", "Two 0.")
    assert "test.jsonl" in task.notes["unlabelled"][0]


TABLES: list[dict[str, Any]] = [
    {
        "table": {"uid": f"t{n}", "table": [["", "2019", 2018], ["Revenue", 100 + n, 90.5]]},
        "paragraphs": [
            {"order": 1, "text": f"Firm {n} sells tea."},
            {"order": 2, "text": "Or so."},
        ],
        "questions": [
            {"uid": f"q{n}", "question": "What was sold?", "answer": f"{100 + n} tons"},
            {"uid": f"r{n}", "question": "When?", "answer": "2019", "answer_type": "span"},
        ],
    }
    for n in range(8)
]


def test_shows_a_table_that_a_cell_holds_as_lists() -> None:
    columns = {"context": ["table.table", "paragraphs.text"]}
    about: dict[str, Any] = {"rows": "questions", "kind": "text", "columns": columns}
    [first, *_] = read_text("t.json", json.dumps(TABLES), said=about).sets[-1].examples
    assert first.context == (" | 2019 | 2018\nRevenue | 100 | 90.5", "Firm 0 sells tea.", "Or so.")
    alone = [
        {"q": f"How much in {n}?", "text": row["table"]["table"], "a": n}
        for n, row in enumerate(TABLES)
    ]
    about = {"columns": {"context": "text", "question": "q", "answer": "a"}}
    [first, *_] = read_text("t.json", json.dumps(alone), said=about).sets[-1].examples
    assert first.context == (" | 2019 | 2018\nRevenue | 100 | 90.5",)
