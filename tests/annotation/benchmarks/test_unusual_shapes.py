"""Published files whose rows, columns or names are unlike those of other sets: read right, or asked
about in one sentence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.formats.content import Ambiguous
from annotation.benchmarks.importing import import_benchmark
from annotation.models import Task
from annotation.models.errors import BadInput
from annotation.models.frozen import batch_content
from annotation.studies.lifecycle import start_study
from annotation.work.page import asked_html
from tests import make
from tests.annotation.benchmarks.test_published_files import gold_of
from tests.annotation.benchmarks.test_strange_tables import question, table
from tests.annotation.benchmarks.test_tables import read, read_text


def folder_of(files: Mapping[str, str], path: Path) -> Path:
    for name, text in files.items():
        file = path / "folder" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path / "folder"


def asked_of(files: Mapping[str, str], path: Path, **options: Any) -> Ambiguous:
    with pytest.raises(Ambiguous) as refusal:
        read(folder_of(files, path), **options)
    return refusal.value


def said(line: str) -> dict[str, Any]:
    """A reading's line, as the page sends it back."""
    return dict(json.loads(f"{{{line}}}"))


PAIRS = table(
    "good", "bad", rows=[(f"These cats {n} sleep.", f"These cat {n} sleep.") for n in range(12)]
)


def test_takes_minimal_pairs_without_a_question() -> None:
    asked = question(PAIRS)
    line = '"columns": {"question": "", "options": ["good", "bad"], "answer": "good"}'
    assert asked.readings[line].endswith("“good” is right")
    task = read_text("t.jsonl", PAIRS, said=said(line))
    rows = task.sets[-1].examples
    assert gold_of(task) == [f"These cats {n} sleep." for n in range(12)]
    assert {row.gold_texts[0][0] for row in rows} == {"0", "1"}
    assert {(row.context, row.question) for row in rows} == {(("",), "")}
    assert len({row.context_hash for row in rows}) == 12
    assert "empty_context" not in task.notes


def test_asks_which_of_unusual_columns_are_text_and_label() -> None:
    rows = [(f"Film {n} is long.", ["dull", "fine"][n % 2]) for n in range(12)]
    asked = question(table("one", "two", rows=rows))
    assert [*asked.readings] == ['"columns": {"context": "one", "answer": "two"}']


def test_takes_no_programs_for_options() -> None:
    rows = [(f"def f{n}():", f"f{n}", f"    return {n}", f"assert f{n}()") for n in range(12)]
    code = table("prompt", "entry_point", "canonical_solution", "test", rows=rows)
    with pytest.raises(BadInput, match="“entry_point” holds programs or their tests"):
        read_text("t.jsonl", code)
    asked = question(code, said={"columns": {"answer": "canonical_solution"}})
    assert "options" not in str(asked)


KINDS = ["offensive", "hateful", "offensive_hateful", "normal"]


def test_asks_whether_parts_of_a_label_are_labels() -> None:
    rows = [(f"Tweet {n}.", KINDS[n % 4]) for n in range(48)]
    text = table("tweet", "label", rows=rows)
    asked = question(text)
    assert [*asked.readings] == ['"kind": "choice"', '"apart_by": "_"', '"kind": "text"']
    task = read_text("t.jsonl", text, said=said('"apart_by": "_"'))
    assert (task.kind, gold_of(task)[2]) == ("labels", "offensive + hateful")
    assert task.sets[-1].choices == ["hateful", "normal", "offensive"]
    whole = read_text("t.jsonl", text, said={"kind": "labels"})
    assert gold_of(whole)[2] == "offensive_hateful"


def test_shows_which_column_is_taken_for_the_answer() -> None:
    rows = [(f"Tweet {n}.", KINDS[n % 2], "ab"[n % 2] * 3) for n in range(12)]
    text = table("tweet", "sentiment", "target", rows=rows)
    asked = question(text)
    assert [*asked.row] == ["tweet", "sentiment", "target (the answer)"]
    line = '"columns": {"answer": "sentiment"}'
    assert asked.readings[line] == "“sentiment” is the answer, not “target”"
    assert "options" not in str([*asked.readings])


@pytest.mark.parametrize("tags", [[0, 12, 12], ["B-PS", "O", "O"]], ids=str)
def test_refuses_tags_of_tokens(tags: list[object]) -> None:
    text = table("tokens", "ner_tags", rows=[(["Anna", "ran", str(n)], tags) for n in range(4)])
    with pytest.raises(BadInput, match="“ner_tags” holds the tags of tokens: write a row a text"):
        read_text("t.jsonl", text)


