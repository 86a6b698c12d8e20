import json
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.formats.drawing import Draw
from annotation.benchmarks.importing import import_benchmark
from annotation.kinds.replies import read_label
from annotation.models import Gold, Kind, Role, Task
from annotation.models.errors import BadInput
from annotation.work.judging import current_example
from scoring.models import Run
from scoring.prompts.formats import (
    Template,
    icl_lines,
    question,
    read_templates,
    unifew_lines,
    unifew_question,
)
from scoring.prompts.prompting import PromptExample, PromptSet
from tests import make
from tests.annotation.benchmarks.flex_files import Written, challenge
from tests.annotation.benchmarks.sampled import sampled_task, study_of
from tests.every import every
from tests.scoring.runs.runs_from import answers

pytestmark = pytest.mark.django_db

ORACLES = Path(__file__).parents[2] / "oracles"
TEMPLATES = Path(__file__).parent / "unifew_templates.json"


def example(
    *context: str, options: Sequence[str] = ("yes", "no"), question: str = "Topic?"
) -> PromptExample:
    return PromptExample("1", context, question, tuple(options), ("yes",))


def exported(**options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("export_prompts", stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


ORACLE = json.loads((ORACLES / "unifew_prompts.json").read_text())["rows"]


def templates_file(tmp_path: Path, **templates: dict[str, Any]) -> Path:
    path = tmp_path / "templates.json"
    path.write_text(json.dumps(templates))
    return path


def test_names_a_button_as_people_read_it() -> None:
    task = make.task(kind=Kind.SPANS, description="Choose **{none}**, and leave {braces}.")
    lines = exported(benchmark=task.benchmark.name, format="chat")
    assert "Choose **None here**, and leave {braces}." in json.dumps(lines[0])


@pytest.mark.parametrize("row", ORACLE, ids=[f"{r['dataset']} {n}" for n, r in enumerate(ORACLE)])
def test_writes_what_the_released_code_writes(row: dict[str, Any]) -> None:
    template = read_templates(TEMPLATES)[row["dataset"]]
    shown = [template.labels.get(label, label) for label in row["labels_in_order"]]
    asked = example(row["text"], options=shown, question="Which feeling does the text express?")
    assert unifew_question(asked, template) == row["prompt"]


def episode_of(task: Task, row: dict[str, Any], number: int) -> None:
    """The row as the one training example of an episode, or as its one question."""
    for role in (Role.TRAINING, Role.TEST):
        is_row = (role == Role.TRAINING) == (row["label"] is not None)
        held = make.example(
            task, f"{role} {number}", role=role, context=row["text"] if is_row else "One.###Other."
        )
        gold = [[{"text": row["label"] or row["labels_in_order"][0]}]]
        Gold.objects.filter(example=held).update(alternatives=gold)
        made = make.item_set(
            task, [held], name=f"episode-{number}-{role}", role=role, episode=number
        )
        made.choices = row["labels_in_order"]
        made.save()


@pytest.mark.parametrize("dataset", ["mr", "snli", "conll"])
def test_exports_the_prompts_and_targets_of_the_released_code(dataset: str) -> None:
    task = make.task(slug=dataset, training=0, tests=0)
    rows = [row for row in ORACLE if row["dataset"] == dataset]
    for number, row in enumerate(rows, start=1):
        episode_of(task, row, number)
    lines = exported(format="unifew", templates=TEMPLATES)
    labels = read_templates(TEMPLATES)[dataset].labels
    for number, row in enumerate(rows, start=1):
        role = "test" if row["label"] is None else "training"
        [line] = [line for line in lines if (line["episode"], line["role"]) == (number, role)]
        assert line["prompt"] == row["prompt"]
        assert line.get("answer") == row["target"]
        assert line.get("labels", line["options"]) == row["labels_in_order"]
        assert bool(labels) == ("labels" in line)


def test_exports_them_from_files_as_flex_publishes_them(tmp_path: Path) -> None:
    """To the byte, spaces at the ends of texts included."""
    rows = [row for row in ORACLE if row["dataset"] == "snli"]
    made = challenge(
        *(
            Written(
                dataset="snli",
                labels=row["labels_in_order"],
                training=[(row["text"], 0)] if row["label"] else [],
                test=[("One.###Other.", 0) if row["label"] else (row["text"], 0)],
            )
            for row in rows
        )
    )
    call_command("import_episodes", *made.save(tmp_path), stdout=StringIO(), stderr=StringIO())
    lines = exported(format="unifew", templates=TEMPLATES)
    for number, row in enumerate(rows, start=1):
        role = "training" if row["label"] else "test"
        [line] = [line for line in lines if (line["episode"], line["role"]) == (number, role)]
        assert line["prompt"] == row["prompt"]
    assert any(" Is " in row["prompt"] and ". ? " in row["prompt"] for row in rows)


def test_takes_a_pair_in_two_segments_and_a_text_in_one_line() -> None:
    pair = Template("", r"{first} Is {second}? \n {options}")
    assert unifew_question(example("A dog\nruns.", "It moves."), pair) == (
        r"A dog runs. Is It moves.? \n (A) yes  (B) no "
    )
    text = Template("Topic?", r"{question} \n {options} \n {text}")
    assert unifew_question(example("Say {options}."), text).endswith(r"  \n Say {options}.")


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ({"question": "Topic?"}, "must have “question” and “joining”"),
        ({"question": "", "joining": "{options}", "more": 1}, "must have “question” and"),
        ({"question": 1, "joining": "{options}"}, "must be texts"),
        ({"question": "", "joining": "{options} {txt}"}, "{txt} in “joining” is none of"),
        ({"question": "", "joining": "{text}"}, "must say where the {options} stand"),
        ({"question": "", "joining": "{options}", "labels": ["a"]}, "must give each label a text"),
        ({"question": "", "joining": "{first} {options}"}, "a first and a second text, but"),
        (
            {"question": "", "joining": "{options}", "labels": {"bad": "good"}},
            "calls two labels the same",
        ),
    ],
)
def test_says_what_is_wrong_with_a_template(
    template: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    task = make.task()
    path = templates_file(tmp_path, **{task.slug: template})
    with pytest.raises(CommandError, match=re.escape(sentence)):
        exported(format="unifew", templates=path)


def test_letters_the_options_of_an_example_and_asks_for_the_letter() -> None:
    own = PromptExample("1", ("What is 2 + 2?",), "", ("3", "4"), ("1",), ("0", "1"))
    prompts = PromptSet(
        "choice",
        None,
        "Choose.",
        {"benchmark": "b", "task": "sums", "shots": 1, "split": 1},
        0,
        (own,),
        (own,),
    )
    (line,) = icl_lines(prompts)
    asked = "Question: What is 2 + 2?\nA. 3\nB. 4\nAnswer:"
    told = "Choose.\n\nAnswer with the letter of the right option and nothing else."
    assert line["prompt"] == f"{told}\n\n{asked} B\n\n{asked}"
    assert (line["options"], line["labels"]) == (["3", "4"], ["0", "1"])
    counted = replace(own, options=("0", "1"))
    assert question(counted) == "Question: What is 2 + 2?\nA. 0\nB. 1"
    with pytest.raises(BadInput, match="has no labels to choose from"):
        list(unifew_lines(prompts, {}))


def test_writes_context_question_and_options() -> None:
    assert question(example("One.", "Two.")) == (
        "Context: One.\nTwo.\nQuestion: Topic?\nOptions: yes; no"
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
        ("(Z)", "(Z)"),
        ("games", "games"),
        ("", ""),
    ],
)
def test_reads_a_label_with_or_without_its_letter(answer: str, label: str) -> None:
    assert read_label(answer, ["weather", "sport", "(B) odd"]) == label


