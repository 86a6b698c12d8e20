"""The demonstration benchmark and the task descriptions, read as plain files."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.benchmarks.formats.samples import problem_of_sample
from annotation.studies.advice import names_label
from tests.every import every

ANNOTATION = Path(__file__).parents[3] / "annotation"
BENCHMARK = ANNOTATION / "simulation" / "demo" / "benchmark"
DESCRIPTIONS = ANNOTATION / "benchmarks" / "descriptions"
KINDS = {
    "Reviews": "choice",
    "Statements": "choice",
    "Newsroom": "spans",
    "Gazetteer": "spans",
    "Reading": "spans",
    "Cloze": "candidate",
}
CHOICE = [folder for folder, kind in KINDS.items() if kind == "choice"]
NAMES = ["Newsroom", "Gazetteer"]
# What the buttons of CLUES's tasks say.
BUTTONS = {
    "sst2": ["positive", "negative"],
    "mnli": ["entailment", "neutral", "contradiction"],
    "conll03": ["{none}"],
    "wikiann": ["{none}"],
    "squadv2": ["{none}"],
    "record": [],
}
CLUES_KINDS = {
    "sst2": "choice",
    "mnli": "choice",
    "conll03": "spans",
    "wikiann": "spans",
    "squadv2": "spans",
    "record": "candidate",
}
KEYS = {
    "Reviews": {"answer", "question", "id", "context"},
    "Statements": {"answer", "question", "id", "context"},
    "Newsroom": {"answer", "question", "id", "context"},
    "Gazetteer": {"answer", "question", "id", "context"},
    "Reading": {"question", "id", "answer", "is_impossible", "context"},
    "Cloze": {"id", "context", "entities", "question", "answer", "is_impossible"},
}
SHOTS = (10, 20, 30)
SPLITS = range(1, 6)
# Shorter sentences may well have been written before, by anybody.
TELLING_WORDS = 5

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def training(folder: str, shots: int = 30, split: int = 1) -> list[Row]:
    return read(BENCHMARK / folder / f"{folder.lower()}_train_{shots}_{split}.jsonl")


def held_out(folder: str) -> list[Row]:
    return read(BENCHMARK / folder / f"{folder.lower()}_test.jsonl")


def all_rows(folder: str) -> list[Row]:
    return training(folder) + held_out(folder)


def segments(row: Row) -> list[str]:
    context = row["context"]
    return [context] if isinstance(context, str) else list(context)


def contents(rows: list[Row]) -> list[str]:
    """Each row without its id, which is assigned afresh in every file of a choice task."""
    return [json.dumps({k: v for k, v in row.items() if k != "id"}, sort_keys=True) for row in rows]


def contexts(rows: list[Row]) -> set[str]:
    return {segment for row in rows for segment in segments(row)}


def files() -> Iterator[Path]:
    yield from sorted(BENCHMARK.glob("*/*.jsonl"))


def normalized(text: str) -> str:
    """Only words, so that tokenised text compares with printed text."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sentences(text: str) -> list[str]:
    parts = [normalized(part) for part in re.split(r"(?<=[.!?])[\"”]?\s+", text)]
    return [part for part in parts if len(part.split()) >= TELLING_WORDS]


@pytest.mark.parametrize("folder", KINDS)
def test_has_the_layout_of_clues(folder: str) -> None:
    stem = folder.lower()
    shot_files = {f"{stem}_train_{k}_{s}.jsonl" for k in SHOTS for s in SPLITS}
    present = {path.name for path in (BENCHMARK / folder).iterdir()}
    assert present == shot_files | {f"{stem}_test.jsonl", "task.json"}


def test_has_no_task_beyond_the_six() -> None:
    assert {path.name for path in BENCHMARK.iterdir()} == set(KINDS)


@pytest.mark.parametrize("folder", KINDS)
def test_gives_every_row_the_fields_of_its_kind(folder: str) -> None:
    for row in all_rows(folder):
        extra = {"plausible_answers"} if row.get("is_impossible") else set()
        assert set(row) == KEYS[folder] | extra
        assert isinstance(row["answer"], list)
        assert every(isinstance(segment, str) and segment for segment in segments(row))


@pytest.mark.parametrize("folder", KINDS)
@pytest.mark.parametrize("split", SPLITS)
def test_nests_its_shot_sets(folder: str, split: int) -> None:
    ten, twenty, thirty = (contents(training(folder, k, split)) for k in SHOTS)
    assert set(ten) < set(twenty) < set(thirty)


@pytest.mark.parametrize("folder", KINDS)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("shots", SHOTS)
def test_holds_as_many_examples_as_shots(folder: str, split: int, shots: int) -> None:
    rows = contents(training(folder, shots, split))
    rows_per_context = 3 if folder in NAMES else 1
    assert len(set(rows)) == len(rows) == shots * rows_per_context


