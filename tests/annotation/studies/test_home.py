"""The front page."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Submission, SubmissionStatus
from annotation.people.rows import rows
from annotation.simulation.simulating import simulate_study
from annotation.studies.monitoring import study_cards
from annotation.tasks import summarise_work
from annotation.work.commenting import add_comment
from tests import make

pytestmark = pytest.mark.django_db


def test_tells_anybody_what_this_is() -> None:
    make.running_batch(title="A secret study")
    response = Client().get("/")
    assert response.status_code == 200
    assert "A secret study" not in response.content.decode()


def test_leads_researchers_to_their_studies_and_benchmarks(
    admin_client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        make.running_batch()
    study = make.running_batch().study
    # Session, user, studies, roles, five figures, rehearsals, the archive, benchmarks.
    with django_assert_num_queries(12):
        page = admin_client.get("/").content.decode()
    assert f"/studies/{study.slug}/comparison/" in page
    assert f"/benchmarks/{study.benchmark.name}/leaderboard/" in page


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_card_says_how_far_a_study_is() -> None:
    batch = make.running_batch(wanted=2)
    done = make.worked_through(batch)
    make.at_work(batch, at=timezone.now())
    add_comment(done, text="A typo.", step=None, at=make.NOON)
    (card,) = study_cards(make.member(batch.study))
    assert (card["kept"], card["wanted"], card["working"]) == (1, 2, 1)
    page = signed_in(make.member(batch.study)).get("/").content.decode()
    assert "1 of 2" in page
    assert "1 problem was reported." in page


def test_a_card_counts_who_needs_a_look() -> None:
    batch = make.running_batch(wanted=2, training=1, tests=3)
    done = make.worked_through(batch)
    make.entered_by(done, status=SubmissionStatus.RETURNED)
    owner, viewer = make.member(batch.study), make.member(batch.study, "viewer")
    assert study_cards(owner)[0]["looks"] == ()
    summarise_work()
    assert study_cards(owner)[0]["looks"] == ("1 person needs a look.",)
    assert study_cards(viewer)[0]["looks"] == ()
    Submission.objects.update(status=SubmissionStatus.APPROVED)
    rows(batch.study)
    assert study_cards(owner)[0]["looks"] == ()


def test_counts_no_simulated_annotators() -> None:
    make.channel("simulated")
    batch = make.running_batch(wanted=2)
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    (card,) = study_cards(make.member(batch.study))
    assert (card["kept"], card["working"]) == (0, 0)


def test_says_what_to_do_next_with_a_draft() -> None:
    task = make.task()
    study = make.study(task.benchmark)
    owner = make.member(study)
    (card,) = study_cards(owner)
    assert card["step"] == "batches"
    make.batch(study, task)
    (card,) = study_cards(owner)
    assert card["step"] == "rehearse"
    make.study(task.benchmark, is_rehearsal=True, rehearses=study)
    (card,) = study_cards(owner)
    assert card["step"] == "start"
    (card,) = study_cards(make.member(study, "viewer"))
    assert card["step"] is None


def test_a_rehearsal_has_no_card_of_its_own() -> None:
    draft = make.study(make.benchmark())
    rehearsal = make.study(draft.benchmark, is_rehearsal=True, rehearses=draft)
    assert study_cards(make.member(rehearsal)) == []


def test_tells_whoever_starts_what_comes_first() -> None:
    page = signed_in(make.researcher()).get("/").content.decode()
    assert "How to begin" in page
    assert reverse("admin:annotation_benchmark_import") in page
