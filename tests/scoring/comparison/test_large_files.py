"""Large exports: a worker makes them, for those alone who may see all of them."""

from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.jobs import files
from annotation.jobs.queue import run_job
from annotation.models import Batch, Job, JobFile
from scoring.models import Leaderboard
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task
from tests.scoring.comparison import measured
from tests.scoring.episodes.measured import answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Of a study that counts as large."""
    monkeypatch.setattr(files, "MOST_AT_ONCE", 1)
    made = measured.cell([3, 4])
    measured.run(made.task)
    return made


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def zipped(batch: Batch) -> str:
    return f"/studies/{batch.study.slug}/every-eval-ever/"


def methods(batch: Batch) -> str:
    return f"/studies/{batch.study.slug}/report/methods/text/"


def figure(batch: Batch) -> str:
    return f"/studies/{batch.study.slug}/comparison/items/figure/png/"


EXPORTS: dict[str, Callable[[Batch], str]] = {
    "samples": zipped,
    "report": methods,
    "figure": figure,
}


def made(client: Client, address: str) -> str:
    """The address of the file, once the worker has made it."""
    assert "Make the file" in client.get(address).content.decode()
    assert client.post(address).status_code == 302
    run_job(Job.objects.latest("pk").pk)
    page = client.get(address).content.decode()
    link = f"?file={Job.objects.latest('pk').pk}"
    assert link in page.replace("&amp;", "&")
    return address + link


@pytest.mark.both_databases
@pytest.mark.parametrize("export", EXPORTS)
def test_is_what_a_small_one_is(
    export: str, batch: Batch, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = EXPORTS[export](batch)
    fetched: Any = admin_client.get(made(admin_client, address))
    monkeypatch.setattr(files, "MOST_AT_ONCE", 1_000)
    at_once: Any = admin_client.get(address)
    for header in ("Content-Type", "Content-Disposition"):
        assert fetched[header] == at_once[header]
    assert content(fetched.content) == content(at_once.content)


def content(data: bytes) -> Any:
    """Of an archive, what is in it: it holds the time as well."""
    if not data.startswith(b"PK"):
        return data
    archive = ZipFile(BytesIO(data))
    return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("export", EXPORTS)
def test_is_fetched_by_nobody_who_may_not_see_the_page(
    export: str, batch: Batch, admin_client: Client
) -> None:
    link = made(admin_client, EXPORTS[export](batch))
    viewer = client_of(make.member(batch.study, "viewer"))
    assert viewer.get(link).status_code == 403
    assert viewer.post(EXPORTS[export](batch)).status_code == 403
    assert client_of(make.researcher()).get(link).status_code == 404
    assert Client().get(link)["Location"].startswith("/admin/login/")
    assert client_of(make.member(batch.study, "editor")).get(zipped(batch)).status_code == 200


def test_holds_for_each_reader_what_the_page_would(batch: Batch) -> None:
    """What an owner had made tells an editor nothing about pay."""
    owner = client_of(make.member(batch.study, "owner"))
    editor = client_of(make.member(batch.study, "editor"))
    link = made(owner, methods(batch))
    paid = owner.get(link).content.decode()
    assert "Pay" in paid
    assert editor.get(link).status_code == 404
    assert "Make the file" in editor.get(methods(batch)).content.decode()
    unpaid = editor.get(made(editor, methods(batch))).content.decode()
    assert "\nPay\n" not in unpaid


def test_follows_the_readers_choices(batch: Batch, admin_client: Client) -> None:
    link = made(admin_client, zipped(batch))
    other = link.replace("?", "?references=set&")
    assert admin_client.get(other).status_code == 404
    asked = f"{zipped(batch)}?references=set"
    admin_client.post(asked)
    run_job(Job.objects.latest("pk").pk)
    assert JobFile.objects.count() == 2
    page = admin_client.get(asked).content.decode().replace("&amp;", "&")
    assert f"?references=set&file={Job.objects.latest('pk').pk}" in page


def test_is_for_one_benchmark_or_study_alone(batch: Batch, admin_client: Client) -> None:
    link = made(admin_client, zipped(batch))
    job = link.partition("=")[2]
    whole = f"/benchmarks/{batch.study.benchmark.name}/every-eval-ever/?file={job}"
    assert admin_client.get(whole).status_code == 404


class TestBoardOfEpisodes:
    @pytest.fixture
    def address(self, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setattr(files, "MOST_AT_ONCE", 1)
        task = sampled_task(benchmark="shown")
        answered(task, {1: 3})
        Leaderboard.objects.create(benchmark=task.benchmark, is_public=True)
        return "/benchmarks/shown/episodes/export/episodes/json/"

    def test_withholds_from_strangers_what_the_page_does(
        self, address: str, admin_client: Client
    ) -> None:
        link = made(admin_client, address)
        assert b'"episode"' in admin_client.get(link).content
        assert Client().get(link).status_code == 404, "single episodes tell the gold"
        stranger = Client()
        theirs = stranger.get(made(stranger, address)).content
        assert theirs != admin_client.get(link).content

    def test_is_ordered_by_strangers_once(self, address: str) -> None:
        stranger = Client()
        made(stranger, address)
        assert f'action="{address}"' not in stranger.get(address).content.decode()
        stranger.post(address)
        assert Job.objects.count() == 1

    def test_is_ordered_for_no_table_that_there_is_not(self, address: str) -> None:
        for table in ("golds", "all"):
            wrong = address.replace("episodes/json", f"{table}/csv")
            assert Client().post(wrong).status_code == 404
        assert not Job.objects.exists()
