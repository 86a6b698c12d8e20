"""Files as strangers brought them: what is asked of them can be answered by a line that is offered,
and no column, id or row is taken for another, or lost, in silence."""

import json
from pathlib import Path

import pytest

from annotation.benchmarks.formats.task_files import also_said
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.test_published_files import gold_of
from tests.annotation.benchmarks.test_strange_tables import question, table
from tests.annotation.benchmarks.test_tables import lines, read, read_text
from tests.annotation.benchmarks.test_unusual_shapes import asked_of, folder_of, said

PAIRS = [(f"Man {n} eats.", f"Somebody {n} eats.") for n in range(12)]
CONTEXT = '"columns": {"context": ["sentence1", "sentence2"]}'


def with_ids(*names: str) -> str:
    rows = [(*[f"{name}{n}" for name in names], f"Text {n}.", "yn"[n % 2]) for n in range(12)]
    return table(*names, "text", "label", rows=rows)


def test_takes_the_only_column_named_for_an_id_that_differs_everywhere() -> None:
    task = read_text("t.jsonl", with_ids("pair_id"))
    assert [row.source_id for row in task.sets[-1].examples][:2] == ["pair_id0", "pair_id1"]
    assert "id: pair_id" in task.notes["columns"]
    rows = [("u", f"Text {n}.", "yn"[n % 2]) for n in range(4)]
    repeated = table("user_id", "text", "label", rows=rows)
    assert read_text("t.jsonl", repeated).sets[-1].examples[0].source_id == "1"


def test_asks_which_of_several_is_the_id() -> None:
    text = with_ids("pair_id", "captionsID")
    asked = question(text)
    names = ["pair_id", "captionsID", ""]
    assert [*asked.readings] == [f'"columns": {{"id": "{name}"}}' for name in names]
    for line, first in zip(asked.readings, ["pair_id0", "captionsID0", "1"], strict=True):
        assert read_text("t.jsonl", text, said=said(line)).sets[-1].examples[0].source_id == first


def test_offers_an_id_that_repeats_as_a_group() -> None:
    rows = [(f"d{n // 3}", f"Turn {n}.", "yn"[n % 2], f"s{n % 2}") for n in range(12)]
    text = table("ID", "text", "label", "subject", rows=rows)
    asked = question(text)
    line = '"columns": {"id": "", "groups": ["subject", "ID"]}'
    assert [*asked.readings] == ['"columns": {"id": ""}', line]
    first = read_text("t.jsonl", text, said=said(line)).sets[-1].examples[0]
    assert (first.source_id, first.groups) == ("1", {"subject": "s0", "ID": "d0"})


def test_takes_what_is_named_for_correct_answers_and_an_object_beside_it_for_options() -> None:
    offered = {letter: f"{letter} is acid" for letter in "abc"}
    rows = [(f"Which is {n}?", offered, ["abc"[n % 3]]) for n in range(6)]
    task = read_text("t.jsonl", table("question", "answers", "correct_answers", rows=rows))
    assert gold_of(task)[:2] == ["a is acid", "b is acid"]
    dialogue = [(f"Hello {n}.", "So?", ["Yes.", "No."], [n % 2]) for n in range(6)]
    names = ("Target", "Question", "Choices", "Correct Answers")
    asked = question(table(*names, rows=dialogue))
    assert '"columns": {"context": ["Target"]}' in asked.readings


def test_offers_both_sentences_beside_their_label_or_score() -> None:
    labels = [(*pair, ["neutral", "entailment"][n % 2]) for n, pair in enumerate(PAIRS)]
    assert CONTEXT in question(table("sentence1", "sentence2", "gold_label", rows=labels)).readings
    scores = [("news", *pair, n / 4) for n, pair in enumerate(PAIRS)]
    asked = question(table("genre", "sentence1", "sentence2", "score", rows=scores))
    first = next(iter(asked.readings))
    assert said(first)["columns"] == {**said(CONTEXT)["columns"], "answer": "score"}


