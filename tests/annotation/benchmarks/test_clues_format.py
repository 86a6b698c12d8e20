import json
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.archives import open_files
from annotation.benchmarks.formats.content import ReadExample, ReadTask
from annotation.benchmarks.formats.layouts import find_folders, find_tables
from annotation.benchmarks.formats.reading import read_benchmark
from annotation.models.errors import BadInput
from tests.annotation.benchmarks.clues_files import choice_row, spans_row, write_rows, write_task


def read(folder: Path) -> list[ReadTask]:
    with open_files(folder) as files:
        return read_benchmark(files, None, lambda done, total, message: None)[0]


def read_one(tmp_path: Path, *rows: dict[str, Any], **task_file: Any) -> ReadTask:
    """A task with these test rows and no shot sets."""
    write_task(tmp_path / "Task", list(rows), {}, **task_file)
    return read(tmp_path)[0]


def first(task: ReadTask) -> ReadExample:
    return task.sets[-1].examples[0]


def test_reads_the_test_set_and_the_shot_sets_by_shots_and_split(tmp_path: Path) -> None:
    shots = {(n, s): [choice_row(n * i) for i in range(1, n + 1)] for n, s in [(10, 1), (2, 2)]}
    write_task(tmp_path / "Reviews", shots=shots)
    (task,) = read(tmp_path)
    assert task.slug == "reviews"
    assert [(s.name, s.role, s.shots, s.split, len(s.examples)) for s in task.sets] == [
        ("train-2-2", "training", 2, 2, 2),
        ("train-10-1", "training", 10, 1, 10),
        ("test", "test", None, None, 2),
    ]
    assert task.sets[0].file == "Reviews/x_train_2_2.jsonl"


def test_knows_training_rows_by_content_and_test_rows_by_id(tmp_path: Path) -> None:
    same = choice_row(1, id="another id")
    write_task(tmp_path / "T", shots={(1, 1): [choice_row(1)], (1, 2): [same]})
    (task,) = read(tmp_path)
    one, two, test = task.sets
    assert one.examples[0].identity == two.examples[0].identity
    assert one.examples[0].identity == f"content:{one.examples[0].content_hash}"
    assert [two.examples[0].source_id, test.examples[0].identity] == ["another id", "id:101"]


@pytest.mark.parametrize("other", [{"context": "Else."}, {"question": "Else?"}])
def test_tells_contents_apart_by_context_and_question(tmp_path: Path, other: dict) -> None:
    task = read_one(tmp_path, choice_row(1), choice_row(1, id=2), choice_row(1, id=3, **other))
    one, same, different = task.sets[0].examples
    assert one.content_hash == same.content_hash != different.content_hash
    assert (one.context_hash == different.context_hash) == ("question" in other)


def test_keeps_no_field_that_it_does_not_know(tmp_path: Path) -> None:
    task = read_one(tmp_path / "known", choice_row(1, rationale="the answer"))
    assert "the answer" not in repr(task)
    row = choice_row(1, secret="the answer")
    with pytest.raises(BadInput, match=r'“secret” holds text.*"unused": \["secret"\]'):
        read_one(tmp_path / "asked", row)
    task = read_one(tmp_path / "told", row, unused=["secret"])
    assert "the answer" not in repr(task)


