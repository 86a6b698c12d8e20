from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from annotation.models import Task
from scoring.leaderboard.approving import standing_runs, standing_studies, waiting_runs
from scoring.models import BoardDecision, Run
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

RUNS = "/admin/scoring/run/"


@pytest.fixture
def run() -> Run:
    return measured.run(make.task(), owner=User.objects.create_user("submitter"))


def act(client: Client, action: str, *runs: Run) -> Any:
    chosen = {"action": action, "_selected_action": [run.pk for run in runs]}
    return client.post(RUNS, chosen, follow=True)


def test_approves_the_chosen_runs(admin_client: Client, run: Run) -> None:
    other = measured.run(run.task, split=2, owner=run.owner)
    assert "1 run stands on the board." in act(admin_client, "approve", run).content.decode()
    assert list(standing_runs(run.benchmark)) == [run]
    assert list(waiting_runs(run.benchmark)) == [other]
    assert run.board_decision.author.username == "admin"


def test_keeps_the_chosen_runs_off(admin_client: Client, run: Run) -> None:
    act(admin_client, "keep_off", run)
    assert BoardDecision.objects.get().stands is False
    assert list(waiting_runs(run.benchmark)) == []


def test_shows_why_a_run_cannot_be_approved(admin_client: Client, run: Run) -> None:
    unfinished = measured.run(run.task, split=3, owner=run.owner, complete=False)
    text = act(admin_client, "approve", run, unfinished).content.decode()
    assert "still being uploaded" in text
    assert not BoardDecision.objects.exists()


@pytest.mark.parametrize(
    ("standing", "systems"),
    [
        ("waiting", {"new"}),
        ("approved", {"approved"}),
        ("kept_off", {"off"}),
        ("by_researchers", {"imported", "by staff"}),
    ],
)
def test_lists_runs_by_what_was_decided(
    admin_client: Client, admin_user: User, run: Run, standing: str, systems: set[str]
) -> None:
    def stored(system: str, owner: User | None) -> Run:
        return measured.run(run.task, system=system, owner=owner)

    run.delete()
    stored("new", run.owner)
    stored("imported", None)
    stored("by staff", admin_user)
    measured.run(run.task, system="unfinished", owner=run.owner, complete=False)
    act(admin_client, "approve", stored("approved", run.owner))
    act(admin_client, "keep_off", stored("off", None))
    response = admin_client.get(RUNS, {"on_board": standing})
    assert {run.system for run in response.context["cl"].queryset} == systems


def test_offers_the_decision_to_those_alone_who_may_take_it(client: Client, run: Run) -> None:
    reader = User.objects.create_user("reader", is_staff=True)
    run.task.benchmark.memberships.create(user=reader, role="owner")
    reader.user_permissions.add(Permission.objects.get(codename="view_run"))
    client.force_login(reader)
    assert 'value="approve"' not in client.get(RUNS).content.decode()
    act(client, "approve", run)
    assert not BoardDecision.objects.exists()


def test_lets_the_people_of_a_study_stand_by_a_decision(
    admin_client: Client, admin_user: User
) -> None:
    study = measured.cell([0]).study
    admin_client.post(
        "/admin/scoring/boarddecision/add/", {"study": study.pk, "stands": "on"}, follow=True
    )
    assert list(standing_studies(study.benchmark)) == [study]
    assert BoardDecision.objects.get().author == admin_user


def test_asks_which_study_a_decision_is_about(admin_client: Client, run: Run) -> None:
    response = admin_client.post("/admin/scoring/boarddecision/add/", {"stands": "on"})
    assert "This field is required" in response.content.decode()
    assert not BoardDecision.objects.exists()


def test_lists_decisions_about_studies_and_not_those_about_runs(
    admin_client: Client, run: Run
) -> None:
    act(admin_client, "approve", run)
    text = admin_client.get("/admin/scoring/boarddecision/").content.decode()
    assert "0 leaderboard decisions" in text


def test_reads_no_more_rows_for_more_runs(
    admin_client: Client, run: Run, django_assert_max_num_queries: Any
) -> None:
    task: Task = run.task
    for split in range(2, 12):
        measured.run(task, split=split, owner=run.owner)
    with django_assert_max_num_queries(25):
        admin_client.get(RUNS)