def test_offers_texts_that_are_counted_as_options() -> None:
    rows = [(f"So {n}.", f"Not {n}.", n % 2, f"As {n} is.") for n in range(12)]
    text = table("warrant0", "warrant1", "correctW0orW1", "reason", rows=rows)
    line = next(iter(question(text).readings))
    assert gold_of(read_text("t.jsonl", text, said=said(line)))[:2] == ["So 0.", "Not 1."]


@pytest.mark.parametrize("name", ["acceptable", "error"])
def test_offers_each_column_that_may_hold_the_answer(name: str) -> None:
    rows = [(f"Sentence {n}.", n % 2, "0" if n % 2 else "Syntax") for n in range(12)]
    text = table("sentence", "acceptable", "error", rows=rows)
    asked = question(text)
    assert [*asked.readings] == [f'"columns": {{"answer": "{n}"}}' for n in ("acceptable", "error")]
    how = {"kind": "choice", "unused": ["error"], "columns": {"answer": name}}
    assert len(read_text("t.jsonl", text, said=how).sets[-1].choices) == 2


def test_offers_pairs_of_texts_and_their_label_beside_what_annotators_did() -> None:
    rows = [
        (f"Ann {n} is poor.", f"Bo {n} is poor.", ["for", "against"][n % 2], f"a{n}")
        for n in range(12)
    ]
    names = ("sent_more", "sent_less", "direction", "anon_writer")
    lines_of = [said(line)["columns"] for line in question(table(*names, rows=rows)).readings]
    pair = ["sent_more", "sent_less"]
    assert {"context": pair, "answer": "direction"} in lines_of
    assert {"question": "", "options": pair, "answer": "sent_more"} in lines_of


def test_names_a_column_without_a_name() -> None:
    with pytest.raises(BadInput, match=r"there are \(no name\), one\."):
        read_text("t.csv", ",one\n0,x\n1,y\n")


def test_offers_to_leave_out_all_rows_without_options_or_with() -> None:
    rows: list[tuple[object, ...]] = [(f"Which of {n}?", ["x", "y"], "x") for n in range(30)]
    rows += [(f"How many {n}?", None, f"{n},456") for n in range(30)]
    text = table("question", "choices", "answer", rows=rows)
    asked = question(text)
    assert asked.what == "t.jsonl, line 31: 30 of 60 rows have no options of their own."
    for line, kind in zip(asked.readings, ["choice", "number"], strict=True):
        task = read_text("t.jsonl", text, said=said(line))
        assert (task.kind, len(task.sets[-1].examples)) == (kind, 30)


def test_takes_the_comma_of_a_number_for_no_sign_between_labels() -> None:
    golds = [f"{n % 9},456" if n % 2 else str(n % 9) for n in range(36)] + ["456", "yes", "no"]
    text = table("question", "answer", rows=[(f"How {n}?", gold) for n, gold in enumerate(golds)])
    assert "apart_by" not in str(question(text))


def test_offers_to_show_the_texts_that_do_not_repeat() -> None:
    rows = [
        (f"Which {n}?", "yn"[n % 2], f"Row {n}.", ["free", "fixed"][n % 2], {f"Price {n}": "ten"})
        for n in range(12)
    ]
    asked = question(table("question", "answer", "sheet", "sort", "cells", rows=rows))
    contexts = [said(line).get("columns", {}).get("context") for line in asked.readings]
    assert contexts[:2] == [["sheet", "sort"], ["sheet"]]


OPINIONS = [
    {"id": n, "text": f"The pool {n} is fine.", "opinions": [{"what": [["The pool"], ["0:8"]]}]}
    for n in range(6)
]


def test_offers_one_place_of_a_list_in_a_list() -> None:
    columns: dict[str, object] = {"columns": {"answer": "what", "context": "text"}}
    columns |= {"rows": "opinions", "kind": "spans"}
    asked = question(lines(OPINIONS), said=columns)
    assert asked.readings['"columns": {"answer": "what.0"}'] == '“["The pool", "0:8"]”'
    line = '"columns": {"answer": "what.[0]"}'
    assert asked.readings[line] == '“["The pool"]”'
    assert gold_of(read_text("t.jsonl", lines(OPINIONS), said=also_said(columns, said(line)))) == [
        "The pool"
    ] * len(OPINIONS)


