import pytest
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Change, Study
from annotation.models.errors import Refusal
from annotation.studies.lifecycle import archive_study, close_study, take_out
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(tests=1, training=1)


@pytest.fixture
def closed(batch: Batch) -> Study:
    close_study(batch.study, at=make.NOON)
    return batch.study


def home_of(study: Study) -> str:
    client = Client()
    client.force_login(make.member(study))
    return client.get("/").content.decode()


@pytest.mark.both_databases
def test_goes_out_of_sight_and_stays_as_it_is(closed: Study) -> None:
    assert ">Archive<" not in home_of(closed)
    archive_study(closed, at=make.NOON)
    page = home_of(closed)
    assert page.index(">Archive<") < page.index(closed.title)
    assert closed.state == "closed"
    (change,) = Change.objects.filter(study=closed, action="archived")
    assert (change.before, change.after) == ({"archived": False}, {"archived": True})


def test_comes_back(closed: Study) -> None:
    archive_study(closed, at=make.NOON)
    take_out(closed)
    assert closed.archived_at is None
    assert ">Archive<" not in home_of(closed)


def test_refuses_a_study_that_runs(batch: Batch) -> None:
    with pytest.raises(Refusal, match="closed study"):
        archive_study(batch.study, at=make.NOON)


def test_is_in_the_archive_once(closed: Study) -> None:
    archive_study(closed, at=make.NOON)
    with pytest.raises(Refusal, match="closed study"):
        archive_study(closed, at=make.NOON)
    take_out(closed)
    with pytest.raises(Refusal, match="not in the archive"):
        take_out(closed)


@pytest.mark.both_databases
def test_is_refused_by_the_database_before_the_end(batch: Batch) -> None:
    with pytest.raises(IntegrityError):
        Study.objects.filter(pk=batch.study.pk).update(archived_at=make.NOON)


def test_is_archived_and_taken_out_on_its_page(admin_client: Client, closed: Study) -> None:
    def address(page: str) -> str:
        return reverse(f"admin:annotation_study_{page}", args=[closed.pk])

    overview = reverse("annotation:watch", args=[closed.slug])
    assert address("archive") in admin_client.get(overview).content.decode()
    admin_client.post(address("archive"))
    closed.refresh_from_db()
    assert closed.archived_at is not None
    assert address("take-out") in admin_client.get(overview).content.decode()
    admin_client.post(address("take-out"))
    closed.refresh_from_db()
    assert closed.archived_at is None
