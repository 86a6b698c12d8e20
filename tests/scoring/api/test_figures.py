"""Comparison, report, pre-registration and bundle of a study over the API."""

import json
from codecs import BOM_UTF8
from copy import deepcopy
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from annotation.jobs import files
from annotation.jobs.queue import run_job
from annotation.models import ChangeAction, Job, Study
from scoring.comparison import comparing
from scoring.comparison.documents import FORMATS
from scoring.report import documents, preregistration
from tests import make
from tests.annotation.api.token_client import token_client
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def made_study() -> Study:
    batch = measured.cell([0, 1], tests=2, training=1)
    measured.run(batch.task)
    return batch.study


study_once = once_a_module(made_study)


@pytest.fixture
def study(study_once: Study) -> Study:
    return deepcopy(study_once)


def client_of(study: Study, role: str = "editor") -> APIClient:
    return token_client(make.member(study, role))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_gives_the_comparison_as_the_page_exports_it(study: Study, role: str, form: str) -> None:
    user = make.member(study, role)
    page = f"/studies/{study.slug}/comparison/export/{form}/?references=set"
    address = f"/api/studies/{study.slug}/comparison/?references=set&format={form}"
    exported, told = signed_in(user).get(page), token_client(user).get(address)
    assert (told.status_code, told["Content-Type"]) == (200, exported["Content-Type"])
    assert told["Content-Disposition"] == exported["Content-Disposition"]
    # A workbook holds the moment at which it was made; a page's CSV begins with a sign for Excel.
    assert form == "xlsx" or told.content == exported.content.removeprefix(BOM_UTF8)


def test_gives_json_where_no_form_is_asked_for(study: Study) -> None:
    told = json.loads(client_of(study).get(f"/api/studies/{study.slug}/comparison/").content)
    assert told["benchmark"] == study.benchmark.name
    assert {"human", "run"} <= {row["kind"] for row in told["rows"]}


def test_has_a_large_comparison_computed(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_WHILE_WAITING", -1)
    client, address = client_of(study), f"/api/studies/{study.slug}/comparison/"
    assert client.get(address).status_code == 202
    assert client.post(address).status_code == 202
    [job] = Job.objects.all()
    run_job(job.pk)
    assert client.get(address).status_code == 200


def test_says_what_stopped_a_comparison(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_WHILE_WAITING", -1)
    client, address = client_of(study), f"/api/studies/{study.slug}/comparison/"
    client.get(address)
    Job.objects.update(state="failed", message="It broke.", finished_at=make.NOON)
    answer = client.get(address)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("It was not computed: It broke.")


@pytest.mark.parametrize(
    "query",
    [
        *("references=no", "format=exe", "gold_version=7", "gold_version=x", "refrences=any"),
        "with_excluded=maybe",
    ],
)
def test_knows_no_other_choices(study: Study, query: str) -> None:
    answer = client_of(study).get(f"/api/studies/{study.slug}/comparison/?{query}")
    assert answer.status_code == 400, answer.content
    assert answer.json().keys() <= {query.partition("=")[0], "detail"}


@pytest.mark.parametrize("form", documents.forms_of("sheet"))
def test_gives_the_report(study: Study, form: str) -> None:
    answer = client_of(study).get(f"/api/studies/{study.slug}/report/?part=sheet&format={form}")
    expected = documents.export_report(study, "sheet", form, with_pay=False)
    assert answer.status_code == 200
    assert form == "xlsx" or answer.content == expected


def test_has_a_large_report_made_by_a_job(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_AT_ONCE", 0)
    client = client_of(study)
    told = client.get(f"/api/studies/{study.slug}/report/")
    assert told.status_code == 202
    run_job(told.json()["job"])
    made = client.get(client.get(told.json()["address"]).json()["file"])
    assert made.content == documents.export_report(study, "methods", "text", with_pay=False)


@pytest.mark.parametrize("form", preregistration.FORMATS)
def test_gives_the_preregistration(study: Study, form: str) -> None:
    answer = client_of(study).get(f"/api/studies/{study.slug}/preregistration/?format={form}")
    assert answer.content == preregistration.export_preregistration(study, form)


def test_has_a_bundle_packed(study: Study) -> None:
    client = client_of(study)
    told = client.post(f"/api/studies/{study.slug}/bundle/", {"texts": True}, format="json")
    assert told.status_code == 202, told.content
    run_job(told.json()["job"])
    job = client.get(told.json()["address"]).json()
    made = client.get(job["file"])
    assert "texts.jsonl" in ZipFile(BytesIO(made.content)).namelist()
    assert study.changes.filter(action=ChangeAction.BUNDLE_EXPORTED).count() == 1


@pytest.mark.parametrize(
    ("sent", "key"), [({"texts": "yes"}, "texts"), ({"texts": None}, "texts"), ([], "detail")]
)
def test_packs_nothing_for_what_is_wrong(study: Study, sent: object, key: str) -> None:
    address = f"/api/studies/{study.slug}/bundle/"
    answer = client_of(study).post(address, sent, format="json")
    assert (answer.status_code, list(answer.json())) == (400, [key])
    assert not Job.objects.exists()


def test_packs_no_draft(study: Study) -> None:
    draft = make.study(study.benchmark)
    answer = client_of(draft).post(f"/api/studies/{draft.slug}/bundle/", {}, format="json")
    assert answer.status_code == 409
    assert not Job.objects.exists()
