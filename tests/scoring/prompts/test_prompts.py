import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Gold, Kind, Task
from annotation.work.judging import current_example
from scoring.models import Run
from scoring.prompts.formats import PromptExample, icl_question, read_label, unifew_question
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task, study_of
from tests.scoring.runs.runs_from import answers

pytestmark = pytest.mark.django_db


def example(
    *context: str, options: Sequence[str] = ("yes", "no"), question: str = "Topic?"
) -> PromptExample:
    return PromptExample("1", context, question, tuple(options), ("yes",))


def exported(**options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("export_prompts", stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("context", "prompt"),
    [
        (["Rain\nfell."], r"Topic? \n (A) yes (B) no \n Rain fell."),
        (
            ["A dog runs.", "An animal moves."],
            r"A dog runs. Is An animal moves.? \n (A) yes (B) no",
        ),
        (
            ["# Oslo # lies in * Norway *."],
            r"Oslo to Norway? \n (A) yes (B) no \n # Oslo # lies in * Norway *.",
        ),
        (["Number # 1 and 2 * 3."], r"Topic? \n (A) yes (B) no \n Number # 1 and 2 * 3."),
    ],
)
def test_writes_the_question_as_unifew_does(context: list[str], prompt: str) -> None:
    assert unifew_question(example(*context)) == prompt


def test_writes_context_question_and_options_for_a_demonstration() -> None:
    assert icl_question(example("One.", "Two.")) == (
        "Context: One.\nTwo.\nQuestion: Topic?\nOptions: yes; no\nAnswer:"
    )


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("sport", "sport"),
        (" sport\n", "sport"),
        ("(B) sport", "sport"),
        ("(B)", "sport"),
        ("Sport", "sport"),
        ("(A) (B) odd", "(B) odd"),
        ("(Z)", ""),
        ("games", "games"),
        ("", ""),
    ],
)
def test_reads_a_label_with_or_without_its_letter(answer: str, label: str) -> None:
    assert read_label(answer, ["weather", "sport", "(B) odd"]) == label


def test_exports_an_episode_as_multiple_choice_questions() -> None:
    task = sampled_task()
    lines = exported(format="unifew", episode=[1])
    training = task.item_sets.get(name="episode-1-train")
    test_set = task.item_sets.get(name="episode-1-test")
    roles = [line["role"] for line in lines]
    assert roles == ["training"] * training.shots + ["test"] * 12
    first = lines[0]
    letters = " ".join(f"({'ABC'[n]}) {label}" for n, label in enumerate(training.choices))
    assert first["prompt"].startswith(rf"What is it about? \n {letters} \n Text ")
    assert first["answer"] in first["prompt"].rpartition(" on ")[2]
    assert "answer" not in lines[-1]
    assert [line["id"] for line in lines[-12:]] == list(
        test_set.items.order_by("position").values_list("source_id", flat=True)
    )


def test_exports_demonstrations_before_each_test_example() -> None:
    task = make.task(training=3, tests=4)
    lines = exported(task=task.slug, shots=[3])
    assert len(lines) == 4
    for line in lines:
        assert line["prompt"].count("Answer:") == 4
        assert line["prompt"].endswith("Answer:")
        assert (line["shots"], line["split"]) == (3, 1)
    shown = [line["prompt"].rpartition("Context:")[0] for line in lines]
    assert len(set(shown)) == 1
    assert shown[0].count("Answer: good\n\n") + shown[0].count("Answer: bad\n\n") == 3


def test_orders_demonstrations_by_the_seed_alone() -> None:
    make.task(training=8, tests=1)
    first = exported(shots=[8], seed=1)
    assert first == exported(shots=[8], seed=1)
    other = exported(shots=[8], seed=2)
    assert first != other
    assert sorted(first[0]["prompt"].split("\n\n")) == sorted(other[0]["prompt"].split("\n\n"))


def test_writes_pieces_as_a_list() -> None:
    make.task(kind=Kind.SPANS, training=4, tests=1)
    [line] = exported(shots=[4])
    assert 'Answer: ["Anna", "Boris"]\n' in line["prompt"] or "Answer: []\n" in line["prompt"]
    assert "options" not in line


def test_shows_a_model_the_options_that_people_see() -> None:
    task = sampled_task()
    batch = study_of(task, [7]).batches.get()
    shown = current_example(make.at_work(batch)).options
    assert all(tuple(line["options"]) == shown for line in exported(episode=[7]))


def test_never_prints_the_gold_of_a_test_example(tmp_path: Path) -> None:
    make.task(training=0, tests=3)
    for number, gold in enumerate(Gold.objects.all()):
        gold.alternatives = [[{"text": f"CANARY{number}"}]]
        gold.save()
    for form in ("icl", "unifew"):
        path = tmp_path / f"{form}.jsonl"
        call_command("export_prompts", format=form, output=path, stderr=StringIO())
        assert "CANARY" not in path.read_text()


@pytest.mark.parametrize("form", ["icl", "unifew"])
def test_takes_the_answers_back_as_runs(tmp_path: Path, form: str) -> None:
    task = sampled_task()
    lines = exported(format=form, episode=[1, 7])
    answered = [
        {**line, "answer": f"({'ABC'[1]}) {line['options'][1]}"} if line["role"] == "test" else line
        for line in lines
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in answered))
    out = StringIO()
    call_command("read_answers", path, system="UniFew", method="PT", stdout=out)
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(out.getvalue())
    call_command("import_runs", predictions, stdout=StringIO(), stderr=StringIO())
    few, zero = Run.objects.complete().order_by("episode")
    assert (few.episode, few.shots) == (1, task.item_sets.get(name="episode-1-train").shots)
    assert (zero.episode, zero.shots, zero.coverage) == (7, 0, 1.0)
    assert {tuple(answer) for answer in answers(few).values()} == {(few.test_set.choices[1],)}


def test_takes_pieces_back(tmp_path: Path) -> None:
    make.task(kind=Kind.SPANS, training=2, tests=2)
    given = ['["Anna", "Boris"]', "Anna\nBoris\n"]
    lines = [
        {**line, "answer": answer} for line, answer in zip(exported(shots=[2]), given, strict=True)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = StringIO()
    call_command("read_answers", path, system="GPT-3", method="ICL", stdout=out)
    found = [json.loads(line)["prediction"] for line in out.getvalue().splitlines()]
    assert found == [["Anna", "Boris"]] * 2


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (Kind.SPANS, {"format": "unifew"}, "use the format icl"),
        (Kind.CHOICE, {"shots": [7]}, "has no such sets"),
        (Kind.CHOICE, {"task": "nothing"}, "no task “nothing”"),
        (Kind.CHOICE, {"output": Path("/nowhere/x.jsonl")}, "Cannot write /nowhere/x.jsonl"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(
    kind: str, options: dict[str, Any], sentence: str
) -> None:
    make.task(kind=kind)
    with pytest.raises(CommandError, match=sentence):
        exported(**options)


def test_refuses_more_labels_than_letters() -> None:
    task = make.task(training=0)
    Task.objects.get(pk=task.pk).item_sets.update(choices=[f"label {n}" for n in range(27)])
    with pytest.raises(CommandError, match="from A to Z, but there are 27"):
        exported(format="unifew")