class TestKind:
    def test_takes_few_labels_outside_of_the_context_as_choices(self, tmp_path: Path) -> None:
        task = read_one(tmp_path, choice_row(1, "good"), choice_row(2, "bad"))
        assert task.kind == "choice"
        assert task.sets[0].choices == ["bad", "good"]

    def test_takes_the_labels_of_all_the_files(self, tmp_path: Path) -> None:
        shots = {(1, 1): [choice_row(7, "neutral")]}
        write_task(tmp_path / "T", [choice_row(1, "good"), choice_row(2, "bad")], shots)
        assert {tuple(s.choices) for s in read(tmp_path)[0].sets} == {("bad", "good", "neutral")}

    def test_takes_pairs_of_texts_as_two_segments(self, tmp_path: Path) -> None:
        pair = ["It rained all day.", "It was dry."]
        task = read_one(tmp_path, choice_row(1, "contradiction", context=pair), choice_row(2))
        assert task.kind == "choice"
        assert first(task).context == ("It rained all day.", "It was dry.")

    def test_does_not_find_a_label_within_a_word(self, tmp_path: Path) -> None:
        rows = [choice_row(n, "no", context="I know nothing.") for n in (1, 2)]
        assert read_one(tmp_path, *rows, choice_row(3, "yes")).kind == "choice"

    def test_finds_pieces_of_a_text_without_spaces(self, tmp_path: Path) -> None:
        rows = [spans_row(n, ["北京"], context="她去年在北京工作。") for n in (1, 2)]
        assert read_one(tmp_path, *rows).kind == "spans"

    def test_takes_pieces_of_the_context_as_spans(self, tmp_path: Path) -> None:
        task = read_one(tmp_path, spans_row(1, ["Anna"]), spans_row(2, ["Boris"]))
        assert (task.kind, task.defaults["max_spans"]) == ("spans", None)
        assert task.sets[0].choices == ()

    def test_takes_an_empty_answer_as_spans(self, tmp_path: Path) -> None:
        assert read_one(tmp_path, choice_row(1), choice_row(2, answer=[""])).kind == "spans"

    def test_takes_many_different_labels_as_spans(self, tmp_path: Path) -> None:
        rows = [choice_row(n, f"label {n}") for n in range(21)]
        assert read_one(tmp_path, *rows).kind == "spans"

    def test_takes_alternatives_as_at_most_one_span(self, tmp_path: Path) -> None:
        task = read_one(tmp_path, spans_row(1, [{"text": "Anna", "answer_start": 0}]))
        assert (task.kind, task.defaults["max_spans"]) == ("spans", 1)

    def test_takes_entities_as_candidates(self, tmp_path: Path) -> None:
        entities = [{"start": 0, "end": 3}, {"start": 9, "end": 13}]
        task = read_one(tmp_path, spans_row(1, entities=entities))
        assert task.kind == "candidate"
        assert first(task).candidates == ((0, 0, 4), (0, 9, 14))


class TestAnswer:
    def test_reads_several_strings_as_one_alternative(self, tmp_path: Path) -> None:
        task = read_one(tmp_path, spans_row(1, ["Boris", "Anna", "Boris", ""]))
        assert first(task).alternatives == [[{"text": "Boris"}, {"text": "Anna"}]]

    @pytest.mark.parametrize("answer", [[], [""], [{"text": ""}]])
    def test_reads_no_answer_as_one_empty_alternative(self, tmp_path: Path, answer: list) -> None:
        assert first(read_one(tmp_path, spans_row(1, answer))).alternatives == [[]]

    def test_reads_objects_as_alternatives_each_once(self, tmp_path: Path) -> None:
        answer = [
            {"text": "Boris", "answer_start": 9},
            {"text": "Boris", "answer_start": 9},
            {"text": "Anna and Boris", "answer_start": 0},
        ]
        assert first(read_one(tmp_path, spans_row(1, answer))).alternatives == [
            [{"text": "Boris", "segment": 0, "start": 9}],
            [{"text": "Anna and Boris", "segment": 0, "start": 0}],
        ]

    def test_counts_a_start_in_code_points(self, tmp_path: Path) -> None:
        answer = [{"text": "Anna", "answer_start": 2}]
        task = read_one(tmp_path, spans_row(1, answer, context="😀 Anna"))
        assert first(task).alternatives == [[{"text": "Anna", "segment": 0, "start": 2}]]
        assert task.notes == {"rows": ["1 read, 1 stored"]}

    @pytest.mark.parametrize("start", [1, -1, 999])
    def test_drops_a_start_that_does_not_fit(self, tmp_path: Path, start: int) -> None:
        task = read_one(tmp_path, spans_row(1, [{"text": "Anna", "answer_start": start}]))
        assert first(task).alternatives == [[{"text": "Anna"}]]
        assert task.notes == {
            "rows": ["1 read, 1 stored"],
            "start_does_not_fit": [f"Task/x_test.jsonl, line 1: “Anna” at {start}"],
        }


