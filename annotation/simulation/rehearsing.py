"""Rehearsals: simulated annotators play a copy of a study before anybody is paid for the real one.
It is marked when it is made: the one kind of study whose judgements the database lets go, whole."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum

from annotation import models
from annotation.jobs import queue
from annotation.models import clock
from annotation.models.errors import BadInput, Frozen, NotReady, Refusal
from annotation.simulation.simulating import Crowd, simulate_study
from annotation.studies.drafting import copy_study
from annotation.studies.lifecycle import close_study, missing_to_rehearse, start_study
from annotation.work.money import CENT

JOB = "rehearse_study"
SEED = 1
# Far enough back for the simulated work to have ended before anybody looks.
LEAD = timedelta(hours=12)
# More answers keep a worker from other work for too long.
MOST_PLACES = 500


@transaction.atomic
def order_rehearsal(
    study: models.Study, crowd: Crowd, *, at: datetime, by: User | None = None
) -> models.Study:
    """A copy that has started, with the members of the study, and a job that plays it."""
    _check(study)
    number = study.rehearsals.count() + 1
    while models.Study.objects.filter(slug=_slug(study, number)).exists():
        number += 1
    title = f"Rehearsal {number} of {study}"
    rehearsal = copy_study(study, slug=_slug(study, number), title=title[:200], for_rehearsal=True)
    for membership in study.memberships.all():
        rehearsal.memberships.create(user=membership.user, role=membership.role)
    start_study(rehearsal, at=at - LEAD, by=by)
    queue.enqueue(JOB, {"study": rehearsal.pk, **asdict(crowd)}, author=by)
    return rehearsal


@queue.runs(JOB)
def play(job: models.Job, progress: queue.Progress) -> queue.Result:
    """Arguments: study, its id, and the crowd: skill, weak, dropout. Safe to run twice: what was
    begun is ended first, and a closed rehearsal is over."""
    rehearsal = models.Study.objects.filter(pk=job.arguments["study"], is_rehearsal=True).first()
    if rehearsal is None:
        raise Refusal("The rehearsal is no longer there.")
    if rehearsal.is_closed:
        return {"summary": "It was played before."}
    places = rehearsal.batches.aggregate(total=Sum("wanted"))["total"] or 0
    played = 0

    def tell(assignment: models.Assignment) -> None:
        nonlocal played
        played += 1
        progress(min(played, places), places)

    crowd = {name: job.arguments[name] for name in ("skill", "weak", "dropout")}
    simulate_study(
        rehearsal, seed=SEED, at=rehearsal.started_at or clock.now(), progress=tell, **crowd
    )
    close_study(rehearsal, at=clock.now())
    return {"summary": f"{played} simulated annotators took part."}


def job_of(rehearsal: models.Study) -> models.Job | None:
    return (
        models.Job.objects.filter(kind=JOB, arguments__study=rehearsal.pk).order_by("-pk").first()
    )


@transaction.atomic
def discard_rehearsal(rehearsal: models.Study) -> None:
    """Everything about it, its simulated annotators too. Raises Refusal while it is played."""
    if not rehearsal.is_rehearsal:
        raise Refusal("Only a rehearsal can be thrown away: people's answers are kept.")
    job = job_of(rehearsal)
    if job is not None and not job.is_over:
        raise Refusal("It is being played: wait until it has ended, then throw it away.")
    assignments = models.Assignment.objects.filter(study=rehearsal)
    people = list(assignments.values_list("annotator", flat=True))
    models.Place.objects.filter(batch__study=rehearsal).delete()
    for rows in (models.Judgement, models.Comment, models.Exclusion):
        rows._default_manager.filter(assignment__study=rehearsal).delete()
    assignments.delete()
    models.Annotator.objects.filter(
        pk__in=people, channel__is_simulated=True, assignments=None
    ).delete()
    rehearsal.delete()


def rehearsal_figures(rehearsal: models.Study) -> dict[str, Any]:
    rows = list(rehearsal.assignments.values("outcome", "amount", "paid_ms", "batch__task"))
    outcomes = Counter(row["outcome"] for row in rows)
    minutes = [r["paid_ms"] / 60_000 for r in rows if r["outcome"] == models.Outcome.COMPLETED]
    out = outcomes[models.Outcome.SCREENED_OUT]
    pay = sum((row["amount"] or Decimal(0) for row in rows), Decimal(0))
    return {
        "people": len(rows),
        "outcomes": {str(outcome.label): outcomes[outcome.value] for outcome in models.Outcome},
        "screened_out": _screened_out(rehearsal, rows),
        "one_out_of": round(len(rows) / out) if out else None,
        "places": rehearsal.batches.aggregate(total=Sum("wanted"))["total"] or 0,
        "finished": len(minutes),
        # What they were due, without and with the platform's fee.
        "pay": pay,
        "cost": (pay * (1 + rehearsal.platform_fee / 100)).quantize(CENT),
        "hours": sum(row["paid_ms"] for row in rows) / 3_600_000,
        # Of those who completed.
        "median_minutes": median(minutes) if minutes else None,
    }


def _screened_out(
    rehearsal: models.Study, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[models.Task, int, int]]:
    """How many were screened out in each task, of how many who came; nothing where nobody was."""
    came = Counter(row["batch__task"] for row in rows)
    out = Counter(r["batch__task"] for r in rows if r["outcome"] == models.Outcome.SCREENED_OUT)
    tasks = models.Task.objects.filter(batches__study=rehearsal).distinct() if out else []
    return [(task, out[task.pk], came[task.pk]) for task in tasks]


def _check(study: models.Study) -> None:
    if study.is_rehearsal:
        raise BadInput("This is a rehearsal itself: rehearse the study that it was made from.")
    if study.is_frozen:
        raise Frozen(f"The study {study.slug} has started: copy it, and rehearse the copy.")
    if missing := missing_to_rehearse(study):
        raise NotReady(*missing)
    places = study.batches.aggregate(total=Sum("wanted"))["total"]
    if places > MOST_PLACES:
        raise BadInput(f"{places} places are too many to rehearse: at most {MOST_PLACES}.")


def _slug(study: models.Study, number: int) -> str:
    return f"{study.slug[:60]}-rehearsal-{number}"