def test_counts_rows_that_hold_no_question() -> None:
    text = lines([*OPINIONS, {"id": 6, "text": "Fine.", "opinions": []}])
    how: dict[str, object] = {"columns": {"answer": "what.[0]", "context": "text"}}
    how |= {"rows": "opinions", "kind": "spans"}
    told = (
        "7 read, 6 stored, 1 left out: 1 with nothing in “opinions”, the first in t.jsonl, line 7"
    )
    assert read_text("t.jsonl", text, said=how).notes["rows"] == [told]


def test_asks_about_many_versions_in_a_few_lines(tmp_path: Path) -> None:
    row = table("text", "label", rows=[("Text.", "good")])
    asked = asked_of({f"set/dev_{n}.jsonl": row for n in range(40)}, tmp_path)
    first = ["together", "each", ["0"], ["1"], ["10"], ["11"]]
    assert [said(line)["versions"] for line in asked.readings] == first


def test_an_empty_list_has_nothing_in_its_first_place() -> None:
    rows = [("Ann sees Bo.", [["Ann", "Bo"], ["0:3", "9:11"]]), ("Nobody.", [])]
    how = {"columns": {"answer": "names.[0]"}, "kind": "spans", "answers": "set"}
    task = read_text("t.jsonl", table("text", "names", rows=rows), said=how)
    assert gold_of(task) == ["Ann + Bo", ""]


def test_names_the_rows_of_which_a_path_keeps_a_piece_alone() -> None:
    rows = [
        ("The pool is fine.", [{"of": [["The pool"], ["0:8"]]}]),
        ("The zone of palms is fine.", [{"of": [["The zone", "of palms"], ["0:8", "9:17"]]}]),
    ]
    text = table("text", "opinions", rows=rows)
    how: dict[str, object] = {"columns": {"answer": "opinions.of.0.0"}}
    how |= {"kind": "spans", "answers": "set"}
    short = read_text("t.jsonl", text, said=how)
    assert short.notes["shortened"] == ["t.jsonl, line 2, of “opinions.of.0”"]
    how["columns"] = {"answer": "opinions.of.0.*"}
    whole = read_text("t.jsonl", text, said=how)
    assert gold_of(whole) == ["The pool", "The zone + of palms"]
    assert "shortened" not in whole.notes
    asked = question(text, said={**how, "columns": {"answer": "opinions.of.0"}})
    assert next(iter(asked.readings)) == '"columns": {"answer": "opinions.of.0.*"}'


PREMISES = table(
    "premise",
    "hypothesis",
    "gold_label",
    rows=[(f"P {n}.", f"H {n}.", "yn"[n % 2]) for n in range(12)],
)
REVIEWS = table("Body", "mark", rows=[(f"Review {n}.", "yn"[n % 2]) for n in range(12)])


def test_a_line_counts_for_the_tables_that_have_its_columns(tmp_path: Path) -> None:
    folder = folder_of({"nli/test.jsonl": PREMISES, "reviews/test.jsonl": REVIEWS}, tmp_path)
    line = {"columns": {"context": "Body", "answer": "mark"}}
    assert [gold_of(task)[:2] for task in read(folder, said=line)] == [["y", "n"], ["y", "n"]]
    (folder / "reviews/task.json").write_text(json.dumps(line))
    (folder / "nli/task.json").write_text('{"columns": {"context": "hypothesis"}}')
    nli, reviews = read(folder, said={"columns": {"question": "premise"}})
    assert nli.sets[-1].examples[0].context == ("H 0.",)
    assert reviews.sets[-1].examples[0].context == ("Review 0.",)
    line["columns"]["question"] = "Title"
    with pytest.raises(BadInput, match=r"No table has a column “Title” for the question\."):
        read(folder, said={**line, "unused": ["premise"]})


