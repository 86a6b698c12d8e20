"""How many runs somebody who may not see the gold may open and finish.

Every whole run shows one mean, and a mean of so many items tells a little about their gold. So
finished runs are counted for a day, by person and test items: other shots, splits, systems and
benchmarks make no difference, nor does deleting a run. Episodes are counted one by one, since only
all of a data set's episodes together show a mean.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.access.rights import may_see_gold
from annotation.models.errors import BadInput, Refusal
from scoring.models import FinishedRun, Run
from scoring.runs.storing import finish_run, missing_answers

A_DAY = timedelta(days=1)


class TooMany(Refusal):
    """More runs than one person may have open, or finish in a day."""


def check_open_runs(user: User) -> None:
    """Call it in the transaction that opens the run. Raises TooMany."""
    _lock(user)
    if Run.objects.open_of(user).count() >= settings.OPEN_RUNS:
        raise TooMany(
            f"You have {settings.OPEN_RUNS} runs that are not finished, and no more may be open "
            "at once: finish one, or delete one."
        )


def finish_uploaded(run: Run, user: User, *, report: Mapping[str, Any], at: datetime) -> None:
    """Make it complete, as `finish_run` does; for whoever may not see the gold only if it is whole.
    Raises TooMany if they finished as many as a day allows."""
    with transaction.atomic():
        # Locked: a second request must find it complete, and not count it again.
        held = Run.objects.select_for_update().get(pk=run.pk)
        if not held.is_complete and not may_see_gold(user, run.benchmark):
            if missing := missing_answers(run):
                raise BadInput(
                    f"{missing} of the {run.test_set.items.count()} items have no prediction: "
                    "upload the rest, then finish the run."
                )
            _count(run, user, at)
        finish_run(run, report=report)


def _count(run: Run, user: User, at: datetime) -> None:
    _lock(user)
    FinishedRun.objects.filter(owner=user, finished_at__lte=at - A_DAY).delete()
    key = run.task.exposure_key if run.episode is None else run.test_set.checksum
    finished = FinishedRun.objects.filter(owner=user, items_key=key).order_by("finished_at")
    most = settings.RUNS_A_DAY
    if (count := finished.count()) >= most:
        # The one whose end makes room again.
        last = finished[count - most]
        raise TooMany(_too_many_today(run, last.finished_at + A_DAY))
    FinishedRun.objects.create(owner=user, items_key=key, finished_at=at)


def _lock(user: User) -> None:
    """Of two requests of one person, the second waits, then counts the first."""
    assert transaction.get_connection().in_atomic_block, "the lock lasts as long as a transaction"
    User.objects.select_for_update().get(pk=user.pk)


def _too_many_today(run: Run, again: datetime) -> str:
    where = run.task.slug if run.episode is None else f"{run.task.slug}, episode {run.episode},"
    when = timezone.localtime(again).strftime("%Y-%m-%d %H:%M %Z")
    return (
        f"You finished {settings.RUNS_A_DAY} runs on the test items of {where} within a day, and "
        f"no more are allowed: finish this one after {when}."
    )
