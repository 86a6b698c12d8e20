"""The people of a study: invited by a list; excluded, a mark on ended work (outcome, code and pay
stay); and erased, with all that names them but the keyed hash, so that nobody works twice."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from unicodedata import normalize

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import DateTimeField, Exists, Max, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from annotation import models
from annotation.access.identity import identity_hash
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal
from annotation.models.locks import unlocked
from annotation.models.texts import is_id
from annotation.work.finishing import withdraw
from annotation.work.places import stands_beside
from scoring.tables.documents import csv_line, from_cell

HEADINGS = frozenset({"id", "external_id", "person", "participant", "participant_id", "email"})
LONGEST_ID = 200
LONGEST_REASON = 2_000
NO_REASON = "An exclusion needs a reason: give one."


def read_people(text: str) -> list[str]:
    """The ids in the first column of a CSV text, each once, in order; without a heading such as
    `id` or `email`. Raises BadInput with the line that cannot be used."""
    return ids_once(_first_column(text))


def ids_once(lines: Iterable[tuple[int, str]]) -> list[str]:
    people: dict[str, None] = {}
    for line, person in lines:
        if not person or (not people and person.lower() in HEADINGS):
            continue
        if len(person) > LONGEST_ID or not is_id(person):
            raise BadInput(f"Line {line}: an id is at most {LONGEST_ID} ordinary characters long.")
        people[person] = None
    if not people:
        raise BadInput("No ids were found: write one person per line, the id first.")
    return list(people)


def invite(
    study: models.Study, people: Sequence[str], *, pool: models.Pool | None = None
) -> list[models.Invitation]:
    """Make an invitation for each of these people, to a pool if any; who has one keeps it, and its
    link."""
    if study.state == models.StudyState.CLOSED:
        raise BadInput("This study is closed: nobody can be invited any more.")
    _check_erased(study, people)
    models.Invitation.objects.bulk_create(
        [models.Invitation(study=study, external_id=person, pool=pool) for person in people],
        ignore_conflicts=True,
    )
    return list(study.invitations.filter(external_id__in=people).order_by("id"))


def links_csv(study: models.Study, link_of: Callable[[models.Invitation], str]) -> Iterator[str]:
    yield csv_line(["id", "link"], end="\r\n")
    for invitation in study.invitations.order_by("id"):
        yield csv_line([invitation.external_id, link_of(invitation)], end="\r\n")


def _first_column(text: str) -> Iterator[tuple[int, str]]:
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter)
    try:
        for row in rows:
            yield rows.line_num, from_cell(normalize("NFC", row[0].strip())) if row else ""
    except csv.Error as problem:
        raise BadInput(
            f"Line {rows.line_num} cannot be read as CSV: write one person per line, the id first."
        ) from problem


def _check_erased(study: models.Study, people: Sequence[str]) -> None:
    """Erased people are not recorded again by an old list."""
    by_hash = {identity_hash(study.channel, person): person for person in people}
    erased = models.Annotator.objects.filter(
        channel=study.channel, erased_at__isnull=False, identity_hash__in=by_hash
    ).first()
    if erased is not None:
        person = by_hash[erased.identity_hash]
        raise BadInput(f"“{person}” asked to be erased and cannot be invited: take the line out.")


# A paused study takes people again once it is resumed; a closed one never does.
REFILLS_PLACES = (models.StudyState.OPEN, models.StudyState.PAUSED)


def exclude(
    assignment: models.Assignment, *, reason: str, author: User | None = None
) -> models.Exclusion:
    """Mark an assignment that has ended; its place opens again unless the study is closed. Of two
    marks the first stands, with its reason."""
    if not reason.strip():
        raise BadInput(NO_REASON)
    if not assignment.outcome:
        raise Refusal("This annotator is still at work: exclude them once their work has ended.")
    try:
        with transaction.atomic():
            exclusion = models.Exclusion.objects.create(
                assignment=assignment, reason=reason.strip(), author=author
            )
            _log_mark(assignment, models.ChangeAction.EXCLUDED, author, "counted", "excluded")
            models.Place.objects.filter(
                holder=assignment, batch__study__state__in=REFILLS_PLACES
            ).update(kept=False, holder=None, lease_until=None)
    except IntegrityError:
        return models.Exclusion.objects.get(assignment=assignment)
    return exclusion


def lift_exclusion(assignment: models.Assignment, *, by: User | None = None) -> None:
    """Remove the mark, if that keeps the batch exact: completed work needs the place that it still
    holds, or an empty one. Nobody at work loses a place to this."""
    with transaction.atomic():
        lifted, _rows = models.Exclusion.objects.filter(assignment=assignment).delete()
        if lifted:
            _log_mark(assignment, models.ChangeAction.EXCLUSION_LIFTED, by, "excluded", "counted")
        if assignment.outcome == models.Outcome.COMPLETED and not _has_place_again(assignment):
            raise Refusal(
                "The place has gone to somebody else, so the batch would count more people "
                "than it needs: give the batch one more place first."
            )


def new_version(assignment: models.Assignment) -> str:
    """What it comes to that the assignment counts or not; empty where no verdict is frozen."""
    study = assignment.study
    stands = study.is_demonstration or not assignment.is_simulated
    counts = assignment.outcome == models.Outcome.COMPLETED and stands
    if not counts or study.is_rehearsal or not study.is_settled:
        return ""
    return (
        "The study is closed: its verdicts get a new version beside the frozen one, and the report "
        "says which of them change."
    )


def _log_mark(
    assignment: models.Assignment, action: models.ChangeAction, by: User | None, *states: str
) -> None:
    """Log before and after. Not the reason: that is a comment, and stands beside the mark."""
    who = f"{assignment.annotator}, assignment {assignment.pk}"
    record(by, assignment.study, action, *({who: state} for state in states))


def _has_place_again(assignment: models.Assignment) -> bool:
    if models.Place.objects.filter(holder=assignment, kept=True).exists():
        return True
    beside = stands_beside(assignment.annotator, assignment.study)
    empty = models.Place.objects.filter(
        batch=assignment.batch, simulated=beside, kept=False, holder__isnull=True
    )
    # A join may take one between the read and the write; the row count decides.
    return any(
        empty.filter(pk=pk).update(kept=True, holder=assignment, lease_until=None)
        for pk in empty.order_by("number").values_list("pk", flat=True)
    )


@transaction.atomic
def erase_annotator(annotator: models.Annotator, *, at: datetime, by: User | None = None) -> None:
    """Forget who an annotator is: external id, submission ids, browsers, invitations, and what they
    wrote in their own words. Unfinished work ends as withdrawn and is paid for what was done;
    judgements stay under the pseudonym. Safe to run twice."""
    for assignment in models.Assignment.objects.open().filter(annotator=annotator):
        withdraw(assignment, at=at)
    if annotator.external_id:
        models.Invitation.objects.filter(
            study__channel=annotator.channel_id, external_id=annotator.external_id
        ).delete()
    models.Comment.objects.filter(assignment__annotator=annotator).delete()
    models.DeviceCode.objects.filter(assignment__annotator=annotator).delete()
    models.Submission.objects.filter(assignment__annotator=annotator).update(submission_id="")
    models.Assignment.objects.filter(annotator=annotator).update(browser_hash="")
    models.Annotator.objects.filter(pk=annotator.pk).update(external_id="")
    if models.Annotator.objects.filter(pk=annotator.pk, erased_at=None).update(erased_at=at):
        name = annotator.pseudonym
        for study in models.Study.objects.filter(assignments__annotator=annotator).distinct():
            record(by, study, models.ChangeAction.ERASED, {name: "known"}, {name: "erased"})
    annotator.refresh_from_db()


# The tables from whose files an erased row has to go, too.
PERSONAL_TABLES = tuple(
    model._meta.db_table
    for model in (
        *(models.Annotator, models.Assignment, models.Submission),
        *(models.Comment, models.Invitation),
    )
)


# By kind, the rows from before a limit; sign-ins are names, addresses and browsers of those who
# tried.
OLDER: dict[str, Callable[[datetime], list[QuerySet[Any]]]] = {
    "ids": lambda limit: [people_before(limit)],
    "comments": lambda limit: [models.Comment.objects.filter(written_at__lt=limit)],
    "changes": lambda limit: [models.Change.objects.filter(at__lt=limit)],
    "sign_ins": lambda limit: [
        model.objects.filter(attempt_time__lt=limit)
        for model in (AccessAttempt, AccessLog, AccessFailureLog)
    ],
}
# By kind: what is older than this goes.
Limits = Mapping[str, datetime]


def count_old(limits: Limits) -> dict[str, int]:
    return {kind: sum(rows.count() for rows in OLDER[kind](at)) for kind, at in limits.items()}


def erase_old(limits: Limits, *, at: datetime) -> dict[str, int]:
    """What was erased. Interrupted, it leaves nobody half erased, and goes on when run again."""
    erased = count_old(limits)
    for kind, limit in limits.items():
        for rows in OLDER[kind](limit):
            if kind == "ids":
                for annotator in rows:
                    erase_annotator(annotator, at=at)
            elif kind == "changes":
                with unlocked("annotation_change"):
                    rows.delete()
            else:
                rows.delete()
    return erased


def people_before(limit: datetime) -> QuerySet[models.Annotator]:
    """Those whose id is known, whose last work ended before it, and all of whose studies are
    closed: until then they may have to be paid, or find their way back."""
    needed = models.Assignment.objects.filter(annotator=OuterRef("pk")).exclude(
        study__state=models.StudyState.CLOSED, finished_at__isnull=False
    )
    last = Coalesce(Max("assignments__finished_at"), "created_at", output_field=DateTimeField())
    known = models.Annotator.objects.exclude(external_id="").filter(channel__is_simulated=False)
    return known.exclude(Exists(needed)).annotate(last=last).filter(last__lt=limit)


def clear_files() -> None:
    """Take what was erased out of the database's files too. On PostgreSQL the tables are
    written anew, for which nobody may use them for a moment."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            # Freed pages are overwritten (secure_delete); the log that led there is emptied.
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            cursor.execute(f"VACUUM (FULL) {', '.join(PERSONAL_TABLES)}")
