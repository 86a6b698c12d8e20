"""Labels: any number of the answers that are offered, or none, is one answer, and S1 is taken over
the set."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotation.benchmarks.correcting import proposals_of
from annotation.benchmarks.importing import import_benchmark
from annotation.kinds import answer_kind
from annotation.kinds.base import asked
from annotation.kinds.gold import answer_score
from annotation.kinds.replies import read_labels
from annotation.models import Task
from annotation.models.errors import BadInput
from scoring.core.s1 import s1_score
from tests import make
from tests.annotation.kinds.asked import content, example

LABELS = answer_kind("labels")
TONES = ("anger", "joy, or glee", "fear")
TOWNS = ("Mombasa", "Nairobi", "Lagos")


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ({"option-0": "1"}, ("anger",)),
        ({"option-2": "1", "option-0": "1"}, ("anger", "fear")),
        ({"none": "1"}, ()),
        ({"none": "", "option-1": "1", "option-7": "1"}, ("joy, or glee",)),
    ],
)
def test_reads_every_ticked_answer(form: dict[str, str], answer: tuple[str, ...]) -> None:
    shown = example("Ha!", labels=TONES)
    assert LABELS.read(form, shown, content("labels")).texts == answer


def test_reads_options_of_the_example_as_their_numbers() -> None:
    shown = example("Which lie in Kenya?", options=TOWNS)
    assert LABELS.read({"option-0": "1", "option-1": "1"}, shown, content("labels")).texts == (
        "0",
        "1",
    )


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "Choose every answer that fits, or “None of these”."),
        ({"option-7": "1"}, "Choose every answer that fits"),
        ({"none": "1", "option-0": "1"}, "“None of these” and other answers"),
    ],
)
def test_refuses_what_is_no_answer(form: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        LABELS.read(form, example("Ha!", labels=TONES), content("labels"))


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ('["anger", "fear"]', [0, 2]),
        ('["joy, or glee"]', [1]),
        ("anger, fear", [0, 2]),
        ("Answer: fear and anger", [0, 2]),
        ("- anger\n- fear", [0, 2]),
        ("Joy, or glee.", [1]),
        ("fear; fear", [2]),
        ("anger、fear", [0, 2]),
        ("fear，anger", [0, 2]),
        ("fear；anger", [0, 2]),
        ("none of these", []),
        ("[]", []),
        ("", []),
        ('["anger", "hope"]', None),
        ("anger, hope", None),
        ("I feel that all of them do", None),
    ],
)
def test_reads_the_labels_that_a_reply_lists(reply: str, places: list[int] | None) -> None:
    assert read_labels(reply, TONES) == places


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ("A, C", [0, 2]),
        ("A and C.", [0, 2]),
        ("(A), (B), and (C)", [0, 1, 2]),
        ("The answer is B.", [1]),
        ("A. Mombasa, C. Lagos", [0, 2]),
        ("Mombasa, Lagos", [0, 2]),
        ('["B"]', [1]),
        ("A, D", None),
        ("none", []),
    ],
)
def test_reads_the_letters_that_a_reply_lists(reply: str, places: list[int] | None) -> None:
    assert read_labels(reply, TOWNS, lettered=True) == places


def test_keeps_a_reply_that_names_no_option_as_a_wrong_answer() -> None:
    assert LABELS.from_prompted("hope", TONES) == ["hope"]
    assert LABELS.from_prompted("A, C", TOWNS, labels=("0", "1", "2")) == ["0", "2"]
    assert LABELS.from_prompted("[]", TONES) == []


@pytest.mark.parametrize("answer", [[], ["0"], ["0", "2"]])
def test_shows_an_answer_as_it_is_read_back(answer: list[str]) -> None:
    numbers = ("0", "1", "2")
    lettered = LABELS.as_shown(answer, lettered=True)
    assert LABELS.from_prompted(lettered, TOWNS, labels=numbers) == answer
    texts = [TONES[int(number)] for number in answer]
    assert LABELS.from_prompted(LABELS.as_shown(texts), TONES) == texts


@pytest.mark.parametrize("gold", [[], ["fear"], ["anger", "fear"]])
def test_simulated_people_are_right_or_wrong_by_one_label(gold: list[str]) -> None:
    shown, task = example("Ha!", labels=TONES), content("labels")
    right = LABELS.read(LABELS.right_form(shown, gold), shown, task)
    assert list(right.texts) == gold
    for seed in range(20):
        wrong = LABELS.read(LABELS.wrong_form(shown, gold, task, Random(seed)), shown, task)
        assert len({*wrong.texts} ^ {*gold}) == 1


def write(root: Path, rows: list[dict[str, Any]], **task: Any) -> Path:
    folder = root / "Tones"
    folder.mkdir(parents=True)
    fields = {"kind": "labels", "description": "Tick.", **task}
    (folder / "task.json").write_text(json.dumps(fields))
    lines = [{"id": n, "context": f"{n}: ha!", "question": "", **row} for n, row in enumerate(rows)]
    (folder / "tones_test.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return root


def golds_of(task: Task) -> list[list[list[str]]]:
    examples = task.examples.order_by("pk")
    return [one.golds.latest("version__number").alternative_texts() for one in examples]


@pytest.mark.django_db
def test_imports_labels_of_the_set(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"answer": one} for one in (["joy", "fear"], [], ["fear"])]
    import_benchmark(write(tmp_path, rows, choices=["anger", "fear", "joy"]), name="tones")
    task = Task.objects.get(benchmark__name="tones")
    assert golds_of(task) == [[["joy", "fear"]], [[]], [["fear"]]]
    assert task.item_sets.get().choices == ["anger", "fear", "joy"]
    figures = {finding["code"]: finding["figures"] for finding in task.audit}
    assert figures["floors"]["any"]["every_label"] == pytest.approx((80 + 0 + 50) / 3)
    assert "gold_not_offered" not in figures
    assert figures.get("ceiling", {"any": 100})["any"] == 100


@pytest.mark.django_db
@pytest.mark.parametrize(
    "answers", [[["A", "C"], [], "B"], [[0, 2], [], 1], [["Mombasa", "Lagos"], [], "Nairobi"]]
)
def test_imports_options_of_each_example_as_one_set(tmp_path: Path, answers: list[Any]) -> None:
    rows = [{"choices": list(TOWNS), "answer": answer, "proposed": "A,B"} for answer in answers]
    import_benchmark(write(tmp_path, rows), name="towns")
    task = Task.objects.get(benchmark__name="towns")
    assert golds_of(task) == [[["0", "2"]], [[]], [["1"]]]
    assert list(proposals_of(task).takeable.values()) == [[["0", "1"]]] * 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    "written",
    ["joy|fear", "joy;fear", "joy, fear", "joy；fear", "joy，fear", "joy、fear", '["joy", "fear"]'],
)
def test_imports_a_cell_that_holds_several(tmp_path: Path, written: str) -> None:
    folder = tmp_path / "Tones"
    folder.mkdir()
    (folder / "task.json").write_text('{"kind": "labels", "description": "Tick."}')
    cell = written.replace('"', '""')
    (folder / "tones.csv").write_text(f'text,label\nHa!,"{cell}"\nHm.,""\n')
    import_benchmark(tmp_path, name="tones")
    assert golds_of(Task.objects.get()) == [[["joy", "fear"]], [[]]]


@pytest.mark.django_db
def test_scores_a_set_against_a_set() -> None:
    task = make.task(kind="labels", tests=1)
    gold = task.examples.last().golds.get()
    gold.alternatives = [[{"text": "bad"}, {"text": "good"}]]
    assert answer_score(["good"], gold, "any", "none") == pytest.approx(
        s1_score({"good"}, {"bad", "good"})
    )
    assert LABELS.givable(["good", "fine"], asked(task.examples.last(), make.LABELS)) == {"good"}


@pytest.mark.django_db
def test_audits_gold_that_is_not_among_the_labels(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"answer": ["joy", "zzz"]}, {"answer": []}]
    import_benchmark(write(tmp_path, rows, choices=["anger", "joy"]), name="tones")
    (told,) = [one for one in Task.objects.get().audit if one["code"] == "gold_not_offered"]
    assert told["figures"] == {"count": 1}
    assert "zzz" in told["examples"][0]
