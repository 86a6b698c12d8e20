"""A researcher reads a task's name in papers; what a program reads has its slug."""

from copy import deepcopy
from io import BytesIO

import pytest
from django.test import Client
from django.utils.html import strip_tags
from openpyxl import load_workbook

from annotation.models import Batch, Task
from annotation.studies.lifecycle import start_study
from scoring.analysis.tables import with_names
from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from scoring.comparison.documents import overview
from scoring.tables.table import Column, Table, lines_of
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made_batch() -> Batch:
    made = measured.cell([3, 4, 6])
    Task.objects.update(slug="sst2", name="SST-2")
    made.task.refresh_from_db()
    measured.run(made.task, wrong=2)
    measured.reported(made.study.benchmark, "sst2")
    measured.analysed(made.study)
    return made


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def read(client: Client, batch: Batch, rest: str) -> str:
    response = client.get(f"/studies/{batch.study.slug}/comparison/{rest}")
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("rest", ["", "?view=wide", "analysis/", "items/"])
def test_pages_say_the_name_alone(admin_client: Client, batch: Batch, rest: str) -> None:
    text = strip_tags(read(admin_client, batch, rest))
    assert "SST-2" in text
    assert "sst2" not in text


def test_the_page_of_an_item_leads_back_to_its_task(admin_client: Client, batch: Batch) -> None:
    example = batch.test_set.items.first()
    assert example is not None
    text = read(admin_client, batch, f"items/{example.example_id}/")
    assert "SST-2" in strip_tags(text)
    assert "sst2" not in strip_tags(text)
    assert "task=sst2" in text


@pytest.mark.parametrize(
    "place", ["shots", "analysis/differences", "analysis/curves", "items/figure"]
)
def test_pictures_say_the_name_alone(admin_client: Client, batch: Batch, place: str) -> None:
    picture = read(admin_client, batch, f"{place}/svg/")
    assert "SST-2" in picture
    assert "sst2" not in picture


@pytest.mark.parametrize("form", ["latex", "markdown"])
@pytest.mark.parametrize("part", ["export/", "analysis/export/all/"])
def test_documents_say_the_name_alone(
    admin_client: Client, batch: Batch, part: str, form: str
) -> None:
    document = read(admin_client, batch, f"{part}{form}/")
    assert "SST-2" in document
    assert "sst2" not in document


@pytest.mark.parametrize("rest", ["", "analysis/", "items/", "items/{}/"])
def test_pages_of_a_benchmark_call_studies_by_their_titles(
    admin_client: Client, batch: Batch, rest: str
) -> None:
    measured.analysed(batch.study, of_benchmark=True)
    example = batch.test_set.items.latest("pk").example_id
    address = f"/benchmarks/{batch.study.benchmark.name}/comparison/{rest.format(example)}"
    text = strip_tags(admin_client.get(address).content.decode())
    assert batch.study.slug not in text
    assert (batch.study.title in text) is (rest != "items/")


@pytest.mark.parametrize("part", ["export/", "analysis/export/all/"])
def test_documents_call_a_study_by_its_title(admin_client: Client, batch: Batch, part: str) -> None:
    document = read(admin_client, batch, f"{part}markdown/")
    assert batch.study.title in document
    assert batch.study.slug not in document


@pytest.mark.parametrize(
    "file", ["export/csv", "export/json", "analysis/export/tests/csv", "analysis/export/all/json"]
)
def test_bare_values_have_the_slug(admin_client: Client, batch: Batch, file: str) -> None:
    document = read(admin_client, batch, f"{file}/")
    assert "sst2" in document
    assert "SST-2" not in document


def test_a_workbook_has_names_to_read_and_slugs_in_every_row(
    admin_client: Client, batch: Batch
) -> None:
    response = admin_client.get(f"/studies/{batch.study.slug}/comparison/export/xlsx/")
    book = load_workbook(BytesIO(response.content))
    texts = {sheet.title: {str(value) for line in sheet.values for value in line} for sheet in book}
    for title in ("Overview", "Verdicts", "Annotators"):
        assert any("SST-2" in text for text in texts[title])
        assert "sst2" not in texts[title]
        assert not any(batch.study.slug in text for text in texts[title])
    assert {"sst2", batch.study.slug} <= texts["comparison"]
    assert "SST-2" not in texts["comparison"]


def test_a_task_without_a_name_keeps_its_slug() -> None:
    batch = measured.cell([3])
    table = compare(Scope(batch.study.benchmark, batch.study))
    [group] = [column.group for column in overview(table, "3").columns if column.group]
    assert group.heading == batch.task.slug


def test_two_tasks_of_one_name_stay_apart() -> None:
    benchmark = make.benchmark()
    for slug in ("old", "new"):
        make.task(benchmark, slug=slug, name="SST-2")
    make.task(benchmark, slug="mnli", name="MNLI")
    assert Scope(benchmark).task_names == {
        "old": "SST-2 (old)",
        "new": "SST-2 (new)",
        "mnli": "MNLI",
    }


def test_choices_reports_and_the_overview_tell_two_tasks_of_one_name_apart(
    admin_client: Client,
) -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark)
    for slug in ("old", "new"):
        make.batch(study, make.task(benchmark, slug=slug, name="SST-2"))
    start_study(study, at=make.NOON)
    for batch in study.batches.all():
        make.worked_through(batch)
    for place in (
        f"/studies/{study.slug}/comparison/items/",
        f"/studies/{study.slug}/report/",
        f"/research/studies/{study.slug}/watch/",
    ):
        text = strip_tags(admin_client.get(place).content.decode())
        assert "SST-2 (old)" in text
        assert "SST-2 (new)" in text


def test_a_column_of_several_tasks_names_each() -> None:
    columns = (Column("tasks", "Tasks", is_number=False),)
    table = Table("over", "", "", columns, lines_of([{"tasks": "sst2, mnli"}]))
    named = with_names(table, {"sst2": "SST-2"}, {})
    assert named.read[0].cells[0].text == "SST-2, mnli"
    assert named.records == [{"tasks": "sst2, mnli"}]