@pytest.mark.parametrize("folder", KINDS)
def test_has_splits_that_differ(folder: str) -> None:
    assert len({frozenset(contents(training(folder, 10, split))) for split in SPLITS}) == 5


@pytest.mark.parametrize("folder", KINDS)
def test_has_at_least_twelve_test_contexts(folder: str) -> None:
    distinct = {json.dumps(row["context"]) for row in held_out(folder)}
    assert len(distinct) >= 12


@pytest.mark.parametrize("folder", KINDS)
def test_never_tests_what_it_trains(folder: str) -> None:
    assert not contexts(training(folder)) & contexts(held_out(folder))


def test_gives_ids_once_in_a_file() -> None:
    for path in files():
        ids = [row["id"] for row in read(path)]
        assert len(set(ids)) == len(ids), path.name


@pytest.mark.parametrize("folder", [folder for folder in KINDS if folder not in CHOICE])
def test_gives_an_id_to_one_example_only(folder: str) -> None:
    content: dict[object, str] = {}
    for row, text in zip(all_rows(folder), contents(all_rows(folder)), strict=True):
        assert content.setdefault(row["id"], text) == text


@pytest.mark.parametrize("folder", CHOICE)
@pytest.mark.parametrize("shots", SHOTS)
@pytest.mark.parametrize("split", SPLITS)
def test_balances_its_labels(folder: str, shots: int, split: int) -> None:
    labels = Counter(label for row in training(folder, shots, split) for label in row["answer"])
    assert len(labels) == {"Reviews": 2, "Statements": 3}[folder]
    assert max(labels.values()) - min(labels.values()) <= 1


@pytest.mark.parametrize("folder", CHOICE)
def test_balances_its_test_labels_and_offers_them_in_the_question(folder: str) -> None:
    labels = Counter(label for row in held_out(folder) for label in row["answer"])
    assert len(set(labels.values())) == 1
    assert every(label in row["question"] for row in all_rows(folder) for label in labels)


@pytest.mark.parametrize("folder", NAMES)
def test_asks_three_questions_of_every_context(folder: str) -> None:
    asked = Counter(row["context"] for row in all_rows(folder))
    assert set(asked.values()) == {3}
    assert len({row["question"] for row in all_rows(folder)}) == 3


@pytest.mark.parametrize("folder", NAMES)
def test_copies_names_from_the_context(folder: str) -> None:
    for row in all_rows(folder):
        names = row["answer"]
        assert names == [""] or all(name and name in row["context"] for name in names)
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("folder", NAMES)
def test_gives_a_name_one_type_in_a_context(folder: str) -> None:
    typed: dict[tuple[object, str], object] = {}
    for row in all_rows(folder):
        for name in filter(None, row["answer"]):
            assert typed.setdefault((row["context"], name), row["question"]) == row["question"]


@pytest.mark.parametrize("folder", NAMES)
def test_mixes_contexts_with_and_without_names(folder: str) -> None:
    for rows in (training(folder), held_out(folder)):
        empty = Counter(row["question"] for row in rows if row["answer"] == [""])
        asked = Counter(row["question"] for row in rows)
        assert every(0.2 <= empty[question] / asked[question] <= 0.65 for question in asked)


@pytest.mark.parametrize("folder", ["Reading", "Cloze"])
def test_gives_the_exact_offsets_of_answers(folder: str) -> None:
    for row in all_rows(folder):
        for span in [*row["answer"], *row.get("plausible_answers", [])]:
            start, text = span["answer_start"], span["text"]
            assert text
            assert row["context"][start : start + len(text)] == text


def test_leaves_two_reading_questions_in_five_without_an_answer() -> None:
    for rows in (training("Reading"), held_out("Reading")):
        impossible = [row for row in rows if row["is_impossible"]]
        assert 0.35 <= len(impossible) / len(rows) <= 0.45
        assert every(row["answer"] == [] and row["plausible_answers"] for row in impossible)


def test_gives_a_reading_answer_up_to_three_alternatives() -> None:
    answerable = [row for row in held_out("Reading") if not row["is_impossible"]]
    counts = {len(row["answer"]) for row in answerable}
    assert counts == {1, 2, 3}
    trained = [row for row in training("Reading") if not row["is_impossible"]]
    assert {len(row["answer"]) for row in trained} == {1}


def test_keeps_reading_passages_between_60_and_120_words() -> None:
    assert every(60 <= len(row["context"].split()) <= 120 for row in all_rows("Reading"))


def candidates(row: Row) -> list[str]:
    """The distinct texts that are marked, whose `end` is their last character."""
    marked = [row["context"][e["start"] : e["end"] + 1] for e in row["entities"]]
    return list(dict.fromkeys(marked))


