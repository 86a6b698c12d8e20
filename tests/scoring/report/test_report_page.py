import csv
from copy import deepcopy
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Channel
from annotation.studies.lifecycle import close_study
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


batch_once = once_a_module(lambda: measured.cell([3, 4, 5]))


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def test_shows_the_methods_section_and_the_sheet(admin_client: Client, batch: Batch) -> None:
    text = admin_client.get(f"/studies/{batch.study.slug}/report/").content.decode()
    assert "3 people, recruited through" in text
    assert "For you to answer." in text
    assert "arXiv:2506.13776" in text
    assert 'aria-current="page">Report</a>' in text


def test_says_first_that_all_annotators_are_simulated(admin_client: Client, batch: Batch) -> None:
    Channel.objects.filter(annotators__assignments__batch=batch).update(is_simulated=True)
    text = admin_client.get(f"/studies/{batch.study.slug}/report/").content.decode()
    article = text[text.index("<article") :]
    assert article.index("A rehearsal: ") < article.index("Design")
    assert "notice-warn" in text[: text.index("<article")]


def read_by_viewer(batch: Batch, status: int = 200) -> str:
    client = Client()
    client.force_login(make.member(batch.study, "viewer"))
    page = client.get(f"/studies/{batch.study.slug}/report/")
    assert page.status_code == status
    text = page.content.decode()
    overview = client.get(f"/research/studies/{batch.study.slug}/watch/").content.decode()
    assert (">Report</a>" in overview) is (status == 200)
    return text


def test_opens_to_viewers_when_the_study_is_closed(batch: Batch) -> None:
    measured.run(batch.task)
    assert "people, recruited through" not in read_by_viewer(batch, 403)
    close_study(batch.study, at=make.NOON)
    text = read_by_viewer(batch)
    for shown in ("3 people, recruited through", "What was found", "BERT-Base FT", "people better"):
        assert shown in text
    # Nothing item by item, and no pay.
    for hidden in ("samples", "report/methods", "analysis/", "preregistration", "per hour"):
        assert hidden not in text


def test_keeps_figures_from_viewers_that_their_runs_could_have_asked_for(batch: Batch) -> None:
    close_study(batch.study, at=make.NOON)
    measured.run(batch.task, system="Theirs", owner=User.objects.create_user("submitter"))
    text = read_by_viewer(batch)
    assert "runs of people who may not see the gold" in text
    assert "What was found" not in text
    assert "people, recruited through" not in text


def test_leads_to_the_analysis_that_agreement_waits_for(admin_client: Client, batch: Batch) -> None:
    address = f"/studies/{batch.study.slug}/report/"
    waits = "How far annotators agree is shown here once"
    text = admin_client.get(address).content.decode()
    assert waits in text
    assert f'href="/studies/{batch.study.slug}/comparison/analysis/"' in text
    measured.analysed(batch.study)
    text = admin_client.get(address).content.decode()
    assert waits not in text
    assert "alpha with the MASI distance" in text


@pytest.mark.parametrize(
    ("part", "form", "begins"),
    [
        ("methods", "text", "Methods: "),
        ("methods", "latex", "% Needs"),
        ("sheet", "text", "Reporting sheet: "),
        ("sheet", "latex", "% Needs"),
        ("sheet", "markdown", "## Reporting sheet: "),
        ("sheet", "csv", "\ufeffgroup,topic,question,source,answer"),
        ("sheet", "json", "{"),
    ],
)
def test_gives_the_parts_to_take_along(
    admin_client: Client, batch: Batch, part: str, form: str, begins: str
) -> None:
    response = admin_client.get(f"/studies/{batch.study.slug}/report/{part}/{form}/")
    assert response["Content-Disposition"].startswith(f'attachment; filename="{part}-')
    assert response.content.decode().startswith(begins)


def test_tells_in_the_table_where_each_answer_comes_from(
    admin_client: Client, batch: Batch
) -> None:
    response = admin_client.get(f"/studies/{batch.study.slug}/report/sheet/csv/")
    rows = list(csv.DictReader(StringIO(response.content.decode("utf-8-sig"))))
    assert {row["source"] for row in rows} == {
        "from the study's data",
        "in part: the researcher completes it",
        "for the researcher to answer",
    }


@pytest.mark.parametrize("rest", ["methods/csv", "methods/pdf", "nothing/text", "sheet/html"])
def test_does_not_find_what_is_not_there(admin_client: Client, batch: Batch, rest: str) -> None:
    assert admin_client.get(f"/studies/{batch.study.slug}/report/{rest}/").status_code == 404
    assert admin_client.get("/studies/none/report/").status_code == 404


@pytest.mark.parametrize("rest", ["", "methods/text/"])
def test_does_not_exist_for_strangers(client: Client, batch: Batch, rest: str) -> None:
    address = f"/studies/{batch.study.slug}/report/{rest}"
    assert client.get(address)["Location"].startswith("/admin/login/")
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address).status_code == 404


def test_begins_with_the_way_back_and_what_was_found(admin_client: Client, batch: Batch) -> None:
    slug = batch.study.slug
    text = admin_client.get(f"/studies/{slug}/report/").content.decode()
    assert reverse("annotation:watch", args=[slug]) in text
    assert text.index("What was found") < text.index(" of 100") < text.index("<article")