def test_exports_every_example_of_an_episode_by_itself() -> None:
    task = sampled_task()
    lines = exported(format="pairs", episode=[1])
    training = task.item_sets.get(name="episode-1-train")
    test_set = task.item_sets.get(name="episode-1-test")
    roles = [line["role"] for line in lines]
    assert roles == ["training"] * training.shots + ["test"] * 12
    first = lines[0]
    assert first["prompt"].startswith("Choose the label that fits.\n\nAnswer with one of the")
    assert first["answer"] in first["prompt"].rpartition(" on ")[2]
    assert "answer" not in lines[-1]
    assert [line["example"] for line in lines[-12:]] == list(
        test_set.items.order_by("position").values_list("source_id", flat=True)
    )


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (Kind.CHOICE, "Answer with one of the options, exactly as it is written there"),
        (Kind.CANDIDATE, "Answer with one of the options"),
        (Kind.SPANS, "Answer with a JSON list of pieces of the text"),
        (Kind.TEXT, "Answer with a short text and nothing else; with none if there is no answer."),
    ],
)
def test_tells_a_model_what_people_are_told(kind: str, form: str) -> None:
    """Also without shots: the description, the question, the form of an answer."""
    make.task(kind=kind, training=4, tests=1, description="Say what you see.\n\nBe brief.")
    for line in exported():
        assert line["prompt"].startswith("Say what you see.\n\nBe brief.\n\n")
        assert form in line["prompt"]
        assert "Question: Question about test 0?" in line["prompt"]
    shown = exported(shots=[4])[0]["prompt"]
    assert "Answer: none\n" in shown or kind != Kind.TEXT


