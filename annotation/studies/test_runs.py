"""Test runs: a researcher works through a batch as an annotator would."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max

from annotation.models import Assignment, Batch, Channel, Exclusion, Place, new_token
from annotation.models.errors import NotReady
from annotation.work.joining import Visit, join, person


@transaction.atomic
def start_test_run(batch: Batch, *, author: User, at: datetime) -> Assignment:
    """A simulated annotator with a place of its own, excluded from the start.

    So it takes nobody's place, and counts in no figure of people or of simulated annotators.
    """
    if not batch.study.is_open:
        raise NotReady("A test run needs a study that is open: start or resume it first.")
    channel = Channel.objects.get(is_simulated=True)
    tester = person(channel, f"test-run:{new_token()}")
    _add_place(batch)
    assignment = join(Visit(study=batch.study, annotator=tester, batch=batch), at=at)
    Exclusion.objects.create(assignment=assignment, reason="test run", author=author)
    return assignment


def _add_place(batch: Batch) -> None:
    """Beyond the existing places, so that a simulation still finds all of its own."""
    last = batch.places.filter(simulated=True).aggregate(last=Max("number"))["last"] or 0
    Place.objects.create(batch=batch, simulated=True, number=max(last, batch.wanted) + 1)