def test_marks_whole_words_as_candidates() -> None:
    for row in all_rows("Cloze"):
        starts = [entity["start"] for entity in row["entities"]]
        assert starts == sorted(set(starts))
        for text in candidates(row):
            assert re.search(rf"(?<!\w){re.escape(text)}(?!\w)", row["context"])
            assert text == text.strip()


def test_offers_the_right_candidate_and_does_not_give_it_away() -> None:
    for row in all_rows("Cloze"):
        (gold,) = row["answer"]
        assert gold["text"] in candidates(row)
        assert gold["answer_start"] in {entity["start"] for entity in row["entities"]}
        assert gold["text"] not in row["question"]
        assert row["question"].count("@placeholder") == 2


def test_repeats_some_candidates() -> None:
    repeated = [row for row in all_rows("Cloze") if len(row["entities"]) > len(candidates(row))]
    assert len(repeated) >= 10


def test_spreads_the_right_candidate_over_the_positions() -> None:
    rows = held_out("Cloze")
    positions = Counter(candidates(row).index(row["answer"][0]["text"]) for row in rows)
    assert len(positions) >= 4
    assert max(positions.values()) <= len(rows) * 0.4


def test_borrows_no_sentence_from_clues(clues: Path) -> None:
    published = "\n".join(
        normalized(" ".join([*segments(row), str(row["question"])]))
        for path in clues.glob("*/*.jsonl")
        for row in read(path)
    )
    assert sentences(read(clues / "ReCoRD" / "record_test.jsonl")[0]["context"])[0] in published
    own = {
        sentence
        for folder in KINDS
        for row in all_rows(folder)
        for segment in segments(row)
        for sentence in sentences(segment)
    }
    assert len(own) > 600
    assert [sentence for sentence in sorted(own) if sentence in published] == []


def check_description(path: Path, kind: str, fewest: int, most: int) -> Row:
    task = json.loads(path.read_text(encoding="utf-8"))
    assert set(task) - {"name", "max_spans"} == {
        "title",
        "kind",
        "description",
        "language",
        "sample",
    }
    assert task["kind"] == kind
    assert task["language"] == "en"
    assert task["title"]
    assert fewest <= len(task["description"].split()) <= most
    return task


@pytest.mark.parametrize("folder", KINDS)
def test_describes_every_task_of_its_own(folder: str) -> None:
    task = check_description(BENCHMARK / folder / "task.json", KINDS[folder], 60, 150)
    assert "name" not in task, "an invented task has no name in a paper"
    assert task.get("max_spans") == (1 if folder == "Reading" else None)
    labels = {label for row in all_rows(folder) if folder in CHOICE for label in row["answer"]}
    assert bool(labels) == (folder in CHOICE)
    assert [label for label in labels if f"“{label}”" not in task["description"]] == []


@pytest.mark.parametrize("slug", CLUES_KINDS)
def test_describes_every_task_of_clues(slug: str) -> None:
    task = check_description(DESCRIPTIONS / f"{slug}.json", CLUES_KINDS[slug], 40, 230)
    assert task["name"], "a published task keeps the name that its paper gives it"
    assert task.get("max_spans") == (1 if slug == "squadv2" else None)
    assert [
        button for button in BUTTONS[slug] if not names_label(task["description"], button)
    ] == []


@pytest.mark.parametrize("slug", CLUES_KINDS)
def test_takes_no_example_of_clues_for_its_description(clues: Path, slug: str) -> None:
    told = json.loads((DESCRIPTIONS / f"{slug}.json").read_text(encoding="utf-8"))["description"]
    published = "\n".join(
        normalized(" ".join([*segments(row), str(row["question"])]))
        for path in clues.glob("*/*.jsonl")
        for row in read(path)
    )
    quoted = {normalized(text) for text in re.findall("“([^”]+)”", told)}
    # What stands in front of every question of ReCoRD is no example of it.
    quoted -= {"according to claims in the suit"}
    assert [text for text in quoted if len(text.split()) > 3 and text in published] == []


@pytest.mark.parametrize("folder", KINDS)
def test_quotes_no_example_in_its_description(folder: str) -> None:
    task = json.loads((BENCHMARK / folder / "task.json").read_text(encoding="utf-8"))
    told = normalized(task["description"])
    for segment in contexts(all_rows(folder)):
        assert not any(sentence in told for sentence in sentences(segment))


@pytest.mark.parametrize("path", [*BENCHMARK.glob("*/task.json"), *DESCRIPTIONS.glob("*.json")])
def test_brings_an_item_to_try(path: Path) -> None:
    """In one sentence what it asks, and an item whose names and answer stand in its text."""
    task = json.loads(path.read_text(encoding="utf-8"))
    sample = task["sample"]
    assert sample["text"]
    assert len(sample["asks"].split()) <= 22
    labels = ["positive", "negative", "contradict", "contradiction"]
    assert problem_of_sample(sample, task["kind"], labels, []) == ""
