"""Simulating grids: how well intervals over episodes cover the truth, for many configurations at
once.

A large grid is cut into jobs that any number of workers pick up. A configuration's numbers depend
only on the seed and itself, so the parts make the same grid as a single worker.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product, zip_longest
from math import isnan
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.jobs import queue
from annotation.models import Job, JobState
from annotation.models.errors import BadInput, Refusal
from scoring.core.sample_size import published_examples, simulate_intervals

JOB = "simulate_intervals"
# Draws of episodes between two signs of life from a worker.
DRAWS_AT_ONCE = 1_000_000_000
FIGURES = ("coverage", "coverage_se", "width", "width_se", "bias")

# A row of the grid begins as its configuration, without hours if the examples were given; the
# figures follow, in [0, 1], None where there is none, which JSON holds too.
COLUMNS = ("accuracy", "hours", "episodes", "examples", *FIGURES)
Row = dict[str, Any]
# Options of `simulate_intervals`.
Rules = Mapping[str, Any]


def points_within(
    hours: Iterable[float], episodes: Iterable[int], accuracies: Iterable[float]
) -> list[Row]:
    """What compute budgets buy by FLEX's cost model; a budget that buys no example is left out."""
    return [
        {"accuracy": a, "hours": h, "episodes": e, "examples": examples}
        for a, h, e in product(accuracies, hours, episodes)
        if (examples := int(published_examples(h, e))) > 0
    ]


def points_of(
    examples: Iterable[int], episodes: Iterable[int], accuracies: Iterable[float]
) -> list[Row]:
    grid = product(accuracies, examples, episodes)
    return [{"accuracy": a, "hours": None, "episodes": e, "examples": n} for a, n, e in grid]


def simulate_grid(points: Sequence[Row], rules: Rules, *, workers: int | None = None) -> list[Row]:
    """All of it in this process. Raises BadInput."""
    columns = ([point[name] for point in points] for name in ("accuracy", "episodes", "examples"))
    try:
        intervals = simulate_intervals(*columns, **rules, workers=workers)
    except ValueError as error:
        raise BadInput(str(error)) from error
    rows = [dict(point) for point in points]
    for name in FIGURES:
        for row, figure in zip(rows, getattr(intervals, name).tolist(), strict=True):
            row[name] = None if isnan(figure) else figure
    return rows


def distribute_grid(points: Sequence[Row], rules: Rules, *, parts: int) -> str:
    """Distribute a grid as so many jobs for any number of workers. Returns the name by which it is
    collected."""
    if parts < 1:
        raise BadInput("A grid is cut into at least one part.")
    grid = secrets.token_hex(8)
    shares = [points[part::parts] for part in range(min(parts, len(points)))]
    with transaction.atomic():
        for part, share in enumerate(shares):
            arguments = {"grid": grid, "part": part, "rules": dict(rules), "points": share}
            queue.enqueue(JOB, arguments)
    return grid


def jobs_of(grid: str) -> QuerySet[Job]:
    return Job.objects.filter(kind=JOB, arguments__grid=grid).order_by("pk")


@queue.runs(JOB)
def simulate_part(job: Job, progress: queue.Progress) -> queue.Result:
    """Points of as many episodes together, since they share their draws. Arguments: as
    `distribute_grid` writes them."""
    rows, rules = [dict(point) for point in job.arguments["points"]], job.arguments["rules"]
    done = 0
    for chunk in _chunks(rows, rules):
        progress(done, len(rows), "Simulating")
        for row, simulated in zip(chunk, simulate_grid(chunk, rules, workers=1), strict=True):
            row.update(simulated)
        done += len(chunk)
    return {"rows": rows, "summary": f"{len(rows)} configurations simulated."}


def collect_grid(grid: str) -> list[Row] | None:
    """Collect a grid; None while some of it is unfinished. Raises Refusal for a part that failed or
    was stopped."""
    jobs = list(jobs_of(grid))
    for job in jobs:
        if job.is_over and job.state != JobState.DONE:
            raise Refusal(f"Part {job.arguments['part'] + 1} of the grid: {job.message}")
    if not all(job.is_over for job in jobs):
        return None
    # A part has every n-th point, of as many parts.
    turns = zip_longest(*(job.result["rows"] for job in jobs))
    # PostgreSQL keeps no order of an object's keys.
    rows = (row for turn in turns for row in turn if row is not None)
    return [{name: row[name] for name in COLUMNS} for row in rows]


def _chunks(points: Sequence[Row], rules: Rules) -> Iterator[list[Row]]:
    by_episodes = sorted(points, key=itemgetter("episodes"))
    for episodes, rows in groupby(by_episodes, key=itemgetter("episodes")):
        draws = rules["replicates"] * rules["resamples"] * episodes
        size = max(1, DRAWS_AT_ONCE // max(1, draws))
        same = list(rows)
        for start in range(0, len(same), size):
            yield same[start : start + size]