def test_reads_lists_in_lists() -> None:
    rows = [
        [
            ["Ann: Tea?", "Bo: No."],
            [{"question": f"Who {n}?", "choice": ["Ann", "Bo"], "answer": "Bo"}],
            f"1-{n}",
        ]
        for n in range(8)
    ]
    task = read_text("c3-m-dev.json", json.dumps(rows))
    assert task.notes["recognised"] == ["C3, or DREAM as first published"]
    assert gold_of(task) == ["Bo"] * 8
    assert task.sets[-1].examples[1].groups == {"column_3": "1-1"}
    assert task.sets[-1].examples[1].question == "Who 1?"


def intents(part: str, count: int) -> list[list[str]]:
    return [[f"{part} {n}", ["balance", "weather"][n % 2]] for n in range(count)]


def test_reads_pairs_by_the_parts_of_one_object() -> None:
    parts = {"train": intents("train", 80), "test": intents("test", 12)}
    parts |= {f"oos_{part}": [[f"oos {part} {n}", "oos"] for n in range(6)] for part in parts}
    text = json.dumps(parts)
    (line,) = question(text, "data_full.json").readings
    assert line == '"columns": {"context": "column_1", "answer": "column_2"}'
    task = read_text("data_full.json", text, said=said(line))
    assert {*task.sets[-1].choices} == {"balance", "oos", "weather"}
    assert len(task.sets[-1].examples) == 18
    assert task.notes["rows"] == ["104 read, 18 stored, 86 left out: 86 that no set holds"]


GOOD_BAD = ["good", "bad"]


def labelled(part: str, count: int = 12, name: str = "label") -> str:
    rows = [(f"{part} {n}.", GOOD_BAD[n % 2]) for n in range(count)]
    return table("sentence", name, rows=rows)


def unlabelled(part: str) -> str:
    return table("sentence", rows=[(f"{part} {n}.",) for n in range(12)])


def test_leaves_out_a_file_without_answers_beside_one_that_has_them(tmp_path: Path) -> None:
    files = {"set/one.jsonl": labelled("one"), "set/two.jsonl": unlabelled("two")}
    [task] = read(folder_of(files, tmp_path))
    assert task.slug == "one"
    assert task.notes["unlabelled"][0].startswith("set/two.jsonl: no column is the answer")
    other = {
        "set/two.jsonl": table("sentence", "gist", rows=[(f"Two {n}.", "x") for n in range(9)])
    }
    with pytest.raises(BadInput, match=r"two.jsonl: no column is the answer"):
        read(folder_of(other, tmp_path))


def test_offers_a_column_that_the_test_lacks_as_the_answer(tmp_path: Path) -> None:
    files = {"set/dev.jsonl": labelled("dev", name="acceptable"), "set/test.jsonl": unlabelled("t")}
    asked = asked_of(files, tmp_path)
    assert [*asked.readings] == ['"columns": {"answer": "acceptable"}']
    [task] = read(tmp_path / "folder", said=said(*asked.readings))
    assert (task.sets[-1].file, len(task.sets)) == ("set/dev.jsonl", 1)
    assert "set/test.jsonl: there is no column “acceptable”" in task.notes["unlabelled"][0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("set/public.jsonl", "set/private.jsonl"),
        ("set/test_public.jsonl", "set/test.jsonl"),
        ("set/standard/test.jsonl", "set/challenge/test.jsonl"),
        ("set/in_domain_dev.jsonl", "set/out_of_domain_dev.jsonl"),
        ("set/test-v1.1.jsonl", "set/test-v2.0.jsonl"),
        ("set/test_0.jsonl", "set/test_few_all.jsonl"),
    ],
)
def test_asks_which_version_is_meant(one: str, other: str, tmp_path: Path) -> None:
    asked = asked_of({one: labelled("one"), other: labelled("other")}, tmp_path)
    [together, each, mine, *_others] = [
        read(tmp_path / "folder", said=said(line))
        for line, meaning in asked.readings.items()
        if other not in meaning
    ]
    assert [task.sets[-1].file for task in mine] == [one]
    assert {task.sets[-1].file for task in each} == {one, other}
    assert [len(task.sets[-1].examples) for task in together] == [24]


def test_keeps_the_one_version_of_a_part(tmp_path: Path) -> None:
    files = {"set/dev_few_all.jsonl": labelled("dev"), "set/test_public.jsonl": labelled("test")}
    [task] = read(folder_of(files, tmp_path))
    assert [(one.name, one.file) for one in task.sets] == [
        ("train-12-1", "set/dev_few_all.jsonl"),
        ("test", "set/test_public.jsonl"),
    ]


