"""Every LaTeX export compiles with the packages that it names, and with nothing else."""

import re
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from pytest_django import DjangoDbBlocker

from annotation.models import Study
from scoring.analysis.tables import TABLES
from tests import tools
from tests.annotation.benchmarks import sampled
from tests.scoring.comparison import measured
from tests.scoring.episodes.measured import answered, worked

pytestmark = [pytest.mark.django_db, pytest.mark.system]

DEMO = {"study": "demonstration-finished"}
EXPORTS: dict[str, tuple[str, dict[str, Any]]] = {
    "comparison": ("export_comparison", DEMO),
    "comparison, appendix": ("export_comparison", {**DEMO, "format": "latex-appendix"}),
    **{f"analysis, {table}": ("export_comparison", {**DEMO, "table": table}) for table in TABLES},
    "report": ("export_report", DEMO),
    "comparison of people": ("export_comparison", {"study": "people"}),
    "pre-registration": ("export_preregistration", {"study": "people"}),
    "report of people": ("export_report", {"study": "people"}),
    "published figures": ("export_comparison", {"benchmark": "clues"}),
    "board of episodes": ("export_episode_board", {"benchmark": "flex", "sheet": "all"}),
}


@pytest.fixture(scope="module")
def documents(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, str]:
    """All exports, made once; nothing of it stays in the database."""
    with django_db_blocker.unblock(), transaction.atomic():
        call_command("load_demo", stdout=StringIO(), stderr=StringIO())
        make_others()
        documents = {name: exported(*export) for name, export in EXPORTS.items()}
        transaction.set_rollback(True)
    return documents


def make_others() -> None:
    """People with a system beside them, and a board of episodes."""
    batch = measured.cell([3, 4, 4, 5, 6], tests=12)
    Study.objects.filter(pk=batch.study_id).update(slug="people", title="50 % & more_of #them")
    measured.run(batch.task, wrong=3, system="T5 {small} ~1 % \\ big^2")
    measured.analysed(Study.objects.get(slug="people"))
    task = sampled.sampled_task()
    answered(task, {1: 2, 2: 0, 3: 5})
    worked(task, {1: [1, 2], 2: [0, 1], 3: [3, 3]})


def exported(command: str, options: dict[str, Any]) -> str:
    out = StringIO()
    call_command(command, **{"format": "latex", **options}, stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.parametrize("name", [name for name in EXPORTS if name.startswith("comparison")])
def test_fits_a_page_of_two_columns(documents: dict[str, str], name: str, tmp_path: Path) -> None:
    body = documents[name]
    head = r"\documentclass[10pt,twocolumn]{article}\usepackage[margin=1in]{geometry}"
    packages = r"\usepackage{booktabs,graphicx,longtable,textcomp}"
    compiles(rf"{head}{packages}\begin{{document}}{body}\end{{document}}", tmp_path)
    assert "Overfull" not in (tmp_path / "t.log").read_text(errors="replace")


def test_needs_booktabs_alone_for_the_table_of_a_paper(documents: dict[str, str]) -> None:
    for name in ("comparison", "comparison of people", "published figures"):
        assert documents[name].startswith(r"% Needs \usepackage{booktabs}.")


def test_compiles_by_itself(documents: dict[str, str], tmp_path: Path) -> None:
    compiles(documents["pre-registration"], tmp_path)


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "pre-registration"])
def test_compiles(documents: dict[str, str], name: str, tmp_path: Path) -> None:
    body = documents[name]
    needs = re.match(r"% Needs (\\usepackage\{[a-z,]+\})", body)
    assert needs, body[:200]
    head = rf"\documentclass{{article}}{needs[1]}"
    compiles(rf"{head}\begin{{document}}{body}\end{{document}}", tmp_path)


def compiles(document: str, folder: Path) -> None:
    program = tools.find_pdflatex()
    assert program, "There is no pdflatex: run `make test-all`, which brings one."
    (folder / "t.tex").write_text(document, encoding="utf-8")
    command = [program, "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-1500:]
    assert (folder / "t.pdf").stat().st_size > 5_000
