"""Joining: from a consent to an assignment with a place, or to a refusal before any work.

Nobody is stored before they have consented: person, id and place come into being together.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q, Sum
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise

from annotation import models
from annotation.access.identity import identity_hash
from annotation.models.access import record
from annotation.models.assignment import AssignmentQuerySet
from annotation.models.errors import NoEntry
from annotation.models.frozen import tie_broken
from annotation.work.device_codes import end_codes
from annotation.work.places import claim_place, renew_lease, stands_beside


class Full(NoEntry):
    """The study is open, and has no place for this person: said before any work, with a code."""


class Worked(Full):
    """Refuses somebody who has worked before."""


class NotOpen(NoEntry):
    """The study accepts nobody at the moment."""


@dataclass(frozen=True)
class Visit:
    """Who came by a link, where to, and from which browser."""

    study: models.Study
    # Perhaps not stored yet: see `person`.
    annotator: models.Annotator
    batch: models.Batch | None = None
    pool: models.Pool | None = None
    submission_id: str = ""
    browser_hash: str = ""


def person(channel: models.Channel, external_id: str) -> models.Annotator:
    """Whom an external id names: somebody who is stored, or a person yet to be stored."""
    identity = identity_hash(channel, external_id)
    stored = models.Annotator.objects.filter(channel=channel, identity_hash=identity).first()
    return stored or models.Annotator(
        channel=channel, identity_hash=identity, external_id=external_id
    )


def assignments_of(study: models.Study, annotator: models.Annotator) -> AssignmentQuerySet:
    """This person's in the study, the latest first; each of them rests on a consent."""
    return models.Assignment.objects.filter(
        study=study,
        annotator__channel=annotator.channel_id,
        annotator__identity_hash=annotator.identity_hash,
        consented_at__isnull=False,
    ).order_by("-id")


def present_assignment(visit: Visit) -> models.Assignment | None:
    """The one to continue: an unfinished one, or a finished one that is shown again. To a new
    submission it is shown where the platform lost the one that it was done by, and pays a code."""
    mine = assignments_of(visit.study, visit.annotator)
    present = list(mine)
    if unfinished := next((one for one in present if not one.is_finished), None):
        return unfinished
    if not visit.submission_id:
        return present[0] if present else None
    lost = Q(latest_submission__status__in=models.LOST, outcome__in=PAYING)
    by_it = Q(submissions__submission_id=visit.submission_id)
    return mine.filter(by_it).first() or mine.filter(lost).first()


# Whose code the platform itself pays.
PAYING = (models.Outcome.COMPLETED, models.Outcome.SCREENED_OUT)


def new_submission(visit: Visit, assignment: models.Assignment) -> str:
    """The submission by which the person comes back, as after a time-out of the platform; empty if
    it is known."""
    known = assignment.submissions.filter(submission_id=visit.submission_id)
    return "" if known.exists() else visit.submission_id


@transaction.atomic
def come_back(assignment: models.Assignment, submission_id: str, *, at: datetime) -> None:
    """Keep a submission, which counts from now on if it is new; who comes back is at work again."""
    if _enter_by(submission_id, assignment, at) and not assignment.is_finished:
        models.Assignment.objects.filter(pk=assignment.pk).update(seen_at=at, timed_out_at=None)
        renew_lease(assignment, at=at)


def open_batches(visit: Visit, *, at: datetime) -> list[models.Batch]:
    """The batches with a place for this person, the emptiest first. Raises NotOpen or Full."""
    _check_takes(visit)
    candidates = _candidates(visit, at)
    places = models.Place.objects.filter(
        batch__in=candidates, simulated=stands_beside(visit.annotator, visit.study)
    )
    with_room = set(places.claimable(at).values_list("batch_id", flat=True))
    if not with_room:
        raise Full(ALL_TAKEN)
    return [batch for batch in candidates if batch.pk in with_room]


def join(visit: Visit, *, at: datetime) -> models.Assignment:
    """Take a consent: the assignment that this person continues, or a new one with a place, and
    with the person if they are new. Raises NotOpen or Full, and then leaves nothing behind.
    """
    if present := _continued(visit, at):
        return present
    _check_takes(visit)
    try:
        return _join_new(visit, at)
    except (IntegrityError, Full) as problem:
        # A second tab of the same person was quicker: continue with what it got.
        if present := _continued(visit, at):
            return present
        if isinstance(problem, Full):
            raise
    # It took the task in another study: what is left for this one?
    return _join_new(visit, at)


@transaction.atomic
def renew_resume_link(
    assignment: models.Assignment, *, at: datetime, by: User | None = None
) -> None:
    """A new personal link for somebody who has lost every way in; the old one ends at once, and
    so does a code that was shown for another device."""
    end_codes(assignment)
    assignment.resume_token, assignment.resume_renewed_at = models.new_token(), at
    assignment.save(update_fields=["resume_token", "resume_renewed_at"])
    who = assignment.annotator.pseudonym
    record(by, assignment.study, models.ChangeAction.RESUME_LINK, {}, {who: "new"})


def count_answer(study: models.Study, answer: models.JoinAnswer, *, at: datetime) -> None:
    """A number is all that is kept of those who declined or found no place."""
    row, _made = models.JoinCount.objects.get_or_create(
        study=study, hour=hour_of(at), answer=answer
    )
    models.JoinCount.objects.filter(pk=row.pk).update(count=F("count") + 1)


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def join_answers(study: models.Study) -> Counter[str]:
    """How often joins were answered without an assignment; declined ones still stored included."""
    counts = Counter(dict(study.join_counts.values_list("answer").annotate(total=Sum("count"))))
    stored = study.assignments.of_people().filter(outcome=models.JoinAnswer.DECLINED)
    counts[models.JoinAnswer.DECLINED] += stored.count()
    return counts


