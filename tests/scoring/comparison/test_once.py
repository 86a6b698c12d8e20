"""Each test is made once, and people are read once, whoever looks at a comparison."""

from typing import Any

import pytest
from django.test import Client

from annotation.models import Study
from scoring.analysis.analysing import analyse
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices, Scope
from scoring.contrasts import differences
from scoring.core.comparison import paired_difference
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


class Counted:
    """How often something was called."""

    def __init__(self, call: Any) -> None:
        self.call, self.count = call, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.count += 1
        return self.call(*args, **options)


@pytest.fixture
def tests_made(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Those of two cells; leaving out one annotator after the other makes others."""
    counted = Counted(paired_difference)
    monkeypatch.setattr(differences, "paired_difference", counted)
    monkeypatch.setattr(differences, "disputed_items", lambda people: frozenset())
    return counted


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted(CellReader._read_people)

    def read(self: CellReader, *args: Any, **options: Any) -> Any:
        return counted(self, *args, **options)

    monkeypatch.setattr(CellReader, "_read_people", read)
    return counted


@pytest.fixture
def study() -> Study:
    """People with and without shots, beside two systems."""
    benchmark = make.benchmark()
    task = make.task(benchmark, tests=12)
    made = make.study(benchmark)
    batches = [make.batch(made, task, wanted=3), make.batch(made, task, wanted=3, zero_shot=True)]
    make.start_study(made, at=make.NOON)
    for batch in batches:
        for wrong in (3, 4, 5):
            make.worked_through(batch, wrong=wrong)
    for system in ("A", "B"):
        measured.run(task, wrong=2, system=system)
    return make.closed(made)


def test_the_page_the_documents_and_the_report_share_one_reading(
    admin_client: Client, study: Study, tests_made: Counted, readings: Counted
) -> None:
    page = f"/studies/{study.slug}/comparison/"
    for address in (page, f"{page}export/json/", f"{page}export/latex/", page):
        assert admin_client.get(address).status_code == 200
    for address in (f"/studies/{study.slug}/report/", f"/studies/{study.slug}/report/sheet/text/"):
        assert admin_client.get(address).status_code == 200
    # People with shots against two systems, and against those without; and the two systems.
    assert tests_made.count == 4
    assert readings.count == 1


def test_an_analysis_adds_no_test(study: Study, tests_made: Counted, readings: Counted) -> None:
    analysis = analyse(Scope(study.benchmark, study), Choices())
    made = [*analysis.tests, *analysis.changes, *analysis.systems]
    assert tests_made.count == len(made) == 4
    assert readings.count == 1
