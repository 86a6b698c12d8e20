"""In which script texts are written: which way they are shown, and whether the named language is
written so."""

from typing import Any

import pytest

from annotation.benchmarks.scripts import has_own_letters, letters_of, script_of
from annotation.models.benchmark import Direction
from tests.annotation.benchmarks.test_strange_tables import read_text, table

TEXTS = {
    "Persian": ("او را نیز بکشتند و پس از او، هیچ‌کس را نیافتند.", "und", "rtl"),
    "Hebrew": ("אתמול פגשתי את דוד בן־גוריון בתל אביב.", "und", "rtl"),
    "Japanese": ("彼は東京大学で学び、田中さんに会った。", "und", "ltr"),
    "Indonesian": ("Saya makan nasi goreng di rumah.", "en", "ltr"),
    "numbers": ("12 + 5 = ", "en", "ltr"),
}


def rows(text: str, **fields: Any) -> str:
    return table("text", "label", rows=[(f"{text} {n}", ["bad", "good"][n % 2]) for n in range(20)])


@pytest.mark.parametrize("name", TEXTS)
def test_direction_is_that_of_most_letters_where_no_language_is_named(name: str) -> None:
    text, language, direction = TEXTS[name]
    task = read_text("t.jsonl", rows(text))
    fields = {"language": "en", "direction": Direction.LEFT_TO_RIGHT} | task.defaults
    assert (fields["language"], fields["direction"]) == (language, direction)
    assert bool(task.notes.get("language")) == (language == "und")
    assert bool(task.notes.get("language_assumed")) == (language == "en")


def test_direction_is_that_of_the_named_language() -> None:
    text = TEXTS["Persian"][0]
    assert read_text("t.jsonl", rows(text), said={"language": "fa"}).defaults["direction"] == "rtl"
    english = read_text("t.jsonl", rows(text), said={"language": "en"})
    assert "direction" not in english.defaults
    assert english.notes["other_script"] == ["most letters are Arabic, “language” is “en”"]
    assert (
        "other_script" not in read_text("t.jsonl", rows("Ein Text."), said={"language": "de"}).notes
    )


def test_names_the_languages_of_the_letters() -> None:
    task = read_text("t.jsonl", rows(TEXTS["Persian"][0]))
    assert '"language": "ar", or "language": "fa"' in task.notes["language"][0]


@pytest.mark.parametrize(
    ("language", "text", "fits"),
    [
        ("ja", "カーテン", True),
        ("ja", "東京", True),
        ("ja-JP", "こんにちは", True),
        ("zh", "こんにちは", False),
        ("sr", "Beograd", True),
        ("sr", "Београд", True),
        ("ru", "Beograd", False),
        ("id", "Jakarta", True),
        ("und", "Jakarta", True),
        ("ko", "서울", True),
        ("de", "Αθήνα", False),
    ],
)
def test_knows_which_letters_a_language_is_written_with(
    language: str, text: str, fits: bool
) -> None:
    assert has_own_letters(language, script_of(letters_of([text]))) is fits


def test_typed_answers_with_a_sign_between_several_are_doubted() -> None:
    asked = [(f"In which years was {n}?", f"{n}|{n + 1}" if n < 3 else f"y{n}") for n in range(30)]
    task = read_text("t.jsonl", table("question", "answer", rows=asked), said={"kind": "text"})
    assert len(task.notes["listed_in_text"]) == 3
