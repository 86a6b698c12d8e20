import json
from pathlib import Path

import pytest

from annotation.models.errors import BadInput
from scoring.prompts.formats import Pattern, filled, read_patterns, words_of
from scoring.prompts.prompting import PromptExample

WORDS = {"bad": "terrible", "good": "great"}


def example(*context: str) -> PromptExample:
    return PromptExample("7", context, "good or bad?", ("bad", "good"))


@pytest.mark.parametrize(
    ("pattern", "context", "text"),
    [
        ("{text} It was {mask}.", ("A film.",), "A film. It was [MASK]."),
        # As LM-BFF's *sent-_0*?*mask*,*+sentl_1*.
        (
            "{first_open}? {mask}, {second_lower}",
            ("A dog runs.", "An animal moves."),
            "A dog runs? [MASK], an animal moves.",
        ),
        ("{first} {mask} {second}", (" One. ", "Two."), "One. [MASK] Two."),
        ("{question} {text} {mask}", ("{mask}",), "good or bad? {mask} [MASK]"),
    ],
)
def test_fills_a_pattern(pattern: str, context: tuple[str, ...], text: str) -> None:
    assert filled(Pattern(pattern, WORDS), example(*context), word="[MASK]") == text


def test_refuses_a_pair_that_is_none() -> None:
    with pytest.raises(BadInput, match=r"the example 7 has 1: use \{text\}"):
        filled(Pattern("{first} {mask}", WORDS), example("One."), word="[MASK]")


def test_gives_each_label_its_own_word() -> None:
    assert words_of(Pattern("", WORDS), "mood", ("good", "bad")) == ("great", "terrible")
    with pytest.raises(BadInput, match="mood has no word for the label “so-so”"):
        words_of(Pattern("", WORDS), "mood", ("good", "so-so"))
    with pytest.raises(BadInput, match="one word for two labels"):
        words_of(Pattern("", {"a": "x", "b": "x"}), "mood", ("a", "b"))


def test_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "patterns.json"
    path.write_text(json.dumps({"mood": {"pattern": "{text} {mask}", "labels": WORDS}}))
    assert read_patterns(path) == {"mood": Pattern("{text} {mask}", WORDS)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ([], "an object with a pattern for each task"),
        ({"mood": {"pattern": "{mask}"}}, "mood must have “pattern” and “labels”"),
        ({"mood": {"pattern": 1, "labels": {}}}, "“pattern” must be a text"),
        ({"mood": {"pattern": "{mask}", "labels": {"a": 1}}}, "give each label a word"),
        ({"mood": {"pattern": "{mask} {txt}", "labels": {}}}, r"\{txt\} in “pattern” is none of"),
        ({"mood": {"pattern": "{text}", "labels": {}}}, r"must hold \{mask\} once"),
    ],
)
def test_says_what_is_wrong_with_a_file(content: object, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "patterns.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=sentence):
        read_patterns(path)
