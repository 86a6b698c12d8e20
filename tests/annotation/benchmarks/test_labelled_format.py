from typing import Any

import pytest

from annotation.benchmarks.formats.labelled import LabelledData, read_labelled
from annotation.models.errors import BadInput


def read(text: str, file: str = "texts.csv", **columns: Any) -> LabelledData:
    return read_labelled(text.encode(), file, **columns)


def test_reads_a_csv_file_of_texts_with_labels() -> None:
    data = read('id,text,label\n7,"Rain, all day.",weather\n8,A goal.,sport\n')
    first, second = data.examples
    assert (first.source_id, first.context, first.label) == ("7", ("Rain, all day.",), "weather")
    assert second.question == "Which label fits best?"
    assert set(data.labels.values()) == {"weather", "sport"}


def test_reads_json_lines_alike() -> None:
    lines = '{"text": "Rain.", "label": "weather"}\n{"text": "A goal.", "label": "sport"}\n'
    assert (
        read(lines, "texts.jsonl").labels
        == read("label,text\nweather,Rain.\nsport,A goal.\n").labels
    )


def test_takes_several_fields_as_segments_and_a_question_of_its_own() -> None:
    data = read(
        '{"premise": "A.", "claim": ["B.", "C."], "gold": 1, "question": "So?"}\n',
        "pairs.jsonl",
        texts=("premise", "claim"),
        label="gold",
    )
    assert data.examples[0].context == ("A.", "B.", "C.")
    assert (data.examples[0].label, data.examples[0].question) == ("1", "So?")


def test_reads_tabs_and_line_breaks_in_a_text() -> None:
    data = read('text\tlabel\n"One\nTwo"\ta\nThree\tb\n', "texts.tsv")
    assert [example.context[0] for example in data.examples] == ["One\nTwo", "Three"]
    assert data.examples[1].where == "texts.tsv, line 4"


def test_keeps_a_repeated_text_once_with_its_first_label() -> None:
    data = read("text,label\nRain.,weather\nRain.,weather\nRain.,sport\n")
    assert list(data.labels.values()) == ["weather"]
    assert len(data.notes["repeated_in_set"]) == 2
    assert data.notes["gold_differs"] == ["texts.csv, line 4, against texts.csv, line 2"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "texts.csv is empty"),
        ("text,label\n", "texts.csv is empty"),
        ("text\nRain.\n", "line 2: the field “label” is missing"),
        ("text,label\nRain.\n", "line 2: this row has 1 cells"),
        ("text,label\n,weather\n", "line 2: the text is empty"),
        ("text,label\nRain., \n", "line 2: “label” is empty"),
        ("text,label,text\na,b,c\n", "line 1: two columns have one name"),
        ("text,label\nRain.,weather\ntext,label\n", "line 3: the line of names stands here once"),
        ('text,label\n"Rain,weather\n', "line 2: this is not CSV"),
        ("text,label\nRa\0in.,weather\n", "line 2"),
    ],
)
def test_names_the_line_that_cannot_be_used(text: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        read(text)


def test_names_the_line_that_is_not_utf8() -> None:
    data = "text,label\nRain.,weather\nKüste,sea\n".encode("latin-1")
    with pytest.raises(BadInput, match=r"texts.csv, line 3: .*not UTF-8"):
        read_labelled(data, "texts.csv")


@pytest.mark.parametrize("label", ["null", "true", "1.5", "[]"])
def test_refuses_what_is_no_label(label: str) -> None:
    with pytest.raises(BadInput, match="must be a label"):
        read(f'{{"text": "Rain.", "label": {label}}}\n', "texts.jsonl")
