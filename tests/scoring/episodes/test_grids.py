import csv
import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection
from django.utils import timezone

from annotation import tasks
from annotation.jobs import queue
from annotation.models import Job, JobState
from annotation.models.errors import BadInput, Refusal
from scoring.episodes.grids import (
    collect_grid,
    distribute_grid,
    jobs_of,
    points_of,
    points_within,
    simulate_grid,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("registered")]

POINTS = points_of([0, 20, 60], [5, 12, 30], [0.5, 0.7, 0.95])
RULES = {"replicates": 60, "resamples": 100, "seed": 3}
Committing = Callable[..., Any]


@pytest.fixture(scope="module")
def registered() -> None:
    """The runner of the parts, as a worker has it and as the command loads it."""
    load_command_class("scoring", "plan_episodes")


def same(ours: Any, theirs: Any) -> bool:
    """Equal to the last bit, with nothing where the other has one."""
    return repr(ours) == repr(theirs)


def test_gives_the_rows_of_the_reference(oracles: Path) -> None:
    reference = json.loads((oracles / "flex_sample_size.json").read_text())
    rows = [row for row in reference["rows"] if row["episodes"] <= 90]
    points = [
        {
            **{name: row[name] for name in ("accuracy", "episodes")},
            "hours": row["budget_hours"],
            "examples": row["test_examples"],
        }
        for row in rows
    ]
    for point in points:
        within = points_within([point["hours"]], [point["episodes"]], [point["accuracy"]])
        assert within == [point]
    for row, simulated in zip(rows, simulate_grid(points, {"seed": 0}), strict=True):
        spread = math.hypot(simulated["coverage_se"], row["coverage_se"])
        assert simulated["coverage"] == pytest.approx(row["coverage"], abs=4 * spread)
        spread = math.hypot(simulated["width_se"], row["width_se"])
        assert simulated["width"] == pytest.approx(row["width"], abs=4 * spread)


def test_has_the_published_grid() -> None:
    out = StringIO()
    call_command("plan_episodes", replicates=2, resamples=20, stdout=out)
    rows = list(csv.DictReader(StringIO(out.getvalue())))
    assert len(rows) == 784
    assert (rows[0]["accuracy"], rows[0]["hours"], rows[0]["episodes"]) == ("0.3", "24", "5")


@pytest.mark.parametrize("parts", [1, 2, 5, 100])
def test_comes_out_the_same_in_any_number_of_parts(
    parts: int, django_capture_on_commit_callbacks: Committing
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        grid = distribute_grid(POINTS, RULES, parts=parts)
    assert jobs_of(grid).count() == min(parts, len(POINTS))
    assert same(collect_grid(grid), simulate_grid(POINTS, RULES))


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_comes_out_the_same_from_several_workers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Only the workers below hear of a part.
    monkeypatch.setattr(tasks.run_job, "delay_on_commit", lambda job_id: None)
    grid = distribute_grid(POINTS, RULES, parts=6)
    pks = list(jobs_of(grid).values_list("pk", flat=True))

    def work(start: int) -> None:
        # Each starts elsewhere and tries them all, leaving alone what another has claimed.
        for pk in pks[start:] + pks[:start]:
            queue.run_job(pk)
        connection.close()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, (0, 2, 4)))
    assert set(jobs_of(grid).values_list("attempt", flat=True)) == {1}
    assert same(collect_grid(grid), simulate_grid(POINTS, RULES, workers=1))


def test_is_not_there_before_its_last_part_is() -> None:
    grid = distribute_grid(POINTS, RULES, parts=3)
    first, second, third = jobs_of(grid)
    queue.run_job(first.pk)
    queue.run_job(third.pk)
    assert collect_grid(grid) is None
    queue.run_job(second.pk)
    assert collect_grid(grid) is not None


def test_takes_up_a_part_again_that_a_killed_worker_left() -> None:
    grid = distribute_grid(POINTS, RULES, parts=2)
    first, second = jobs_of(grid)
    Job.objects.filter(pk=first.pk).update(state=JobState.RUNNING, attempt=1)
    queue.sweep(at=timezone.now())
    for job in (first, second):
        queue.run_job(job.pk)
    assert same(collect_grid(grid), simulate_grid(POINTS, RULES))


def test_says_which_part_was_stopped() -> None:
    grid = distribute_grid(POINTS, RULES, parts=2)
    second = jobs_of(grid)[1]
    Job.objects.filter(pk=second.pk).update(cancel_requested=True)
    queue.run_job(second.pk)
    with pytest.raises(Refusal, match="Part 2 of the grid: Stopped before it finished"):
        collect_grid(grid)


def test_keeps_two_grids_apart(django_capture_on_commit_callbacks: Committing) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first = distribute_grid(POINTS[:4], RULES, parts=2)
        second = distribute_grid(POINTS[4:8], RULES, parts=2)
    assert same(collect_grid(first), simulate_grid(POINTS[:4], RULES))
    assert same(collect_grid(second), simulate_grid(POINTS[4:8], RULES))


def test_prints_the_same_distributed_as_alone() -> None:
    documents = []
    for extra in ({}, {"distribute": 3}):
        out = StringIO()
        call_command(
            "plan_episodes",
            accuracy=[0.7, 0.9],
            episodes=[5, 30],
            examples=[10, 40],
            replicates=50,
            resamples=100,
            format="json",
            stdout=out,
            **extra,
        )
        documents.append(json.loads(out.getvalue()))
    assert documents[0] == documents[1]
    assert [row["examples"] for row in documents[0][:4]] == [10, 10, 40, 40]
    assert documents[0][0]["hours"] is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hours": [0.1]}, "do not pay for a single test example"),
        ({"accuracy": [1.5]}, "between 0 and 1"),
        ({"replicates": 0}, "at least one replicate"),
        ({"distribute": 0}, "at least one part"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("plan_episodes", **options)


def test_refuses_a_grid_of_no_parts() -> None:
    with pytest.raises(BadInput):
        distribute_grid(POINTS, RULES, parts=0)
    assert not Job.objects.exists()