def test_writes_a_conversation_with_the_shots_as_turns() -> None:
    task = make.task(training=2, tests=1)
    [line] = exported(shots=[2], format="chat")
    messages = line["messages"]
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert messages[0]["content"].startswith(task.description)
    assert {messages[2]["content"], messages[4]["content"]} <= {"good", "bad"}
    assert "Question about test 0?" in messages[-1]["content"]
    assert "prompt" not in line


def test_shows_a_study_as_its_people_see_it() -> None:
    batch = make.running_batch(training=3)
    task = batch.task
    Task.objects.filter(pk=task.pk).update(description="Something newer.")
    lines = exported(study=batch.study.slug)
    assert {line["prompt"].partition("\n\n")[0] for line in lines} == {batch.description}
    assert {(line["study"], line["shots"], line["split"]) for line in lines} == {
        (batch.study.slug, 3, 1)
    }
    assert exported(task=task.slug)[0]["prompt"].startswith("Something newer.")


def test_shows_no_study_that_may_still_change() -> None:
    study = make.study(make.benchmark())
    make.batch(study, make.task(study.benchmark))
    with pytest.raises(CommandError, match="has not been started"):
        exported(study=study.slug)
    with pytest.raises(CommandError, match="no study 'other'"):
        exported(study="other")
    with pytest.raises(CommandError, match=r"has no shots 7: choose from 3\."):
        exported(study=study.slug, shots=[7])
    with pytest.raises(CommandError, match=r"has no splits 2, 4: choose from 1\."):
        exported(study=study.slug, split=[1, 2, 4])
    with pytest.raises(CommandError, match="has no task “other”: choose from"):
        exported(study=study.slug, task="other")


def test_gives_every_prompt_an_id_of_its_own() -> None:
    benchmark = make.benchmark()
    tasks = [make.task(benchmark), make.task(benchmark)]
    sampled_task()
    lines = [line for task in tasks for line in exported(benchmark=benchmark.name, task=task.slug)]
    lines += exported(benchmark="flex", task="topics", format="pairs")
    assert len({line["id"] for line in lines}) == len(lines)
    assert len({line["example"] for line in lines}) < len(lines)