def test_offers_to_leave_out_what_cannot_be_read_beside_others(tmp_path: Path) -> None:
    tagged = table("tokens", "tags", rows=[(["Ann", "sees"], ["B-PER", "O"])] * 3)
    files = {"ner/test.jsonl": tagged, "pos/test.jsonl": tagged, "nli/test.jsonl": PREMISES}
    asked = asked_of(files, tmp_path)
    way = "What is meant for one table alone goes into a task.json in its folder."
    assert asked.what.startswith("ner/test.jsonl")
    assert asked.what.endswith(way)
    (line,) = asked.readings
    assert line == '"leave_out": ["ner/test.jsonl", "pos/test.jsonl"]'
    assert [task.slug for task in read(tmp_path / "folder", said=said(line))] == ["nli"]


def test_a_column_without_a_name_that_differs_in_all_rows_is_the_id() -> None:
    rows = "".join(f"{n + 40},Text {n}.,{'yn'[n % 2]}\n" for n in range(8))
    task = read_text("t.csv", f",text,label\n{rows}")
    assert [row.source_id for row in task.sets[-1].examples][:2] == ["40", "41"]
    assert "left_aside" not in task.notes
    same = read_text("t.csv", f",text,label\n{rows}40,More.,y\n")
    assert same.notes["left_aside"] == ["(no name)"]


@pytest.mark.parametrize(
    "text",
    [
        "## sentence\t1\nAnna\tB-PER\nsees\tO\n\n## sentence\t2\nRome\tB-LOC\n",
        "## separator: tab\n## s0\tAnna sees.\n1\tAnna\tNNP\t2\n2\tsees\tVV\t0\n",
    ],
)
def test_says_how_tokens_with_comments_become_a_table(text: str) -> None:
    with pytest.raises(BadInput, match=r"t\.tsv holds a token a line, .* write a row a text"):
        read_text("t.tsv", text)


def test_offers_what_repeats_as_a_group() -> None:
    rows = [(f"Page {n}.", f"{n} errors", ["forms", "texts"][n % 2]) for n in range(12)]
    text = table("text", "answer", "heuristics", rows=rows)
    asked = question(text)
    line = '"columns": {"groups": ["heuristics"]}'
    assert asked.readings[line] == "what its figures are grouped by"
    task = read_text("t.jsonl", text, said={**said(line), "kind": "text"})
    assert task.sets[-1].examples[0].groups == {"heuristics": "forms"}


def test_asks_whether_names_of_files_are_the_text() -> None:
    rows = [(f"Who won {n}?", f"csv/203-csv/{n}.csv", f"Ann {n}") for n in range(12)]
    text = table("question", "context", "answer", rows=rows)
    asked = question(text)
    assert asked.what == "t.jsonl: “context” holds names of files alone: “csv/203-csv/0.csv”."
    shown, unused = (
        read_text("t.jsonl", text, said={**said(line), "kind": "text"}).sets[-1].examples[0].context
        for line in asked.readings
    )
    assert (shown, unused) == (("csv/203-csv/0.csv",), ("Who won 0?",))


def votes(*labels: str) -> str:
    rows = "".join(f"Text {n}.{f',{n % 4}.0' * len(labels)}\n" for n in range(16))
    return f"text,{','.join(labels)}\n{rows}"


def test_says_what_to_write_for_votes() -> None:
    asked = question(votes("insult", "racism"), "t.csv")
    told = "“insult” and “racism” hold numbers, such as votes: where all are labels, choose"
    assert told in asked.what
    assert '"columns": {"answer": "insult"}' in asked.readings


def test_buttons_of_whole_numbers_have_no_point() -> None:
    how = {"columns": {"answer": "insult"}, "kind": "choice"}
    assert read_text("t.csv", votes("insult"), said=how).sets[-1].choices == ["0", "1", "2", "3"]