def _check_takes(visit: Visit) -> None:
    """Raises NotOpen with what to do about it."""
    if not visit.study.is_open:
        raise NotOpen(str(_SHUT[visit.study.state]))
    if visit.study.is_simulated and not visit.annotator.channel.is_simulated:
        raise NotOpen(_("Only simulated annotators work in this study: nobody can join it."))


_SHUT: dict[str, StrOrPromise] = {
    models.StudyState.DRAFT: gettext_lazy(
        "This study has not started yet. Open your link again later: it stays as it is, and "
        "nothing is lost."
    ),
    models.StudyState.PAUSED: gettext_lazy(
        "This study is paused at the moment. Open your link again later: it stays as it is, and "
        "nothing is lost."
    ),
    models.StudyState.CLOSED: gettext_lazy("This study has ended: nobody can join it any more."),
}


ALL_TAKEN = gettext_lazy("All places of this study are taken, so there is nothing left to do here.")


def _continued(visit: Visit, at: datetime) -> models.Assignment | None:
    present = present_assignment(visit)
    if present is not None:
        come_back(present, visit.submission_id, at=at)
    return present


def _enter_by(submission_id: str, assignment: models.Assignment, at: datetime) -> bool:
    """Keep the submission, which is the latest from now on; says whether it is a new one."""
    if not submission_id:
        return False
    latest, is_new = models.Submission.objects.get_or_create(
        assignment=assignment, submission_id=submission_id, defaults={"entered_at": at}
    )
    if is_new:
        assignment.latest_submission = latest
        assignment.save(update_fields=["latest_submission"])
    return is_new


@transaction.atomic
def _join_new(visit: Visit, at: datetime) -> models.Assignment:
    candidates = _candidates(visit, at)
    annotator = _stored(visit.annotator)
    for batch in candidates:
        with transaction.atomic():
            assignment = models.Assignment.objects.create(
                annotator=annotator,
                study=visit.study,
                batch=batch,
                exposure_key=batch.task.exposure_key,
                browser_hash=visit.browser_hash,
                order_seed=_order_seed(batch, annotator),
                joined_at=at,
                consented_at=at,
                seen_at=at,
                shown_at=at,
            )
            models.Exposure.objects.bulk_create(
                models.Exposure(annotator=annotator, exposure_key=key, assignment=assignment)
                for key in sorted(batch.exposure_keys)
            )
            if claim_place(assignment, at=at):
                _enter_by(visit.submission_id, assignment, at)
                return assignment
            transaction.set_rollback(True)
    raise Full(ALL_TAKEN)


def _stored(annotator: models.Annotator) -> models.Annotator:
    if annotator.pk is not None:
        return annotator
    return models.Annotator.objects.get_or_create(
        channel=annotator.channel,
        identity_hash=annotator.identity_hash,
        defaults={"external_id": annotator.external_id},
    )[0]


def _order_seed(batch: models.Batch, annotator: models.Annotator) -> str:
    """Follows from the study's stored seed, so that a study can be replayed."""
    text = f"{batch.study.seed}:{batch.pk}:{annotator.identity_hash}"
    return sha256(text.encode()).hexdigest()[:16]


def _candidates(visit: Visit, at: datetime) -> list[models.Batch]:
    """The batches this annotator may enter: fewest places taken first, ties by seeded chance.
    Raises Full if there are none."""
    study, annotator = visit.study, visit.annotator
    same = Q(
        annotator__channel=annotator.channel_id,
        annotator__identity_hash=annotator.identity_hash,
    )
    worked_on = models.Assignment.objects.filter(same).exclude(outcome=models.JoinAnswer.DECLINED)
    work = list(worked_on.values_list("exposure_key", "study_id", "batch__pool"))
    seen = {key for key, _study, _pool in work}
    # Those of checks too; an assignment from before there were checks has none.
    seen |= set(models.Exposure.objects.filter(same).values_list("exposure_key", flat=True))
    batches = study.batches.select_related("task", "check_set__task", "pool").order_by()
    if visit.batch is not None:
        batches = batches.filter(pk=visit.batch.pk)
    elif visit.pool is not None:
        batches = batches.filter(pool=visit.pool)
    elif study.pools.exists():
        raise NotOpen(_("Each group of people has a link of its own: open the one for yours."))
    pool = next((pool for _key, of, pool in work if of == study.pk), None)
    if pool is not None and not (batches := batches.filter(pool=pool)):
        raise Worked(_("You have taken part in another group of this study already."))
    by_id = {batch.pk: batch for batch in batches if not batch.exposure_keys & seen}
    if not by_id:
        raise Worked(
            _("You have worked on this before; each person takes part in a task only once.")
        )
    places = models.Place.objects.filter(
        batch_id__in=list(by_id), simulated=stands_beside(annotator, study)
    )
    taken = Counter(places.taken(at).values_list("batch_id", flat=True))
    ranked = [(taken[pk], pk) for pk in by_id]
    return [by_id[pk] for pk in tie_broken(ranked, f"{study.seed}:{annotator.identity_hash}")]
