"""The pages of a rehearsal: ordered, played by a worker, looked at, thrown away."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.jobs import queue
from annotation.models import Study
from annotation.simulation.rehearsing import job_of
from tests import make

pytestmark = pytest.mark.django_db

CROWD = {"skill": 90, "weak": 0, "dropout": 0}


@pytest.fixture
def draft() -> Study:
    make.channel("simulated")
    task = make.task(tests=6, name="SST-2")
    return make.batch(make.study(task.benchmark), task, wanted=3).study


def rehearsals(study: Study) -> str:
    return reverse("scoring:rehearsals", args=[study.slug])


def ordered(client: Client, draft: Study) -> Study:
    response = client.post(rehearsals(draft), CROWD)
    made = draft.rehearsals.get()
    assert response["Location"] == reverse("scoring:rehearsal", args=[made.slug])
    return made


def played(client: Client, draft: Study) -> Study:
    made = ordered(client, draft)
    job = job_of(made)
    assert job
    queue.run_job(job.pk)
    made.refresh_from_db()
    return made


def test_shows_how_far_it_is_and_polls(admin_client: Client, draft: Study) -> None:
    made = ordered(admin_client, draft)
    url = reverse("scoring:rehearsal", args=[made.slug])
    assert 'hx-trigger="every 2s"' in admin_client.get(url).content.decode()
    fragment = admin_client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment


def test_shows_the_table_the_report_the_cost_and_the_time(
    admin_client: Client, draft: Study
) -> None:
    made = played(admin_client, draft)
    url = reverse("scoring:rehearsal", args=[made.slug])
    page = admin_client.get(url).content.decode()
    told = page.partition('<p class="measure"><strong>')[2].partition("</strong>")[0]
    assert told.startswith("3 places take 3 people, ")
    assert re.search(r"; intervals of \d+ points are too wide to call \d+\.$", told), told
    assert page.index(told) < page.index("Cost and time")
    assert page.count('<details class="part"') > 3
    assert "r-report" not in page
    assert "3 of 3" in page
    assert "The table that would come out" in page
    assert "Cost, with the fee" in page
    assert "Minutes of one person" in page
    assert "rehearsal" in page.lower()
    assert "hx-trigger" not in page
    refreshed = admin_client.get(url, headers={"HX-Request": "true"})
    assert refreshed["HX-Refresh"] == "true"


def test_is_thrown_away_by_post(admin_client: Client, draft: Study) -> None:
    made = played(admin_client, draft)
    response = admin_client.post(reverse("scoring:discard_rehearsal", args=[made.slug]))
    assert response["Location"] == rehearsals(draft)
    assert not Study.objects.filter(pk=made.pk).exists()


def test_stays_while_it_is_played(admin_client: Client, draft: Study) -> None:
    made = ordered(admin_client, draft)
    response = admin_client.post(
        reverse("scoring:discard_rehearsal", args=[made.slug]), follow=True
    )
    assert "It is being played" in response.content.decode()
    assert Study.objects.filter(pk=made.pk).exists()


def test_throws_no_other_study_away(admin_client: Client, draft: Study) -> None:
    url = reverse("scoring:discard_rehearsal", args=[draft.slug])
    assert admin_client.post(url).status_code == 404
    assert Study.objects.filter(pk=draft.pk).exists()


@pytest.mark.parametrize("crowd", [{"skill": 100}, {"dropout": 95}, {"weak": -1}, {"skill": ""}])
def test_refuses_shares_that_are_none(
    admin_client: Client, draft: Study, crowd: dict[str, object]
) -> None:
    response = admin_client.post(rehearsals(draft), {**CROWD, **crowd})
    assert response.status_code == 422
    assert not draft.rehearsals.exists()


def test_says_what_is_missing_first(admin_client: Client, draft: Study) -> None:
    draft.batches.all().delete()
    page = admin_client.get(rehearsals(draft)).content.decode()
    assert "The study has no batches" in page
    assert "Rehearse the study" not in page


def test_shows_no_cost_to_an_editor(admin_client: Client, draft: Study) -> None:
    editor = make.member(draft, "editor")
    made = played(admin_client, draft)
    client = Client()
    client.force_login(editor)
    page = client.get(reverse("scoring:rehearsal", args=[made.slug])).content.decode()
    assert "Hours of work" in page
    assert re.search("3 places take 3 people, (about|less)", page)
    assert "Cost, with the fee" not in page
