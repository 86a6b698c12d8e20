import csv
import json
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from openpyxl import load_workbook

from scoring.cells.rows import BY_KEY
from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from scoring.comparison.documents import FORMATS
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def document_bytes(**options: object) -> bytes:
    raw = BytesIO()
    out = TextIOWrapper(raw)
    call_command("export_comparison", stdout=out, **options)
    out.detach()
    return raw.getvalue()


def exported(**options: object) -> str:
    out = StringIO()
    call_command("export_comparison", stdout=out, **options)
    return out.getvalue()


def test_prints_the_comparison_of_a_study_alone_on_stdout() -> None:
    batch = measured.cell([3, 4, 5])
    document = json.loads(exported(study=batch.study.slug, format="json"))
    assert document["benchmark"] == batch.study.benchmark.name
    assert [row["kind"] for row in document["rows"]] == ["human", *["annotator"] * 3]
    assert list(document["rows"][0]) == list(BY_KEY)


def test_prints_the_comparison_of_a_benchmark() -> None:
    batch = measured.cell([3])
    measured.reported(batch.study.benchmark, "mnli")
    document = json.loads(exported(benchmark=batch.study.benchmark.name, format="json"))
    assert {row["task"] for row in document["rows"]} == {batch.task.slug, "mnli"}


@pytest.mark.parametrize("references", ["set", "any"])
def test_scores_under_the_policy_that_is_asked_for(references: str) -> None:
    batch = measured.cell([3])
    document = json.loads(exported(study=batch.study.slug, format="json", references=references))
    assert document["references"] == references
    assert {row["references"] for row in document["rows"]} == {references}


@pytest.mark.parametrize("name", ["csv", "json", "markdown"])
def test_names_every_annotator_in_every_format(name: str) -> None:
    batch = measured.cell([3, 4])
    text = exported(study=batch.study.slug, format=name)
    for assignment in batch.assignments.all():
        assert assignment.annotator.pseudonym in text


def test_writes_a_file(tmp_path: Path) -> None:
    batch = measured.cell([3])
    file = tmp_path / "comparison.xlsx"
    call_command("export_comparison", study=batch.study.slug, format="xlsx", output=file,
                 stderr=StringIO())  # fmt: skip
    assert load_workbook(file)["comparison"].max_row == 3


def test_prints_a_workbook_as_bytes() -> None:
    batch = measured.cell([3])
    document = document_bytes(study=batch.study.slug, format="xlsx")
    assert load_workbook(BytesIO(document)).sheetnames == [
        "Overview",
        "People",
        "Systems",
        "Times",
        "Annotators",
        "comparison",
        "columns",
    ]


def test_names_the_studies_when_there_is_no_such_study() -> None:
    batch = measured.cell([3])
    with pytest.raises(CommandError, match=f"no study 'other'; there are: {batch.study.slug}"):
        exported(study="other", format="json")


def test_says_why_a_file_cannot_be_written(tmp_path: Path) -> None:
    batch = measured.cell([3])
    with pytest.raises(CommandError, match="Cannot write"):
        exported(study=batch.study.slug, format="json", output=tmp_path / "no" / "file")


def test_asks_for_a_study_or_a_benchmark() -> None:
    with pytest.raises(CommandError, match="--study"):
        exported(format="json")


def test_prints_a_table_of_the_analysis() -> None:
    batch = measured.cell([3, 4, 6])
    measured.run(batch.task, wrong=2)
    make.closed(batch.study)
    document = json.loads(exported(study=batch.study.slug, format="json", table="tests"))
    [test] = document["tests"]
    assert (test["system"], test["n"]) == ("BERT-Base", 3)


@pytest.mark.parametrize("wrong", [{"shots": ["some"]}, {"gold_version": 0}, {"gold_version": 2}])
def test_refuses_choices_that_do_not_exist(wrong: dict[str, object]) -> None:
    batch = measured.cell([3])
    with pytest.raises(CommandError, match=r"numbers, few or all|count from 1|latest is 1"):
        exported(study=batch.study.slug, format="json", **wrong)


def test_reproduces_every_published_figure(oracles: Path) -> None:
    file = oracles / "clues_results.json"
    call_command("import_runs", str(file), benchmark=make.benchmark("clues").name,
                 stdout=StringIO(), stderr=StringIO())  # fmt: skip
    rows = json.loads(exported(benchmark="clues", format="json"))["rows"]
    published = json.loads(file.read_text())["scores"]
    names = ("system", "method", "task", "shots")
    figure = ("mean", "sd", "n", "references")
    figures = {tuple(row[key] for key in names): [row[key] for key in figure] for row in rows}
    assert {row["kind"] for row in rows} == {"reported"}
    assert len(rows) == len(published) == 182
    assert figures == {
        tuple(score[key] for key in names): [score[key] for key in figure] for score in published
    }


def test_gives_the_verdict_of_every_system_to_compute_with() -> None:
    batch = measured.cell([3] * 5, tests=12)
    measured.run(batch.task, wrong=10)
    slug = batch.study.slug
    document = json.loads(exported(study=slug, format="json"))
    assert (document["interim"], document["verdicts"]) == (batch.study.title, [])
    make.closed(batch.study)
    document = json.loads(exported(study=slug, format="json"))
    [verdict] = document["verdicts"]
    assert (verdict["study"], verdict["task"]) == (slug, batch.task.slug)
    assert (verdict["outcome"], verdict["family"]) == ("ahead", 1)
    assert verdict["low"] < verdict["difference"] < verdict["high"]
    assert document["interim"] is None
    rows = list(csv.DictReader(StringIO(exported(study=slug, format="csv"))))
    [run] = [row for row in rows if row["kind"] == "run"]
    assert (run["against"], run["outcome"]) == (slug, "ahead")
    assert float(run["difference"]) == pytest.approx(verdict["difference"])
    assert float(run["difference_low"]) == pytest.approx(verdict["low"])
    assert {row["outcome"] for row in rows if row["kind"] != "run"} == {""}


def test_gives_no_verdict_to_readers_without_the_gold() -> None:
    batch = measured.cell([3] * 5, tests=12)
    measured.run(batch.task, wrong=10)
    table = compare(Scope(batch.study.benchmark, batch.study)).without_gold()
    document = json.loads(FORMATS["json"].write(table))
    assert document["verdicts"] == []
    rows = csv.DictReader(StringIO(FORMATS["csv"].write(table).decode()))
    assert {(row["outcome"], row["difference"]) for row in rows} == {("", "")}