def test_numbers_the_rows_of_a_part_in_pieces_on(tmp_path: Path) -> None:
    files = {f"set/data/test-0000{n}-of-00002.jsonl": labelled(f"t{n}") for n in range(2)}
    [task] = read(folder_of(files, tmp_path))
    assert [row.source_id for row in task.sets[-1].examples] == [str(n) for n in range(1, 25)]


def goals(count: int) -> str:
    return table(
        "goal", "sol1", "sol2", rows=[(f"How {n}?", f"a{n}", f"b{n}") for n in range(count)]
    )


def test_joins_answers_line_by_line(tmp_path: Path) -> None:
    files = {"piqa/valid.jsonl": goals(12), "piqa/valid-labels.lst": "0\n1\n1\n" * 4}
    asked = asked_of(files, tmp_path)
    assert "piqa/valid-labels.lst lies beside piqa/valid.jsonl" in asked.what
    line, not_its_answers = asked.readings
    [task] = read(tmp_path / "folder", said=said(line))
    assert gold_of(task)[:3] == ["a0", "b1", "b2"]
    assert task.notes["recognised"] == ["PIQA"]
    with pytest.raises(BadInput, match="no column is the answer"):
        read(tmp_path / "folder", said=said(not_its_answers))
    longer = folder_of({"piqa/valid.jsonl": goals(13)}, tmp_path)
    with pytest.raises(BadInput, match=r"valid-labels.lst has 12 lines for the 13 rows of piqa"):
        read(longer, said=said(line))


def test_joins_questions_and_answers_by_their_id(tmp_path: Path) -> None:
    asks = [(f"q{n}", f"Which is {n}?") for n in range(12)]
    answers = [(f"q{n}", f"It is {7 * n}.") for n in reversed(range(12))]
    files = {
        "set/questions.jsonl": table("id", "question", rows=asks),
        "set/answers.jsonl": table("id", "answer", rows=answers),
    }
    asked = asked_of(files, tmp_path)
    line, no_join = asked.readings
    assert line == '"join": "id"'
    assert {*asked.row} == {"id", "question", "answer"}
    [task] = read(tmp_path / "folder", said=said(line))
    by_id = {row.source_id: (row.context[0], row.gold_texts) for row in task.sets[-1].examples}
    assert by_id["q2"] == ("Which is 2?", [["It is 14."]])
    with pytest.raises(BadInput, match="no column is the question"):
        read(tmp_path / "folder", said=said(no_join))
    fewer = {"set/answers.jsonl": table("id", "answer", rows=answers[1:])}
    with pytest.raises(BadInput, match=r"its “id” must stand once in set/answers.jsonl and set/q"):
        read(folder_of(fewer, tmp_path), said=said(line))


def test_offers_a_numbered_pair_as_text_and_question() -> None:
    rows = [(f"Satz {n}.", f"Ein {n}.", ["ja", "nein"][n % 2], "Wir.") for n in range(12)]
    asked = question(table("sentence1", "sentence2", "label", "who", rows=rows))
    first, second, *_others = asked.readings
    assert first == '"columns": {"context": "sentence1", "question": "sentence2"}'
    assert second == '"columns": {"context": ["sentence1", "sentence2"]}'


def test_offers_columns_of_marks_as_labels() -> None:
    rows = [(f"Tweet {n}", n % 2, 1 - n % 2) for n in range(12)]
    (line,) = question(table("tweet", "anger", "joy", rows=rows)).readings
    assert line == '"columns": {"answer": ["anger", "joy"]}'


def test_offers_to_leave_lists_of_objects_out() -> None:
    judged = [{"label": "normal", "by": 1}, {"label": "hate", "by": 2}]
    text = table("post", "annotators", rows=[(f"Post {n}.", judged) for n in range(4)])
    rows, unused = question(text).readings
    assert (rows, unused) == ('"rows": "annotators"', '"unused": ["annotators"]')
    with pytest.raises(BadInput, match="no column is the question"):
        read_text("t.jsonl", text, said=said(unused))


@pytest.mark.django_db
def test_people_see_pairs_without_an_empty_text(tmp_path: Path) -> None:
    columns = {"question": "", "options": ["good", "bad"], "answer": "good"}
    own = {"description": "Which one is English?", "columns": columns}
    folder = folder_of({"test.jsonl": PAIRS, "task.json": json.dumps(own)}, tmp_path)
    import_benchmark(folder, name="pairs")
    task = Task.objects.get(benchmark__name="pairs")
    batch = make.batch(make.study(task.benchmark), task, zero_shot=True)
    start_study(batch.study, at=make.NOON)
    page = asked_html(batch.pk, batch_content(batch.pk).test[0].pk, "en")
    assert 'class="context"' not in page
    assert "These cats 0 sleep." in page
    assignment = make.worked_through(batch)
    assert assignment.judgements.count() == 12
