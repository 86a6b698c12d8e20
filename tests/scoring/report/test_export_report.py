from copy import deepcopy
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Batch, Exclusion
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    made = measured.cell([3, 4, 5], tests=6)
    measured.run(made.task, system="A_1 & 50 %", wrong=2)
    Exclusion.objects.create(assignment=made.assignments.first(), reason="cost < $1 {really}")
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def exported(**options: object) -> str:
    out = StringIO()
    call_command("export_report", stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_prints_the_methods_section_and_the_sheet(batch: Batch) -> None:
    text = exported(study=batch.study.slug)
    assert text.startswith(f"Methods: {batch.study.title}\n=====")
    assert f"Reporting sheet: {batch.study.title}" in text
    assert "[for the researcher to answer]" in text
    assert "arXiv:2506.13776" in text


@pytest.mark.parametrize(("part", "other"), [("methods", "Reporting sheet"), ("sheet", "Methods:")])
def test_prints_one_of_them_alone(batch: Batch, part: str, other: str) -> None:
    assert other not in exported(study=batch.study.slug, part=part)


def test_lays_out_tables_in_columns(batch: Batch) -> None:
    lines = exported(study=batch.study.slug, part="methods").splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("Task  "))
    assert set(lines[head + 1]) == {"-", " "}
    assert len(lines[head]) == len(lines[head + 1]) == len(lines[head + 2])
    assert lines[head + 2].startswith(batch.task.slug)


def test_breaks_lines_for_reading(batch: Batch) -> None:
    prose = [line for line in exported(study=batch.study.slug).splitlines() if "  " not in line]
    assert max(map(len, prose)) <= 88


def test_writes_latex_that_sets_every_sign_as_it_stands(batch: Batch) -> None:
    make.closed(batch.study)
    text = exported(study=batch.study.slug, format="latex")
    assert r"cost \textless{} \$1 \{really\}" in text
    assert r"A\_1 \& 50 \% FT" in text
    assert r"\section{Methods: " in text
    assert r"\begin{description}" in text
    for name in ("table", "tabular", "description"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


def test_writes_into_a_file(batch: Batch, tmp_path: Path) -> None:
    file = tmp_path / "methods.tex"
    assert exported(study=batch.study.slug, format="latex", output=file) == ""
    assert file.read_text() == exported(study=batch.study.slug, format="latex")


def test_computes_agreement_itself_as_the_analysis_does(batch: Batch) -> None:
    make.closed(batch.study)
    computed = exported(study=batch.study.slug)
    assert "Agreement\n---------" in computed
    measured.analysed(batch.study)
    assert exported(study=batch.study.slug) == computed


def test_says_where_it_cannot_write(batch: Batch, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Cannot write"):
        exported(study=batch.study.slug, output=tmp_path / "no" / "folder")


def test_names_the_studies_that_there_are(batch: Batch) -> None:
    with pytest.raises(CommandError, match=f"there are: {batch.study.slug}"):
        exported(study="none")


def test_gives_the_same_text_twice(batch: Batch) -> None:
    assert exported(study=batch.study.slug) == exported(study=batch.study.slug)