class TestShots:
    def test_takes_k_contexts_with_several_questions(self, tmp_path: Path) -> None:
        rows = [
            spans_row(n, id=f"{n}-{q}", question=f"{q}?") for n in (1, 2) for q in ("Who", "Where")
        ]
        write_task(tmp_path / "T", [spans_row(9)], {(2, 1): rows})
        assert len(read(tmp_path)[0].sets[0].examples) == 4

    def test_takes_k_contexts_of_which_two_are_equal(self, tmp_path: Path) -> None:
        rows = [
            spans_row(1, id=f"{n}-{q}", question=f"{q}?") for n in (1, 2) for q in ("Who", "Where")
        ]
        write_task(tmp_path / "T", [spans_row(9)], {(2, 1): rows})
        (task,) = read(tmp_path)
        assert len(task.sets[0].examples) == 2
        assert len(task.notes["repeated_in_set"]) == 2

    @pytest.mark.parametrize("count", [1, 3])
    def test_rejects_another_number_of_rows_and_contexts(self, tmp_path: Path, count: int) -> None:
        shots = {(2, 1): [choice_row(n) for n in range(count)]}
        write_task(tmp_path / "T", shots=shots)
        with pytest.raises(BadInput, match=rf"x_train_2_1.jsonl, line {count}: .* says 2 shots"):
            read(tmp_path)


def test_uses_the_first_of_two_golds_for_one_training_content(tmp_path: Path) -> None:
    shots = {(1, 1): [choice_row(1, "good")], (1, 2): [choice_row(1, "bad")]}
    write_task(tmp_path / "T", shots=shots)
    (task,) = read(tmp_path)
    assert next(iter(task.examples().values())).gold_texts == [["good"]]
    assert task.notes == {
        "rows": ["4 read, 4 stored"],
        "gold_differs": ["T/x_train_1_2.jsonl, line 1, against T/x_train_1_1.jsonl, line 1"],
    }


def test_reads_lines_at_line_feeds_alone(tmp_path: Path) -> None:
    text = "One\u2028two\x85three"
    file = write_task(tmp_path / "T", shots={}) / "x_test.jsonl"
    rows = [choice_row(1, context=text), choice_row(2)]
    file.write_text(
        "\ufeff" + "\r\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n\n"
    )
    assert first(read(tmp_path)[0]).context == (text,)


