"""The whole path of a typed answer: from the files through the page to the table, and to models."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.benchmarks.correcting import correct_gold
from annotation.benchmarks.importing import import_benchmark
from annotation.kinds.gold import answer_score
from annotation.models import Assignment, Batch, Gold, Judgement, Task
from annotation.models.errors import BadInput, Frozen
from annotation.simulation import simulating
from annotation.simulation.simulating import simulate_study
from annotation.studies.lifecycle import start_study
from scoring.analysis.uncertainty import agreement
from scoring.cells.cell_rows import bounds
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.models import Prediction, Run
from scoring.runs.scores import scores_of_run
from tests import make
from tests.annotation.kinds import typed
from tests.batching import make_batches
from tests.every import every

pytestmark = pytest.mark.django_db

# By question, what a person types: right apart from the wording, except for the last two.
TYPED = {
    "Who cast the bell?": "ann thorne.",
    "When was it cast?": "1702",
    "Where does it hang?": "In Marrowby",
    "Which town is named?": "the  marrowby",
    "Who broke it?": "",
}
RIGHT_BY_SQUAD = 4 / 5
RIGHT_AS_WRITTEN = 2 / 5


def task(path: Path, **fields: Any) -> Task:
    return typed.imported(path, **{"normalisation": "squad", **fields})


def batch_of(task: Task, wanted: int = 2) -> Batch:
    study = make.study(task.benchmark)
    (batch,) = make_batches(study, tasks=[task], shots=[2], chains=[1], wanted=wanted)
    start_study(study, at=make.NOON)
    return Batch.objects.get(pk=batch.pk)


def form_of(text: str) -> dict[str, str]:
    return {"text": text, "none": "" if text else "1"}


def worked(batch: Batch, answers: dict[str, str] = TYPED) -> tuple[Assignment, list[str]]:
    """An assignment worked through by plain forms, and the pages that it was shown."""
    client = Client()
    pages = [client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)]
    pages += [client.post("/work/consent/", {"agree": "1"}, follow=True)]
    pages += [client.post("/work/begin/", follow=True)]
    assignment = Assignment.objects.latest("pk")
    while not assignment.is_finished:
        text = answers[make.current_example(assignment).question]
        step = {"step": assignment.step}
        pages.append(client.post("/work/submit/", {**step, **form_of(text)}, follow=True))
        pages.append(client.post("/work/next/", step, follow=True))
        pages.append(client.post("/work/begin/", {"step": assignment.step + 1}, follow=True))
        assignment.refresh_from_db()
    return assignment, [page.content.decode() for page in pages]


# ---- Import


@pytest.mark.both_databases
def test_imports_the_kind_and_its_normalisation(tmp_path: Path) -> None:
    imported = task(tmp_path)
    assert (imported.kind, imported.normalisation, imported.max_spans) == ("text", "squad", None)
    assert imported.item_sets.get(name="test").choices == []
    gold = Gold.objects.get(example__identity="id:Test0")
    assert gold.alternative_texts() == [["Ann Thorne"], ["The founder Ann Thorne"]]
    assert Gold.objects.get(example__identity="id:Test4").alternative_texts() == [[]]


def test_compares_as_typed_where_the_task_names_no_normalisation(tmp_path: Path) -> None:
    imported = typed.imported(tmp_path)
    assert imported.normalisation == "typed"
    told = {finding["code"]: finding["message"] for finding in imported.audit}["typed_comparison"]
    assert "compared under the normalisation typed;" in told


def test_leaves_a_task_that_was_imported_before_its_comparison(tmp_path: Path) -> None:
    Task.objects.filter(pk=typed.imported(tmp_path / "before").pk).update(normalisation="none")
    assert typed.imported(tmp_path / "again").normalisation == "none"
    assert typed.imported(tmp_path / "named", normalisation="typed").normalisation == "typed"


def test_scores_letters_and_signs_that_look_the_same_as_right(tmp_path: Path) -> None:
    golds = ["Besanc\u0327on", "the mayor\u2019s office", "1914\u20131918", "\u201chome\u201d"]
    keyboard = ["besan\u00e7on", "the mayor's office", "1914-1918", "home"]
    rows = [
        {"id": f"Test{n}", "context": f"Text {n}.", "question": f"{n}?", "answer": [{"text": gold}]}
        for n, gold in enumerate(golds)
    ]
    imported = typed.imported(tmp_path, test=rows)
    by_question = {f"{n}?": text for n, text in enumerate(keyboard)}
    assignment, _pages = worked(batch_of(imported), {**TYPED, **by_question})
    tests = Judgement.objects.filter(assignment=assignment, role="test")
    assert len(tests) == 4
    for one in tests.select_related("example"):
        gold = Gold.objects.get(example=one.example)
        assert answer_score(one.answer, gold, "any", imported.normalisation) == 1
        assert gold.alternative_texts() == [[golds[int(one.example.question[0])]]]


def test_names_gold_that_no_keyboard_gives(tmp_path: Path) -> None:
    rows = [
        {"id": f"Test{n}", "context": f"Text {n}.", "question": f"{n}?", "answer": [{"text": gold}]}
        for n, gold in enumerate(["the mayor\u2019s office", "zero\u200bwidth", "plain"])
    ]
    for named, count in (("squad", 2), ("typed", 1)):
        imported = typed.imported(tmp_path / named, test=rows, normalisation=named)
        found = {one["code"]: one for one in imported.audit}["gold_beyond_keyboards"]
        assert found["figures"]["count"] == count
        assert "(U+200B)" in found["examples"][-1]


@pytest.mark.both_databases
@pytest.mark.parametrize("field", [{"kind": "essay"}, {"normalisation": "stemmed"}])
def test_the_database_refuses_what_nobody_registered(tmp_path: Path, field: dict[str, str]) -> None:
    imported = task(tmp_path)
    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=imported.pk).update(**field)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"normalisation": "stemmed"}, "“normalisation” must be none"),
        ({"kind": "essay"}, "“kind” must be choice, spans, candidate, text, number or labels"),
        (
            {"kind": "spans", "normalisation": "squad"},
            "compared with the normalisation none, not squad",
        ),
    ],
)
def test_refuses_a_task_file(tmp_path: Path, fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        typed.imported(tmp_path, **fields)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [(["bell", "mill"], "one text"), ([{"text": "x" * 301}], "at most 300 characters")],
)
def test_refuses_gold_that_nobody_could_type(
    tmp_path: Path, answer: list[object], sentence: str
) -> None:
    rows = [{**typed.rows("Test", 1)[0], "answer": answer}]
    with pytest.raises(BadInput, match=f"typed_test.jsonl, line 1: .*{sentence}"):
        typed.imported(tmp_path, test=rows)


def test_keeps_the_normalisation_of_a_started_study(tmp_path: Path) -> None:
    batch_of(task(tmp_path / "first"))
    with pytest.raises(Frozen, match="normalisation cannot change from 'squad' to 'typed'"):
        import_benchmark(typed.write(tmp_path / "again"), name="typed")


def test_drops_a_normalisation_that_the_task_file_no_longer_names(tmp_path: Path) -> None:
    task(tmp_path / "first")
    assert typed.imported(tmp_path / "again").normalisation == "typed"


def test_audits_floors_and_ceiling_after_the_normalisation(tmp_path: Path) -> None:
    findings = {finding["code"]: finding for finding in task(tmp_path).audit}
    assert findings["floors"]["figures"]["any"] == {"empty": 20.0, "best_text": 40.0}
    assert "policy any, normalisation squad" in findings["floors"]["message"]
    assert findings["ceiling"]["figures"]["any"] == 100.0
    assert "gold_not_in_context" not in findings
    assert "gold_not_offered" not in findings


# ---- The page


def test_works_with_plain_forms_and_stores_what_was_typed(tmp_path: Path) -> None:
    assignment, pages = worked(batch_of(task(tmp_path)))
    stored = {
        judgement.example.question: judgement.answer
        for judgement in assignment.judgements.of_test().select_related("example")
    }
    assert stored == {question: [text] if text else [] for question, text in TYPED.items()}
    assert assignment.training_score == 100
    assert any('<input type="text" id="text" name="text"' in page for page in pages)


def test_reveals_the_gold_in_its_own_words(tmp_path: Path) -> None:
    _, pages = worked(batch_of(task(tmp_path)))
    (reveal,) = [page for page in pages if "ann thorne." in page]
    assert "Right." in reveal
    assert "Ann Thorne</bdi>" in reveal
    assert "Also accepted:" in reveal


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"text": "  "}, "Type an answer, or choose"),
        ({"text": "bell", "none": "1"}, "Keep one of the two."),
        ({"text": "b" * 301}, "Your answer has 301 characters. Make it at most 300."),
    ],
)
def test_says_what_is_wrong_and_keeps_what_was_typed(
    tmp_path: Path, form: dict[str, str], sentence: str
) -> None:
    batch = batch_of(task(tmp_path))
    client = Client()
    client.get(reverse("annotation:join_batch", args=[batch.join_token]), follow=True)
    client.post("/work/consent/", {"agree": "1"})
    client.post("/work/begin/")
    response = client.post("/work/submit/", {"step": 0, **form})
    page = response.content.decode()
    assert response.status_code == 422
    assert sentence in page
    assert f'value="{form["text"]}"' in page
    assert not Judgement.objects.exists()


# ---- Scores


def scored_study(path: Path, **fields: Any) -> Batch:
    batch = batch_of(task(path, **fields))
    worked(batch)
    worked(batch)
    return batch


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("normalisation", "expected"), [("squad", RIGHT_BY_SQUAD), ("none", RIGHT_AS_WRITTEN)]
)
def test_scores_people_after_the_normalisation_and_names_it(
    tmp_path: Path, normalisation: str, expected: float
) -> None:
    batch = scored_study(tmp_path, normalisation=normalisation)
    table = compare(Scope(batch.task.benchmark, batch.study))
    (cell,) = [row for row in table.rows if row.kind == "human"]
    assert cell.mean == pytest.approx(100 * expected)
    assert cell.normalisation == normalisation
    assert f"references any, normalisation {normalisation}, gold version 1." in table.provenance


def test_recomputes_a_kept_table_when_the_normalisation_changes(tmp_path: Path) -> None:
    imported = task(tmp_path)
    run = run_of(imported, {"Test0": "ann thorne."}, tmp_path / "predictions.jsonl")
    scope = Scope(imported.benchmark)
    before = compare(scope)
    assert [row.mean for row in before.rows] == [100]
    Task.objects.filter(pk=imported.pk).update(normalisation="none")
    after = compare(Scope(imported.benchmark))
    assert [(row.mean, row.normalisation) for row in after.rows] == [(0, "none")]
    assert before.fingerprint != after.fingerprint
    assert run.is_complete


def test_scores_at_a_corrected_gold(tmp_path: Path) -> None:
    batch = scored_study(tmp_path)
    example = batch.task.examples.get(identity="id:Test2")
    correct_gold(batch.task, {example.pk: [["In Marrowby"]]}, author=None, reason="Says in.")
    table = compare(Scope(batch.task.benchmark, batch.study))
    (cell,) = [row for row in table.rows if row.kind == "human"]
    assert (cell.mean, cell.gold_version) == (pytest.approx(100), 2)


def test_agrees_and_finds_a_consensus_after_the_normalisation(tmp_path: Path) -> None:
    batch = batch_of(task(tmp_path))
    worked(batch)
    worked(batch, {**TYPED, "Who cast the bell?": "Ann Thorne"})
    (cell,) = CellReader(Choices()).people(batch.study)
    assert agreement(cell, None, seed=1)["masi"] == 1
    [consensus] = compare(Scope(batch.task.benchmark, batch.study)).consensus
    assert consensus.mean == pytest.approx(100 * RIGHT_BY_SQUAD)


def test_compares_with_floors_after_the_normalisation(tmp_path: Path) -> None:
    reached = bounds(task(tmp_path), "any", 1)
    assert {bound.rule: bound.score for bound in reached} == {
        "empty": 20,
        "best_text": 40,
        "ceiling": 100,
    }
    assert {bound.normalisation for bound in reached} == {"squad"}
    assert [bound.label for bound in reached][1] == "No skill: the best single text everywhere"


def test_simulates_people_who_score_about_their_skill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How hard each of so few items is follows from its key, which the tests before decide.
    monkeypatch.setattr(simulating, "DIFFICULTY_SD", 0)
    batch = batch_of(task(tmp_path), wanted=16)
    simulate_study(batch.study, skill=0.75, seed=2, at=make.NOON)
    (cell,) = CellReader(Choices()).people(batch.study, simulated=True)
    assert len(cell.members) == 16
    assert 0.5 < cell.matrix.mean() < 0.95


def test_says_in_the_methods_section_how_answers_were_compared(tmp_path: Path) -> None:
    batch = scored_study(tmp_path)
    out = StringIO()
    call_command("export_report", study=batch.study.slug, stdout=out)
    text = " ".join(out.getvalue().split())
    assert "a short text is typed, or none." in text
    assert "compared without case, punctuation, the articles" in text


# ---- Models


def run_of(task: Task, predictions: dict[str, str], path: Path) -> Run:
    header = {"system": "Lookup", "method": "FT", "parameters": "1M", "task": task.slug}
    lines = [{**header, "shots": 2, "split": 1}]
    lines += [{"id": key, "prediction": [text]} for key, text in predictions.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_runs", path, benchmark=task.benchmark.name, stdout=StringIO())
    return Run.objects.latest("pk")


def test_scores_runs_by_the_same_rule_and_names_it(tmp_path: Path) -> None:
    imported = task(tmp_path)
    answers = {f"Test{number}": text for number, text in enumerate(TYPED.values()) if text}
    run = run_of(imported, answers, tmp_path / "predictions.jsonl")
    stored = Prediction.objects.get(run=run, example__identity="id:Test0")
    assert stored.answer == ["ann thorne."]
    score = next(score for score in scores_of_run(run) if score.references == "any")
    assert (score.mean, score.normalisation) == (pytest.approx(75), "squad")


def test_keeps_several_texts_as_one_prediction_and_counts_it(tmp_path: Path) -> None:
    imported = task(tmp_path)
    header = {"system": "Guess", "method": "FT", "task": imported.slug, "shots": 2, "split": 1}
    path = tmp_path / "predictions.jsonl"
    lines = [
        header,
        {"id": "Test0", "prediction": ["Ann"]},
        {"id": "Test1", "prediction": ["a", "b"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_runs", path, stdout=StringIO(), stderr=StringIO())
    run = Run.objects.get()
    assert run.report["malformed"] == 1
    assert run.predictions.count() == 2


def test_writes_prompts_and_takes_the_answers_back(tmp_path: Path) -> None:
    task(tmp_path)
    out = StringIO()
    call_command("export_prompts", shots=[2], stdout=out)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert every("Answer: Ann Thorne\n" in line["prompt"] for line in lines)
    assert every(line["prompt"].endswith("Answer:") for line in lines)
    assert {line["answer_kind"] for line in lines} == {"text"}
    answered = [{**line, "answer": " the marrowby \n"} for line in lines]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in answered))
    out = StringIO()
    call_command("read_answers", path, system="GPT-3", method="ICL", stdout=out)
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(out.getvalue())
    call_command("import_runs", predictions, stdout=StringIO(), stderr=StringIO())
    score = next(score for score in scores_of_run(Run.objects.get()) if score.references == "any")
    assert score.mean == pytest.approx(40)


def test_exports_samples_with_the_normalisation(tmp_path: Path) -> None:
    imported = task(tmp_path)
    run_of(imported, {"Test0": "ann thorne."}, tmp_path / "predictions.jsonl")
    target = tmp_path / "samples"
    call_command("export_every_eval_ever", benchmark="typed", output=target, stderr=StringIO())
    (record,) = target.rglob("*.json")
    result = json.loads(record.read_text())["evaluation_results"][0]
    assert result["metric_config"]["metric_parameters"]["normalisation"] == "squad"
    (samples,) = target.rglob("*_samples.jsonl")
    sample = json.loads(samples.read_text())
    assert sample["output"]["raw"] == ["ann thorne."]
    assert sample["input"]["reference"] == ["Ann Thorne", "The founder Ann Thorne"]
    assert sample["evaluation"]["score"] == 1
