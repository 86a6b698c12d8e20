import pytest

from annotation.models import Assignment, Batch, Place
from annotation.models.errors import NotReady
from annotation.studies.lifecycle import pause_study
from annotation.studies.test_runs import start_test_run
from annotation.work.judging import begin
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    make.channel("simulated")
    return make.running_batch(wanted=1, training=1, tests=1)


def run_through(batch: Batch) -> Assignment:
    assignment = start_test_run(batch, author=None, at=make.NOON)
    begin(assignment, at=make.NOON)
    while not assignment.is_finished:
        make.answer(assignment)
    return assignment


def test_goes_through_a_batch_like_an_annotator(batch: Batch) -> None:
    assignment = run_through(batch)
    assert assignment.outcome == "completed"
    assert assignment.judgements.count() == 2


def test_takes_nobodys_place(batch: Batch) -> None:
    run_through(batch)
    assert make.joined(batch).place.simulated is False


def test_finds_a_place_when_the_batch_is_full(batch: Batch) -> None:
    make.worked_through(batch)
    assert run_through(batch).outcome == "completed"
    assert run_through(batch).outcome == "completed"
    assert Place.objects.filter(simulated=False).count() == 1


def test_counts_in_no_figure(batch: Batch) -> None:
    run_through(batch)
    assert not Assignment.objects.counted().exists()
    assert not Assignment.objects.of_people().exists()


def test_needs_an_open_study(batch: Batch) -> None:
    pause_study(batch.study)
    batch.refresh_from_db()
    with pytest.raises(NotReady, match="start or resume"):
        start_test_run(batch, author=None, at=make.NOON)
    assert not Assignment.objects.exists()
