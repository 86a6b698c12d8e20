import logging
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation import tasks
from annotation.jobs import queue
from annotation.jobs.queue import Cancelled, Progress, Result, enqueue, run_job, sweep
from annotation.models import Assignment, Benchmark, Job, JobState, Task, Upload
from annotation.models.errors import BadInput
from annotation.tasks import act_by_the_clock
from tests import make
from tests.annotation.benchmarks.clues_files import choice_row, write_task, zipped

pytestmark = pytest.mark.django_db

Committing = Callable[..., Any]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[Job, Progress], Result]]:
    """The runner of the kind "test": put a function into the list."""
    chosen: list[Callable[[Job, Progress], Result]] = []

    def run_the_last(job: Job, progress: Progress) -> Result:
        return chosen[-1](job, progress)

    monkeypatch.setitem(queue._runners, "test", run_the_last)
    return chosen


def queued(**fields: Any) -> Job:
    return Job.objects.create(kind="test", **fields)


def after(job: Job) -> Job:
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_runs_a_job_when_the_transaction_is_committed(
    runner: list, django_capture_on_commit_callbacks: Committing
) -> None:
    author = User.objects.create_user("ada")
    runner.append(lambda job, progress: {"summary": f"{job.arguments['number']} done."})
    with django_capture_on_commit_callbacks(execute=True):
        job = enqueue("test", {"number": 7}, author=author)
        assert job.state == JobState.QUEUED
    job.refresh_from_db()
    assert (job.state, job.message, job.author) == (JobState.DONE, "7 done.", author)
    assert job.result == {"summary": "7 done."}
    assert job.attempt == 1
    assert job.is_over
    assert job.finished_at is not None


@pytest.mark.both_databases
def test_tells_how_far_it_is(runner: list) -> None:
    seen = []

    def work(job: Job, progress: Progress) -> Result:
        Job.objects.filter(pk=job.pk).update(heartbeat_at=None)
        progress(3, 10, "Reading")
        seen.append(Job.objects.get(pk=job.pk))
        return {}

    runner.append(work)
    after(queued())
    (row,) = seen
    assert (row.state, row.progress, row.total, row.message) == ("running", 3, 10, "Reading")
    assert row.heartbeat_at is not None


def test_fails_with_the_sentence_of_a_refusal(runner: list) -> None:
    def refuse(job: Job, progress: Progress) -> Result:
        raise BadInput("x_test.jsonl, line 3: this is not JSON.")

    runner.append(refuse)
    job = after(queued())
    assert (job.state, job.message) == ("failed", "x_test.jsonl, line 3: this is not JSON.")


def test_fails_in_plain_words_and_logs_the_error(
    runner: list, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("annotation"), "propagate", True)
    runner.append(lambda job, progress: 1 / 0)
    job = after(queued())
    assert job.state == "failed"
    assert job.message == f"A program error ended this job; see the log (job {job.pk})."
    assert "ZeroDivisionError" in caplog.text


def test_fails_where_nobody_knows_its_kind() -> None:
    job = after(Job.objects.create(kind="unheard of"))
    assert (job.state, job.message) == ("failed", "No worker knows the kind of job 'unheard of'.")


class TestCancelling:
    def test_stops_at_the_next_step(self, runner: list) -> None:
        steps = []

        def work(job: Job, progress: Progress) -> Result:
            for number in range(3):
                progress(number, 3)
                steps.append(number)
                Job.objects.filter(pk=job.pk).update(cancel_requested=True)
            return {}

        runner.append(work)
        job = after(queued())
        assert (job.state, job.message, steps) == ("cancelled", "Stopped before it finished.", [0])

    def test_does_not_start_a_job_that_was_cancelled_in_the_queue(self, runner: list) -> None:
        assert after(queued(cancel_requested=True)).state == "cancelled"


class TestOnce:
    def test_runs_a_job_once_however_often_it_is_woken(self, runner: list) -> None:
        runs: list[int] = []

        def note(job: Job, progress: object) -> dict[str, Any]:
            runs.append(job.pk)
            return {}

        runner.append(note)
        job = queued()
        for _ in range(3):
            run_job(job.pk)
        assert runs == [job.pk]

    def test_leaves_a_running_job_to_its_worker(self, runner: list) -> None:
        job = queued(state=JobState.RUNNING, attempt=1, heartbeat_at=timezone.now())
        assert after(job).state == "running"

    def test_passes_over_a_job_that_is_gone(self) -> None:
        run_job(12345)
        assert not Job.objects.exists()

    @pytest.mark.both_databases
    def test_does_not_hear_an_attempt_that_was_given_up(self, runner: list) -> None:
        """The first attempt falls silent, a second one ends the job, then the first returns."""

        def second(job: Job, progress: Progress) -> Result:
            return {"by": "second"}

        def first(job: Job, progress: Progress) -> Result:
            sweep(at=timezone.now() + timedelta(minutes=5))
            runner.append(second)
            run_job(job.pk)
            with pytest.raises(Cancelled):
                progress(1, 2)
            return {"by": "first"}

        runner.append(first)
        job = after(queued())
        assert (job.state, job.attempt, job.result) == ("done", 2, {"by": "second"})

    def test_rejects_a_second_runner_of_a_kind(self, runner: list) -> None:
        with pytest.raises(ValueError, match="'test' is registered twice"):
            queue.runs("test")(lambda job, progress: {})


