from copy import deepcopy
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models.deletion import ProtectedError
from django.test.utils import CaptureQueriesContext

from annotation.models import Benchmark
from annotation.models.errors import NotReady
from annotation.studies.lifecycle import close_study
from scoring.leaderboard.approving import (
    OF_STANDING,
    decide_runs,
    running_studies,
    standing_runs,
    standing_studies,
    waiting_runs,
)
from scoring.models import BoardDecision, Run, Standing
from tests import make
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def submitter() -> User:
    return User.objects.create_user("submitter")


benchmark_once = once_a_module(lambda: make.task().benchmark)


@pytest.fixture
def benchmark(benchmark_once: Benchmark) -> Benchmark:
    return deepcopy(benchmark_once)


@pytest.fixture
def researcher(benchmark: Benchmark) -> User:
    return make.member(benchmark, "editor")


def stored(benchmark: Benchmark, owner: User | None, **fields: Any) -> Run:
    return measured.run(benchmark.tasks.get(), owner=owner, **fields)


def test_lets_a_submission_stand_once_a_researcher_approved_it(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    run = stored(benchmark, submitter)
    assert list(waiting_runs(benchmark)) == [run]
    assert list(standing_runs(benchmark)) == []
    assert decide_runs([run], stands=True, author=researcher, at=make.NOON) == 1
    assert list(waiting_runs(benchmark)) == []
    assert list(standing_runs(benchmark)) == [run]
    assert run.board_decision.author == researcher
    assert run.board_decision.decided_at == make.NOON


def test_lets_stand_what_researchers_stored(benchmark: Benchmark, researcher: User) -> None:
    runs = [stored(benchmark, None), stored(benchmark, researcher, split=2)]
    assert set(standing_runs(benchmark)) == set(runs)
    assert list(waiting_runs(benchmark)) == []


def test_keeps_off_what_a_researcher_refused_whoever_stored_it(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    runs = [stored(benchmark, None), stored(benchmark, submitter, split=2)]
    decide_runs(runs, stands=False, author=researcher, at=make.NOON)
    assert list(standing_runs(benchmark)) == []
    assert list(waiting_runs(benchmark)) == []


def test_takes_the_latest_decision(benchmark: Benchmark, researcher: User, submitter: User) -> None:
    run = stored(benchmark, submitter)
    for stands in (True, False, True):
        decide_runs([run], stands=stands, author=researcher, at=make.NOON)
    assert BoardDecision.objects.count() == 1
    assert list(standing_runs(benchmark)) == [run]


def test_does_not_approve_what_comes_later(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    decide_runs([stored(benchmark, submitter)], stands=True, author=researcher, at=make.NOON)
    later = stored(benchmark, submitter, wrong=1)
    assert list(waiting_runs(benchmark)) == [later]


def test_refuses_a_run_that_is_not_complete_and_decides_about_none(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    runs = [stored(benchmark, submitter), stored(benchmark, submitter, complete=False)]
    with pytest.raises(NotReady):
        decide_runs(runs, stands=True, author=researcher, at=make.NOON)
    assert not BoardDecision.objects.exists()


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("role", "stands"), [("owner", True), ("editor", True), ("viewer", False), (None, False)]
)
def test_counts_as_researchers_those_who_set_the_benchmark_up(
    benchmark: Benchmark, role: str | None, stands: bool
) -> None:
    """Not everybody who may sign in to the admin; nor whoever sets up another benchmark."""
    user = make.member(benchmark, role) if role else make.member(make.benchmark("other"), "owner")
    run = stored(benchmark, user)
    assert standing_runs(benchmark).filter(pk=run.pk).exists() == stands
    assert waiting_runs(benchmark).filter(pk=run.pk).exists() != stands
    user.is_active = False
    user.save()
    assert standing_runs(benchmark).filter(pk=run.pk).exists() == stands, "who left took nothing"


@pytest.mark.both_databases
def test_tells_of_a_run_what_its_query_tells(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    new, approved, off, own, imported = (
        stored(benchmark, owner, split=split)
        for split, owner in enumerate([submitter, submitter, submitter, researcher, None])
    )
    decide_runs([approved], stands=True, author=researcher, at=make.NOON)
    decide_runs([off], stands=False, author=researcher, at=make.NOON)
    expected = {
        Standing.WAITING: {new},
        Standing.APPROVED: {approved},
        Standing.BY_RESEARCHERS: {own, imported},
        Standing.KEPT_OFF: {off},
    }
    assert {
        standing: set(Run.objects.filter(OF_STANDING[standing])) for standing in Standing
    } == expected
    for standing, runs in expected.items():
        assert {Run.objects.get(pk=run.pk).standing for run in runs} == {standing}
    with CaptureQueriesContext(connection) as asked:
        told = {run.pk: run.standing for run in Run.objects.with_standing()}
    assert told == {run.pk: standing for standing, runs in expected.items() for run in runs}
    assert len(asked) == 1
    assert stored(benchmark, submitter, split=9, complete=False).standing is None


def test_knows_the_runs_of_its_own_benchmark_alone(benchmark: Benchmark, submitter: User) -> None:
    other = make.task().benchmark
    stored(benchmark, submitter)
    stored(benchmark, None, split=2)
    assert not standing_runs(other).exists()
    assert not waiting_runs(other).exists()


def test_lets_people_stand_once_their_study_is_closed(researcher: User) -> None:
    study = measured.cell([0]).study
    assert list(running_studies(study.benchmark)) == [study]
    assert list(standing_studies(study.benchmark)) == []
    close_study(study, at=make.NOON)
    assert list(standing_studies(study.benchmark)) == [study]
    assert list(running_studies(study.benchmark)) == []
    BoardDecision.objects.create(study=study, stands=False, author=researcher, decided_at=make.NOON)
    assert list(standing_studies(study.benchmark)) == []


def test_lets_a_researcher_show_a_running_study(researcher: User) -> None:
    study = measured.cell([0]).study
    BoardDecision.objects.create(study=study, stands=True, author=researcher, decided_at=make.NOON)
    assert list(standing_studies(study.benchmark)) == [study]
    assert list(running_studies(study.benchmark)) == []


@pytest.mark.both_databases
def test_is_about_one_thing_and_keeps_who_decided(
    benchmark: Benchmark, researcher: User, submitter: User
) -> None:
    run = stored(benchmark, submitter)
    with pytest.raises(IntegrityError), transaction.atomic():
        BoardDecision.objects.create(stands=True, author=researcher, decided_at=make.NOON)
    decide_runs([run], stands=True, author=researcher, at=make.NOON)
    with pytest.raises(ProtectedError):
        researcher.delete()
