"""Joining: from a link to an assignment with a place, or to a refusal before any work."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Annotator, Assignment, Batch, Channel, Place, Study
from annotation.models.errors import NoEntry
from annotation.models.shuffling import tie_broken
from annotation.work.places import claim_place


class Full(NoEntry):
    """No place is free for this person: said before any work, with the code for it."""


class NotOpen(NoEntry):
    """The study accepts nobody at the moment."""


def identity_hash(channel: Channel, external_id: str) -> str:
    """A keyed hash, so that a person is found again even after erasure."""
    return salted_hmac("annotation.identity", f"{channel.slug}\n{external_id}").hexdigest()


def identify(channel: Channel, external_id: str) -> tuple[Annotator, bool]:
    """The annotator with an external id, and whether they are new."""
    return Annotator.objects.get_or_create(
        channel=channel,
        identity_hash=identity_hash(channel, external_id),
        defaults={"external_id": external_id},
    )


def join(
    *,
    study: Study,
    annotator: Annotator,
    at: datetime,
    submission_id: str = "",
    batch: Batch | None = None,
) -> Assignment:
    """The assignment that this annotator continues, or a new one with a place.

    An unfinished assignment continues; a finished one is shown again unless the channel sent a new
    submission id. Raises NotOpen or Full.
    """
    present = _present_assignment(study, annotator, submission_id)
    if present is not None:
        return present
    if not study.is_open:
        raise NotOpen(_("This study is not open at the moment."))
    try:
        return _join_new(study, annotator, submission_id, batch, at)
    except IntegrityError:
        # A second tab of the same person was quicker: continue with what it got.
        present = _present_assignment(study, annotator, submission_id)
        if present is None:
            raise
        return present


def _present_assignment(
    study: Study, annotator: Annotator, submission_id: str
) -> Assignment | None:
    mine = Assignment.objects.filter(study=study, annotator=annotator).order_by("-id")
    if unfinished := mine.open().first():
        return unfinished
    same = mine.filter(submission_id=submission_id) if submission_id else mine
    return same.first()


def _join_new(
    study: Study, annotator: Annotator, submission_id: str, batch: Batch | None, at: datetime
) -> Assignment:
    candidates = _candidates(study, annotator, batch, at)
    if not candidates:
        raise Full(_("You have worked on this before; each person takes part in a task only once."))
    for candidate in candidates:
        with transaction.atomic():
            assignment = Assignment.objects.create(
                annotator=annotator,
                study=study,
                batch=candidate,
                exposure_key=candidate.task.exposure_key,
                submission_id=submission_id,
                order_seed=_order_seed(candidate, annotator),
                joined_at=at,
                seen_at=at,
                shown_at=at,
            )
            if claim_place(assignment, at=at):
                return assignment
            transaction.set_rollback(True)
    raise Full(_("All places of this study are taken, so there is nothing left to do here."))


def _order_seed(batch: Batch, annotator: Annotator) -> str:
    """Follows from the study's stored seed, so that a study can be replayed."""
    text = f"{batch.study.seed}:{batch.pk}:{annotator.identity_hash}"
    return sha256(text.encode()).hexdigest()[:16]


def _candidates(
    study: Study, annotator: Annotator, batch: Batch | None, at: datetime
) -> list[Batch]:
    """The batches this annotator may enter: fewest places taken first, ties by seeded
    chance."""
    worked_on = (
        Assignment.objects.filter(annotator=annotator)
        .exclude(outcome="declined")
        .values("exposure_key")
    )
    batches = study.batches.select_related("task", "study").exclude(
        task__exposure_key__in=worked_on
    )
    if batch is not None:
        batches = batches.filter(pk=batch.pk)
    by_id = {candidate.pk: candidate for candidate in batches}
    taken = _taken_counts(list(by_id), annotator.channel.is_simulated, at)
    ranked = [(taken.get(pk, 0), pk) for pk in by_id]
    return [by_id[pk] for pk in tie_broken(ranked, f"{study.seed}:{annotator.pk}")]


def _taken_counts(batch_ids: Sequence[int], simulated: bool, at: datetime) -> dict[int, int]:
    counts: dict[int, int] = {}
    places = Place.objects.filter(batch_id__in=batch_ids, simulated=simulated).taken(at)
    for batch_id in places.values_list("batch_id", flat=True):
        counts[batch_id] = counts.get(batch_id, 0) + 1
    return counts
