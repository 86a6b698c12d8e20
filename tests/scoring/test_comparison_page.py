from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from openpyxl import load_workbook

from annotation.models import Batch, Exclusion
from tests.scoring import measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    made = measured.cell([3, 4, 5])
    measured.run(made.task, wrong=2)
    measured.reported(made.study.benchmark, made.task.slug)
    return made


def page(client: Client, batch: Batch, rest: str = "", **chosen: str) -> str:
    response = client.get(f"/studies/{batch.study.slug}/comparison/{rest}", chosen)
    assert response.status_code == 200
    return response.content.decode()


def test_shows_people_systems_and_annotators_in_one_table(
    admin_client: Client, batch: Batch
) -> None:
    text = page(admin_client, batch)
    assert "Human, " + batch.study.slug in text
    assert "BERT-Base" in text
    assert "GPT-3" in text
    assert "CLUES Table 6" in text
    for assignment in batch.assignments.all():
        assert assignment.annotator.pseudonym in text


def test_marks_published_figures_whose_policy_is_unknown(
    admin_client: Client, batch: Batch
) -> None:
    assert "Published without its reference policy" in page(admin_client, batch)


def test_shows_the_comparison_of_a_benchmark(admin_client: Client, batch: Batch) -> None:
    response = admin_client.get(f"/benchmarks/{batch.study.benchmark.name}/comparison/")
    assert batch.study.slug in response.content.decode()


def test_follows_the_readers_choices(admin_client: Client, batch: Batch) -> None:
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert "n = 2" in page(admin_client, batch)
    assert "n = 3" in page(admin_client, batch, with_excluded="on")
    assert '<span class="soft policy">set</span>' in page(admin_client, batch, references="set")


def test_refuses_choices_that_do_not_exist(admin_client: Client, batch: Batch) -> None:
    address = f"/studies/{batch.study.slug}/comparison/"
    assert admin_client.get(address, {"estimand": "all"}).status_code == 404
    assert admin_client.get(address, {"references": "both"}).status_code == 404


def test_keeps_the_choices_in_its_export_links(admin_client: Client, batch: Batch) -> None:
    text = page(admin_client, batch, references="set")
    assert f'/studies/{batch.study.slug}/comparison/export/csv/?references=set"' in text


@pytest.mark.parametrize("form", ["csv", "json", "latex", "markdown", "xlsx"])
def test_exports_the_same_table(admin_client: Client, batch: Batch, form: str) -> None:
    response = admin_client.get(f"/studies/{batch.study.slug}/comparison/export/{form}/")
    assert response["Content-Disposition"].startswith("attachment; filename=")
    if form == "xlsx":
        assert load_workbook(BytesIO(response.content))["comparison"].max_row == 7
    else:
        assert "GPT-3" in response.content.decode()


def test_draws_the_figure_into_the_page_and_into_files(admin_client: Client, batch: Batch) -> None:
    assert page(admin_client, batch, "shots/fragment/").startswith("<svg")
    heads = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
    for form, head in heads.items():
        response = admin_client.get(f"/studies/{batch.study.slug}/comparison/shots/{form}/")
        assert response.content.startswith(head)


def test_says_that_there_is_nothing_to_compare_yet(admin_client: Client) -> None:
    text = page(admin_client, measured.cell([]))
    assert "Nothing to compare yet" in text


@pytest.mark.parametrize("rest", ["", "export/csv/", "shots/svg/"])
def test_lets_in_staff_alone(client: Client, batch: Batch, rest: str) -> None:
    address = f"/studies/{batch.study.slug}/comparison/{rest}"
    assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address).status_code == 403


@pytest.mark.parametrize(
    "address",
    ["/studies/none/comparison/", "/benchmarks/none/comparison/", "/tasks/none/comparison/"],
)
def test_does_not_find_what_is_not_there(admin_client: Client, address: str) -> None:
    assert admin_client.get(address).status_code == 404
