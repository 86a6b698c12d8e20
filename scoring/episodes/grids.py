"""Simulating grids: how well intervals over episodes cover the truth, for many configurations at
once.

A large grid is cut into jobs that any number of workers pick up. A configuration's numbers depend
only on the seed and itself, so the parts make the same grid as a single worker.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import groupby, product, zip_longest
from math import isnan
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


@dataclass(frozen=True)
class GridPoint:
    """One configuration; hours are None if the examples were given."""

    accuracy: float
    hours: float | None
    episodes: int
    examples: int


COLUMNS = (*(field.name for field in fields(GridPoint)), *FIGURES)
# Options of `simulate_intervals`.
Rules = Mapping[str, Any]
# A configuration with its figures, in [0, 1]; None where there is none, which JSON holds too.
Row = dict[str, Any]


def points_within(
    hours: Iterable[float], episodes: Iterable[int], accuracies: Iterable[float]
) -> list[GridPoint]:
    """What compute budgets buy by FLEX's cost model; a budget that buys no example is left out."""
    grid = product(accuracies, hours, episodes)
    points = [GridPoint(a, h, e, int(published_examples(h, e))) for a, h, e in grid]
    return [point for point in points if point.examples > 0]


def points_of(
    examples: Iterable[int], episodes: Iterable[int], accuracies: Iterable[float]
) -> list[GridPoint]:
    return [GridPoint(a, None, e, n) for a, n, e in product(accuracies, examples, episodes)]


def simulate_grid(
    points: Sequence[GridPoint], rules: Rules, *, workers: int | None = None
) -> list[Row]:
    """All of it in this process. Raises BadInput."""
    try:
        intervals = simulate_intervals(
            [point.accuracy for point in points],
            [point.episodes for point in points],
            [point.examples for point in points],
            **rules,
            workers=workers,
        )
    except ValueError as error:
        raise BadInput(str(error)) from error
    rows = [asdict(point) for point in points]
    for name in FIGURES:
        for row, figure in zip(rows, getattr(intervals, name).tolist(), strict=True):
            row[name] = None if isnan(figure) else figure
    return rows


def distribute_grid(points: Sequence[GridPoint], rules: Rules, *, parts: int) -> str:
    """As so many jobs for any number of workers. Returns the name by which it is collected."""
    if parts < 1:
        raise BadInput("A grid is cut into at least one part.")
    grid = secrets.token_hex(8)
    shares = [points[part::parts] for part in range(min(parts, len(points)))]
    with transaction.atomic():
        for part, share in enumerate(shares):
            given = {"grid": grid, "part": part, "rules": dict(rules)}
            queue.enqueue(JOB, {**given, "points": [asdict(point) for point in share]})
    return grid


def jobs_of(grid: str) -> QuerySet[Job]:
    return Job.objects.filter(kind=JOB, arguments__grid=grid).order_by("pk")


@queue.runs(JOB)
def simulate_part(job: Job, progress: queue.Progress) -> queue.Result:
    """Points of as many episodes together, since they share their draws. Arguments: as
    `distribute_grid` writes them."""
    points = [GridPoint(**point) for point in job.arguments["points"]]
    simulated: dict[GridPoint, Row] = {}
    for chunk in _chunks(points, job.arguments["rules"]):
        progress(len(simulated), len(points), "Simulating")
        rows = simulate_grid(chunk, job.arguments["rules"], workers=1)
        simulated |= dict(zip(chunk, rows, strict=True))
    rows = [simulated[point] for point in points]
    return {"rows": rows, "summary": f"{len(rows)} configurations simulated."}


def collect_grid(grid: str) -> list[Row] | None:
    """None while some of it is unfinished. Raises Refusal for a part that failed or was stopped."""
    jobs = list(jobs_of(grid))
    for job in jobs:
        if job.is_over and job.state != JobState.DONE:
            raise Refusal(f"Part {job.arguments['part'] + 1} of the grid: {job.message}")
    if not all(job.is_over for job in jobs):
        return None
    # A part has every n-th point, of as many parts.
    turns = zip_longest(*(job.result["rows"] for job in jobs))
    # PostgreSQL keeps no order of an object's keys.
    return [
        {name: row[name] for name in COLUMNS} for turn in turns for row in turn if row is not None
    ]


def _chunks(points: Sequence[GridPoint], rules: Rules) -> Iterator[list[GridPoint]]:
    by_episodes = sorted(points, key=lambda point: point.episodes)
    for episodes, those in groupby(by_episodes, key=lambda point: point.episodes):
        draws = rules["replicates"] * rules["resamples"] * episodes
        size = max(1, DRAWS_AT_ONCE // max(1, draws))
        same = list(those)
        for start in range(0, len(same), size):
            yield same[start : start + size]