def test_stores_the_order_of_the_shots() -> None:
    make.task(training=8, tests=1)
    [line] = exported(shots=[8], seed=3)
    assert line["seed"] == 3
    assert len(line["shown"]) == 8
    [other] = exported(shots=[8], seed=4)
    assert sorted(other["shown"]) == sorted(line["shown"])
    assert other["shown"] != line["shown"]


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
    shown = current_example(make.at_work(batch)).labels
    assert every(tuple(line["options"]) == shown for line in exported(episode=[7]))


def test_never_prints_the_gold_of_a_test_example(tmp_path: Path) -> None:
    make.task(training=0, tests=3)
    for number, gold in enumerate(Gold.objects.all()):
        gold.alternatives = [[{"text": f"CANARY{number}"}]]
        gold.save()
    for form in ("icl", "chat", "pairs"):
        path = tmp_path / f"{form}.jsonl"
        call_command("export_prompts", format=form, output=path, stderr=StringIO())
        assert "CANARY" not in path.read_text()


@pytest.mark.parametrize("form", ["icl", "chat", "pairs"])
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
    assert few.report["prompts"]["format"] == form
    assert len(few.report["prompts"]["shown"]) == few.shots


def test_reads_a_mapped_label_back_as_the_label(tmp_path: Path) -> None:
    task = make.task(training=0, tests=2)
    labels = {"question": "Good?", "joining": "{question} {options}", "labels": {"good": "Yes"}}
    path = templates_file(tmp_path, **{task.slug: labels})
    lines = exported(format="unifew", templates=path)
    told = [{**line, "answer": reply} for line, reply in zip(lines, ["Yes.", "A"], strict=True)]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in told))
    out = StringIO()
    call_command("read_answers", file, system="UniFew", method="FT", stdout=out)
    assert [json.loads(line)["prediction"] for line in out.getvalue().splitlines()] == [
        ["good"],
        ["bad"],
    ]


def test_hands_no_half_of_a_character_on(tmp_path: Path) -> None:
    path, out = tmp_path / "answers.jsonl", StringIO()
    path.write_text('{"id": "a\\ud800", "answer": "[]"}')
    call_command("read_answers", path, system="A", method="FT", stdout=out)
    assert json.loads(out.getvalue().encode())["id"] == "a\ufffd"


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
    predictions = [json.loads(line)["prediction"] for line in out.getvalue().splitlines()]
    assert predictions == [["Anna", "Boris"]] * 2


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (Kind.SPANS, {"format": "unifew"}, "use the format icl"),
        (Kind.CHOICE, {"format": "unifew"}, "UniFew's wording for the task"),
        (Kind.CHOICE, {"templates": Path("/nowhere")}, "add --format unifew"),
        (Kind.CHOICE, {"templates": Path("/no"), "format": "unifew"}, "/no cannot be read"),
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


def test_refuses_more_labels_than_letters(tmp_path: Path) -> None:
    task = make.task(training=0)
    path = templates_file(tmp_path, **{task.slug: {"question": "", "joining": "{options}"}})
    Task.objects.get(pk=task.pk).item_sets.update(choices=[f"label {n}" for n in range(27)])
    with pytest.raises(CommandError, match="from A to Z, but there are 27"):
        exported(format="unifew", templates=path)


def test_asks_an_item_without_a_text_as_a_question(tmp_path: Path) -> None:
    rows = [{"question": f"{n} and 1?", "answer": f"#### {n + 1}"} for n in range(6)]
    for part, those in (("test", rows[:2]), ("train", rows[2:])):
        (tmp_path / f"{part}.jsonl").write_text("\n".join(map(json.dumps, those)))
    import_benchmark(tmp_path, name="sums", draw=Draw([2], splits=1))
    task = Task.objects.get()
    Task.objects.update(description="Add.")
    line = exported(benchmark=task.benchmark.name, format="icl", shots=[2])[0]
    first = line["prompt"].split("\n\n")
    assert first[:2] == ["Add.", "Answer with a number and nothing else."]
    assert [part.partition(": ")[0] for part in first[2:]] == ["Question"] * 3
    assert first[-1] == "Question: 0 and 1?\nAnswer:"