class TestTaskFile:
    def test_overrides_kind_and_choices(self, tmp_path: Path) -> None:
        rows = [spans_row(1, ["Anna"]), spans_row(2, ["Boris"])]
        choices = ["Boris", "Anna", "neither"]
        task = read_one(tmp_path, *rows, kind="choice", choices=choices, title="Who?")
        assert (task.kind, task.stated) == ("choice", {"kind": "choice", "title": "Who?"})
        assert task.sets[0].choices == choices

    @pytest.mark.parametrize(
        ("field", "value", "sentence"),
        [
            ("kind", "label", "“kind” must be choice, spans, candidate, text, number or labels"),
            ("kind", ["choice"], "“kind” must be choice"),
            ("choices", ["one"], "“choices” must be a list of two or more different labels"),
            ("choices", "yes or no", "“choices” must be a list"),
            ("max_spans", 0, "“max_spans” must be a number from 1"),
            ("max_spans", True, "“max_spans” must be a number"),
            ("title", "", "“title” must be a text"),
            ("description", "nul \0", "“description” must be a text"),
            ("direction", "up", "“direction” must be ltr or rtl"),
            ("sample", {"text": "no list"}, "“sample” must be an object with “asks”"),
            ("sample", {"text": ["Fun."], "answer": ["maybe"]}, "the sample cannot be used"),
            ("sample", {"text": [choice_row(1)["context"]], "answer": ["good"]}, "of an example"),
            ("descripton", "A typo.", "there is no field “descripton”; there are title, "),
        ],
    )
    def test_rejects_a_bad_field(
        self, tmp_path: Path, field: str, value: object, sentence: str
    ) -> None:
        with pytest.raises(BadInput) as refusal:
            read_one(tmp_path, choice_row(1), **{field: value})
        assert str(refusal.value).startswith("Task/task.json: ")
        assert sentence in str(refusal.value)

    def test_rejects_a_file_that_is_not_json(self, tmp_path: Path) -> None:
        write_task(tmp_path / "T")
        (tmp_path / "T/task.json").write_text('{\n"title": \n}')
        with pytest.raises(BadInput, match=r"T/task.json, line 3: this is not JSON"):
            read(tmp_path)

    def test_rejects_a_kind_that_the_answers_do_not_have(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"line 2: the task's kind is choice"):
            read_one(tmp_path, spans_row(1), spans_row(2, ["Anna", "Boris"]), kind="choice")

    def test_brings_the_projects_description_for_a_task_of_clues(self, tmp_path: Path) -> None:
        write_task(tmp_path / "SST-2")
        (task,) = read(tmp_path)
        assert (task.slug, task.stated) == ("sst2", {})
        assert "review" in task.defaults["description"]

    def test_keeps_that_description_from_a_task_of_another_kind(self, tmp_path: Path) -> None:
        write_task(tmp_path / "SST-2", [spans_row(1)], {})
        assert "description" not in read(tmp_path)[0].defaults


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer": None}, "“answer” must be a list, but it is null"),
        ({"answer": "good"}, "“answer” must be a list, but it is a string"),
        ({"answer": [1]}, "each answer must be a string, but it is a number"),
        ({"answer": [["a"]]}, "each answer must be a string, but it is a list"),
        ({"answer": [{"txt": "a"}]}, "all objects with a text"),
        ({"answer": [{"text": "a"}, "b"]}, "all be strings, or all objects"),
        ({"answer": [{"text": 1}]}, "the text of an answer must be a string"),
        ({"answer": [{"text": "a", "answer_start": "0"}]}, "“answer_start” must be a whole number"),
        ({"context": None}, "“context” must be a string or a list of strings"),
        ({"context": []}, "“context” must be a string or a list of strings"),
        ({"context": {"a": 1}}, "“context” must be a string or a list of strings"),
        ({"context": ["a", 1]}, "each part of “context” must be a string, but it is a number"),
        ({"context": "a\0b"}, "“context” holds a character that is not text"),
        ({"context": "a\ud800b"}, "“context” holds a character that is not text"),
        ({"question": ["Who?"]}, "“question” must be a string, but it is a list"),
        ({"id": None}, "“id” must be a string or a number, but it is null"),
        ({"id": True}, "“id” must be a string or a number, but it is true or false"),
        ({"id": ""}, "“id” must have 1 to 200 characters"),
        ({"id": "x" * 201}, "“id” must have 1 to 200 characters"),
        ({"id": "1"}, "the id “1” is taken already, in Task/x_test.jsonl, line 1."),
        ({"entities": {}}, "“entities” must be a list, but it is an object"),
        ({"entities": [{"start": 0}]}, "with the numbers start and end"),
        ({"entities": [{"start": 0, "end": 10}]}, "from 0 to 10 does not lie in the context of 9 "),
        ({"entities": [{"start": 3, "end": 2}]}, "from 3 to 2 does not lie in the context"),
        ({"entities": [], "context": ["Review 2."]}, None),
        ({"entities": [{"start": 0, "end": 1}]}, "line 1: the task's kind is candidate"),
    ],
)
def test_rejects_a_field_of_another_type(
    tmp_path: Path, change: dict[str, Any], sentence: str | None
) -> None:
    rows = [choice_row(1), choice_row(2, **change)]
    if sentence is None:
        assert read_one(tmp_path, *rows).kind == "choice"
        return
    with pytest.raises(BadInput) as refusal:
        read_one(tmp_path, *rows)
    assert str(refusal.value).startswith("Task/x_test.jsonl, line ")
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("field", ["id", "context", "question", "answer"])
def test_rejects_a_missing_field(tmp_path: Path, field: str) -> None:
    row = choice_row(2)
    del row[field]
    with pytest.raises(BadInput, match=rf"x_test.jsonl, line 2: the field “{field}” is missing"):
        read_one(tmp_path, choice_row(1), row)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "T/x_test.jsonl is empty"),
        (b"\n\n", "T/x_test.jsonl is empty"),
        (b"{}\nnot json\n", "T/x_test.jsonl, line 1: the field"),
        (b"not json\n", "T/x_test.jsonl, line 1: this is not JSON"),
        (b'{"id": 1', "T/x_test.jsonl, line 1: this is not JSON"),
        (b"\n[1]\n", "T/x_test.jsonl, line 2: each line must be one JSON object"),
        (b'{"id": "caf\xe9"}', "T/x_test.jsonl, line 1: byte 12 is not UTF-8"),
        (b"[" * 100_000, "T/x_test.jsonl, line 1: this JSON is too deep"),
        (b'{"id": ' + b"9" * 5000 + b"}", "T/x_test.jsonl, line 1: this JSON is too deep"),
    ],
)
def test_rejects_a_line_that_is_no_record(tmp_path: Path, data: bytes, sentence: str) -> None:
    write_task(tmp_path / "T", shots={})
    (tmp_path / "T/x_test.jsonl").write_bytes(data)
    with pytest.raises(BadInput) as refusal:
        read(tmp_path)
    assert str(refusal.value).startswith(sentence)