class TestSweep:
    @pytest.fixture
    def woken(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        woken: list[int] = []
        monkeypatch.setattr(queue, "_wake", woken.append)
        return woken

    def running(self, silent_s: int | None, **fields: Any) -> Job:
        beat = None if silent_s is None else make.NOON - timedelta(seconds=silent_s)
        return queued(state=JobState.RUNNING, heartbeat_at=beat, **{"attempt": 1, **fields})

    @pytest.mark.both_databases
    @pytest.mark.parametrize(
        ("silent_s", "state"), [(59, "running"), (61, "queued"), (None, "queued")]
    )
    def test_queues_again_what_fell_silent(
        self, woken: list[int], silent_s: int | None, state: str
    ) -> None:
        job = self.running(silent_s)
        sweep(at=make.NOON)
        sweep(at=make.NOON)
        job.refresh_from_db()
        assert (job.state, job.attempt) == (state, 1)
        assert woken == ([job.pk] * 2 if state == "queued" else [])

    def test_wakes_a_worker_for_what_is_queued(self, woken: list[int]) -> None:
        waiting = [queued(), queued()]
        queued(state=JobState.DONE)
        sweep(at=make.NOON)
        assert sorted(woken) == [job.pk for job in waiting]

    def test_gives_up_after_three_attempts(self, woken: list[int]) -> None:
        job = self.running(120, attempt=3)
        sweep(at=make.NOON)
        job.refresh_from_db()
        assert (job.state, job.message) == ("failed", "Its worker ended 3 times without it.")
        assert woken == []

    def test_ends_a_silent_job_that_was_cancelled(self, woken: list[int]) -> None:
        job = self.running(120, cancel_requested=True)
        sweep(at=make.NOON)
        job.refresh_from_db()
        assert job.state == "cancelled"

    def test_counts_the_attempts(self, runner: list) -> None:
        job = self.running(120)
        runner.append(lambda job, progress: {"attempt": job.attempt})
        sweep(at=make.NOON)
        assert after(job).result == {"attempt": 2}


class TestImportOfAnUpload:
    @pytest.fixture
    def upload(self, tmp_path: Path) -> Upload:
        write_task(tmp_path / "Reviews", description="Good or bad?")
        return Upload.objects.create(name="mine.zip", data=zipped(tmp_path).getvalue())

    @pytest.mark.both_databases
    def test_imports_the_archive_and_drops_it(
        self, upload: Upload, django_capture_on_commit_callbacks: Committing
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            job = enqueue("import_benchmark", {"name": "mine"}, upload=upload)
        job.refresh_from_db()
        assert (job.state, job.message) == ("done", "mine: 1 task read, stored.")
        assert (job.progress, job.total) == (1, 1)
        assert job.result["tasks"][0]["slug"] == "reviews"
        assert Task.objects.get().benchmark.name == "mine"
        assert not Upload.objects.exists()

    def test_imports_the_tasks_that_are_named(self, upload: Upload) -> None:
        arguments = {"name": "mine", "tasks": ["sst2"]}
        job = Job.objects.create(kind="import_benchmark", arguments=arguments, upload=upload)
        assert after(job).message == "There is no task “sst2” here; there are reviews."

    def test_names_file_and_line_of_a_bad_row(self, tmp_path: Path) -> None:
        write_task(tmp_path / "Reviews", [choice_row(1), choice_row(2, answer="good")], {})
        upload = Upload.objects.create(name="mine.zip", data=zipped(tmp_path).getvalue())
        job = Job.objects.create(kind="import_benchmark", arguments={"name": "mine"}, upload=upload)
        assert after(job).message.startswith("Reviews/x_test.jsonl, line 2: “answer” must be")
        assert not Benchmark.objects.exists()

    def test_asks_for_an_upload_that_is_gone(self) -> None:
        job = Job.objects.create(kind="import_benchmark", arguments={"name": "mine"})
        assert after(job).message == "The uploaded file is no longer there; upload it again."


def test_sweeps_when_a_worker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[bool] = []
    monkeypatch.setattr(tasks.sweep_jobs, "delay", lambda: swept.append(True))
    tasks.sweep_at_start()
    assert swept == [True]


@pytest.mark.parametrize(("silent_h", "outcome"), [(23, ""), (25, "expired")])
def test_expires_assignments_by_the_schedule(silent_h: int, outcome: str) -> None:
    assignment = make.at_work(make.running_batch(expire_hours=24))
    seen_at = timezone.now() - timedelta(hours=silent_h)
    Assignment.objects.update(seen_at=seen_at)
    act_by_the_clock()
    assignment.refresh_from_db()
    assert assignment.outcome == outcome
