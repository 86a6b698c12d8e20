"""Approving: whose figures appear on a benchmark's leaderboard.

A researcher's decision holds. Without one, a complete run appears if a researcher stored it (by a
command, or as an editor or owner of the benchmark), and waits if anybody else submitted it; a
study's people appear once the study is closed.
"""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.models import Benchmark, Study, StudyState
from annotation.models.errors import NotReady
from scoring.models import BoardDecision, Run, Standing
from scoring.models.run import RunQuerySet, by_researchers

BY_RESEARCHERS = by_researchers()
UNDECIDED = Q(board_decision__isnull=True)
APPROVED = Q(board_decision__stands=True)
# The same as `Run.standing` for one run.
OF_STANDING: dict[str, Q] = {
    Standing.WAITING: UNDECIDED & ~BY_RESEARCHERS,
    Standing.APPROVED: APPROVED,
    Standing.BY_RESEARCHERS: UNDECIDED & BY_RESEARCHERS,
    Standing.KEPT_OFF: ~UNDECIDED & ~APPROVED,
}


def standing_runs(benchmark: Benchmark) -> RunQuerySet:
    stands = APPROVED | UNDECIDED & BY_RESEARCHERS
    return Run.objects.complete().of_benchmark(benchmark).filter(stands)


def waiting_runs(benchmark: Benchmark) -> RunQuerySet:
    return Run.objects.complete().of_benchmark(benchmark).filter(UNDECIDED).exclude(BY_RESEARCHERS)


def standing_studies(benchmark: Benchmark) -> QuerySet[Study]:
    stands = APPROVED | UNDECIDED & Q(state=StudyState.CLOSED)
    return benchmark.studies.filter(stands).order_by("created_at", "pk")


def running_studies(benchmark: Benchmark) -> QuerySet[Study]:
    """Those whose people will appear once they are closed."""
    running = UNDECIDED & Q(state__in=[StudyState.OPEN, StudyState.PAUSED])
    return benchmark.studies.filter(running).order_by("created_at", "pk")


def decide_runs(runs: Iterable[Run], *, stands: bool, author: User, at: datetime) -> int:
    """All of them or none. The latest decision holds."""
    chosen = list(runs)
    if any(not run.is_complete for run in chosen):
        raise NotReady(
            "No decision can be made about a run that is still being uploaded: choose complete "
            "ones."
        )
    with transaction.atomic():
        for run in chosen:
            BoardDecision.objects.update_or_create(
                run=run, defaults={"stands": stands, "author": author, "decided_at": at}
            )
    return len(chosen)
