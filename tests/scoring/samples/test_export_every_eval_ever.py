import json
import re
from copy import deepcopy
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Batch, Channel, Exclusion, Kind, Task
from scoring.models import Method, Run
from scoring.runs.formats.harnesses import READERS
from scoring.runs.formats.records import ReadOptions, RunFields
from scoring.runs.importing import import_predictions
from scoring.runs.scores import scores_of_run
from tests import make
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

# What the format requires in every sample, and in every record of an evaluation.
SAMPLE = {
    "schema_version",
    "evaluation_id",
    "model_id",
    "evaluation_name",
    "sample_id",
    "interaction_type",
    "input",
    "answer_attribution",
    "evaluation",
}
LOG = {
    "schema_version",
    "evaluation_id",
    "retrieved_timestamp",
    "source_metadata",
    "model_info",
    "eval_library",
    "evaluation_results",
}
SAMPLES_PATH = re.compile(
    r"data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"_samples\.jsonl"
)


def exported(**options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("export_every_eval_ever", stdout=out, stderr=StringIO(), **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def written(folder: Path, **options: Any) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each evaluation's record with its samples."""
    call_command("export_every_eval_ever", output=folder, stderr=StringIO(), **options)
    evaluations = []
    for path in sorted(folder.rglob("*.json")):
        samples = path.with_name(f"{path.stem}_samples.jsonl").read_text().splitlines()
        evaluations.append((json.loads(path.read_text()), list(map(json.loads, samples))))
    return evaluations


def made_batch() -> Batch:
    made = measured.cell([3, 4], tests=6)
    measured.run(made.task, wrong=2, parameters="110M")
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def test_prints_a_sample_for_every_answer_of_people_and_runs(batch: Batch) -> None:
    rows = exported(study=batch.study.slug)
    assert len(rows) == 3 * 6
    assert every(row.keys() >= SAMPLE for row in rows)
    people = [row for row in rows if row["metadata"]["kind"] == "human"]
    pseudonyms = {assignment.annotator.pseudonym for assignment in batch.assignments.all()}
    assert {row["model_id"] for row in people} == {f"human/{name}" for name in pseudonyms}
    [system] = {row["model_id"] for row in rows} - {row["model_id"] for row in people}
    assert system == "BERT-Base"


def test_says_of_a_sample_what_was_asked_answered_and_earned(batch: Batch) -> None:
    row = next(row for row in exported(study=batch.study.slug) if row["model_id"] == "BERT-Base")
    example = batch.test_set.items.first().example
    assert row["evaluation_name"] == batch.task.slug
    assert row["sample_id"] == batch.test_set.items.first().source_id
    assert row["input"] == {
        "raw": f"{example.context[0]}\n{example.question}",
        "reference": measured.gold(example),
        "choices": batch.test_set.choices,
    }
    assert row["output"] == {"raw": ["?"]}
    assert row["answer_attribution"][0]["extracted_value"] == "?"
    assert row["evaluation"] == {"score": 0.0, "is_correct": False}
    assert (
        row["sample_hash"]
        == sha256((row["input"]["raw"] + measured.gold(example)[0]).encode()).hexdigest()
    )
    assert row["metadata"]["shots"] == "3"
    assert row["metadata"]["gold_version"] == "1"
    assert row["metadata"]["references"] == "any"


def test_knows_one_item_by_one_hash_whoever_answered_it(batch: Batch) -> None:
    rows = exported(study=batch.study.slug)
    hashes = {(row["sample_id"], row["sample_hash"]) for row in rows}
    assert len(hashes) == 6


def test_tells_the_time_of_people_by_the_servers_clock(batch: Batch) -> None:
    for row in exported(study=batch.study.slug):
        is_person = row["metadata"]["kind"] == "human"
        assert row["performance"] == ({"latency_ms": 10_000} if is_person else None)


def test_writes_a_record_beside_the_samples_of_each_evaluation(
    batch: Batch, tmp_path: Path
) -> None:
    evaluations = written(tmp_path, study=batch.study.slug, organization="Our Lab")
    assert len(evaluations) == 3
    for log, samples in evaluations:
        detail = log["detailed_evaluation_results"]
        assert log.keys() >= LOG
        assert SAMPLES_PATH.fullmatch(detail["file_path"])
        content = (tmp_path / detail["file_path"]).read_bytes()
        assert detail["checksum"] == sha256(content).hexdigest()
        assert detail["total_rows"] == len(samples) == 6
        assert {row["evaluation_id"] for row in samples} == {log["evaluation_id"]}
        assert {row["model_id"] for row in samples} == {log["model_info"]["id"]}
        assert log["source_metadata"]["source_organization_name"] == "Our Lab"
        [result] = log["evaluation_results"]
        mean = sum(row["evaluation"]["score"] for row in samples) / 6
        assert result["score_details"]["score"] == pytest.approx(mean)
    assert len({log["evaluation_id"] for log, _ in evaluations}) == 3


def test_writes_the_same_files_from_the_same_rows(batch: Batch, tmp_path: Path) -> None:
    written(tmp_path / "a", study=batch.study.slug)
    written(tmp_path / "b", study=batch.study.slug)
    first, second = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json*")}
        for folder in (tmp_path / "a", tmp_path / "b")
    )
    assert first == second


def test_leaves_out_items_without_an_answer_and_counts_them(tmp_path: Path) -> None:
    task = make.task(tests=6)
    measured.run(task, wrong=1, missing=2)
    [(log, samples)] = written(tmp_path, benchmark=task.benchmark.name)
    assert len(samples) == 4
    details = log["evaluation_results"][0]["score_details"]
    assert details["details"] == {"items": "6", "items_answered": "4"}
    assert details["score"] == 0.75


@pytest.mark.parametrize("kind", Kind.values)
def test_can_be_imported_again_with_the_same_score(kind: str, tmp_path: Path) -> None:
    task: Task = make.task(tests=6, kind=kind)
    run = measured.run(task, wrong=2)
    before = scores_of_run(run)
    file = tmp_path / "run_samples.jsonl"
    file.write_text("\n".join(map(json.dumps, exported(benchmark=task.benchmark.name))))
    Run.objects.all().delete()
    report = import_predictions(
        reader=READERS[2],
        path=file,
        benchmark=task.benchmark,
        options=ReadOptions(run=RunFields(method=Method.FT, shots=3, split=1)),
    )
    assert len(report.runs) == 1
    again = Run.objects.get()
    assert again.system == "BERT-Base"
    assert [score.mean for score in scores_of_run(again)] == [score.mean for score in before]


def imported_again(path: Path, batch: Batch) -> str:
    Run.objects.all().delete()
    out = StringIO()
    options = {"benchmark": batch.task.benchmark.name, "shots": "3", "method": "FT"}
    call_command("import_runs", path, **options, stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize("simulated", [False, True])
def test_brings_no_people_in_as_systems(batch: Batch, tmp_path: Path, simulated: bool) -> None:
    Channel.objects.update(is_simulated=simulated)
    written(tmp_path, benchmark=batch.task.benchmark.name, simulated=True)
    with pytest.raises(CommandError) as refused:
        imported_again(tmp_path, batch)
    sentences = str(refused.value).splitlines()
    kind = "simulated" if simulated else "human"
    for assignment, sentence in zip(batch.assignments.all(), sorted(sentences), strict=True):
        assert "_samples.jsonl holds the answers of an annotator" in sentence
        assert sentence.endswith("by the study that they took part in.")
        assert f"({kind}/{assignment.annotator.pseudonym})" in str(refused.value)
    assert [run.system for run in Run.objects.all()] == ["BERT-Base"], "the others go on"


def test_brings_the_systems_of_a_mixed_file_in(batch: Batch, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    rows = exported(benchmark=batch.task.benchmark.name)
    file.write_text("\n".join(map(json.dumps, rows)))
    shown = imported_again(file, batch)
    assert "refused, 12 ×: the answer of an annotator, who is no system" in shown
    assert [run.system for run in Run.objects.all()] == ["BERT-Base"]


def test_keeps_several_alternatives_apart() -> None:
    task = make.task(tests=1, kind=Kind.SPANS)
    example = task.examples.get(identity="id:test 0")
    alternatives = [[{"text": "Anna"}], [{"text": "Anna"}, {"text": "Boris"}]]
    example.golds.update(alternatives=alternatives)
    measured.run(task, answers={example.pk: ["Anna"]})
    [row] = exported(benchmark=task.benchmark.name)
    assert row["input"]["reference"] == ["Anna", "Boris"]
    assert json.loads(row["metadata"]["alternatives"]) == [["Anna"], ["Anna", "Boris"]]
    assert row["evaluation"] == {"score": 1.0, "is_correct": True}
    [row] = exported(benchmark=task.benchmark.name, references="set")
    assert row["evaluation"] == {"score": pytest.approx(2 / 3), "is_correct": False}


def test_leaves_out_excluded_and_simulated_annotators_unless_asked(batch: Batch) -> None:
    first, second = batch.assignments.all()
    Exclusion.objects.create(assignment=first, reason="random answers")
    scope = {"study": batch.study.slug}
    assert f"human/{first.annotator}" not in {row["model_id"] for row in exported(**scope)}
    rows = exported(**scope, with_excluded=True)
    assert {row["model_id"] for row in rows if row["metadata"].get("excluded")} == {
        f"human/{first.annotator}"
    }
    Channel.objects.filter(annotators=second.annotator).update(is_simulated=True)
    assert {row["model_id"] for row in exported(**scope)} == {"BERT-Base"}
    rows = exported(**scope, simulated=True)
    assert f"simulated/{second.annotator}" in {row["model_id"] for row in rows}
    assert not any(row["model_id"].startswith("human/") for row in rows)


def test_names_nobody_but_by_pseudonym(batch: Batch) -> None:
    text = json.dumps(exported(study=batch.study.slug))
    for assignment in batch.assignments.all():
        assert assignment.annotator.external_id not in text


def test_makes_safe_folders_of_any_name(tmp_path: Path) -> None:
    task = make.task(tests=2)
    for system in ("../../etc/passwd", "meta/Llama: 3?", "dots..."):
        measured.run(task, system=system)
    evaluations = written(tmp_path / "inside", benchmark=task.benchmark.name)
    assert len(evaluations) == 3
    folders = {path.parent.relative_to(tmp_path / "inside") for path in tmp_path.rglob("*.json")}
    root = Path("data", task.benchmark.name)
    assert folders == {
        root / ".._.._etc" / "passwd",
        root / "meta" / "Llama_ 3_",
        root / "unspecified" / "dots",
    }


def test_says_that_there_is_nothing_to_export() -> None:
    with pytest.raises(CommandError, match="Nobody has answered anything"):
        exported(study=measured.cell([]).study.slug)


def test_names_the_studies_that_there_are() -> None:
    make.study(make.benchmark(), slug="mine")
    with pytest.raises(CommandError, match=r"There is no study 'yours'; there are: .*\bmine\b"):
        exported(study="yours")