class TestLayout:
    def test_the_folder_of_one_task_may_be_given_itself(self) -> None:
        names = ["task.json", "x_test.jsonl", "x_train_5_1.jsonl"]
        [task], ignored = find_folders(names, "numbers")
        assert (task.slug, task.file, ignored) == ("numbers", "task.json", [])
        assert [(one.files, one.shots) for one in task.sets] == [
            (["x_train_5_1.jsonl"], 5),
            (["x_test.jsonl"], None),
        ]

    def test_says_which_tables_beside_it_are_not_read(self) -> None:
        _, ignored = find_folders(["x_test.jsonl", "x_train_5_1.jsonl", "more.csv"], "numbers")
        assert ignored == ["more.csv"]

    def test_gives_the_tasks_of_clues_their_slugs(self) -> None:
        names = ["SST-2", "MNLI", "CoNLL2003", "WikiANN_EN", "SQuAD-v2", "ReCoRD", "My Own"]
        folders, _ = find_folders([f"{name}/x_test.jsonl" for name in names], "title")
        assert [folder.slug for folder in folders] == [
            *["sst2", "mnli", "conll03", "wikiann", "squadv2", "record", "my-own"]
        ]

    def test_looks_beneath_one_top_folder(self) -> None:
        folders, ignored = find_folders(["clues/A/a_test.jsonl", "clues/B/b_test.jsonl"], "title")
        assert [folder.slug for folder in folders] == ["a", "b"]
        assert [one.files for one in folders[0].sets] == [["clues/A/a_test.jsonl"]]
        assert ignored == []

    def test_says_which_files_it_leaves_out(self) -> None:
        names = ["A/a_test.jsonl", "A/a_dev.jsonl", "A/old/a_test.jsonl", "A/notes.txt", "r.jsonl"]
        hidden = ["__MACOSX/A/._a_test.jsonl", ".git/b_test.jsonl"]
        folders, ignored = find_folders(names + hidden, "title")
        assert [[one.files for one in folder.sets] for folder in folders] == [[["A/a_test.jsonl"]]]
        assert ignored == ["A/a_dev.jsonl", "A/old/a_test.jsonl", "r.jsonl"]

    @pytest.mark.parametrize("names", [[], ["A/readme.md"], ["A/task.json"]])
    def test_rejects_a_source_without_tasks(self, names: list[str]) -> None:
        assert find_folders(names, "title") == ([], [])
        with pytest.raises(BadInput, match="There is no table of questions here"):
            find_tables(names, "mine", [name for name in names if name.endswith("task.json")])

    def test_rejects_two_folders_of_one_task(self) -> None:
        with pytest.raises(BadInput, match="SST-2 and sst2 are both the task sst2"):
            find_folders(["SST-2/a_test.jsonl", "sst2/a_test.jsonl"], "title")

    def test_rejects_a_folder_without_a_latin_letter(self) -> None:
        with pytest.raises(BadInput, match="name the task with letters"):
            find_folders(["情感/a_test.jsonl"], "title")

    def test_rejects_a_task_without_a_test_file(self, tmp_path: Path) -> None:
        write_rows(tmp_path / "T/x_train_1_1.jsonl", [choice_row(1)])
        with pytest.raises(BadInput, match=r"T: one file must end in _test.jsonl, but there is no"):
            read(tmp_path)

    def test_rejects_two_test_files(self, tmp_path: Path) -> None:
        write_rows(write_task(tmp_path / "T") / "y_test.jsonl", [choice_row(1)])
        with pytest.raises(BadInput, match=r"there are T/x_test.jsonl and T/y_test.jsonl"):
            read(tmp_path)

    def test_rejects_two_files_of_one_split(self, tmp_path: Path) -> None:
        rows = [choice_row(1), choice_row(2)]
        write_rows(write_task(tmp_path / "T") / "y_train_2_01.jsonl", rows)
        with pytest.raises(BadInput, match=r"x_train_2_1.jsonl and .*y_train_2_01.jsonl are the"):
            read(tmp_path)


def test_a_question_without_a_context_is_the_text(tmp_path: Path) -> None:
    row = {"id": 1, "context": "", "question": "What holds a pool?", "answer": ["a hotel"]}
    write_rows(tmp_path / "Task" / "x_test.jsonl", [row])
    with open_files(tmp_path) as files:
        (task,), _ignored = read_benchmark(files, None, lambda *_: None)
    (example,) = task.sets[0].examples
    assert (example.context, example.question) == (("What holds a pool?",), "")
    assert "empty_context" not in task.notes
