"""Payments as files: what everybody is due, and the bonuses that a platform is to pay.

Both hold external ids, so both are for owners, and leave a line in the log of changes.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import User

from annotation.models import ChangeAction, Study
from annotation.models.access import record
from annotation.payments.due import Due, dues
from annotation.payments.ledger import open_bonuses
from annotation.studies.exported_judgements import csv_lines

FORMATS = ("csv", "prolific")
# Each column of the CSV with what it means.
COLUMNS = {
    "study": "short name of the study",
    "annotator": "pseudonym",
    "external_id": "the person's id on the platform; empty once erased",
    "submission_id": "the submission's id on the platform",
    "assignment": "number of the assignment",
    "outcome": "how the work ended",
    "platform_status": "what the platform last said of the submission; empty if unknown",
    "excluded": "whether a researcher excluded the work, which changes no pay",
    "paid_minutes": "time that is paid, capped for each page",
    "elapsed_minutes": "time from consent to the end, breaks included",
    "hourly_rate": "the study's rate for an hour",
    "pays_time": "whether the outcome pays the time",
    "minimum": "what the outcome pays at least",
    "earned": "by the outcome's rule: time at the hourly rate, at least the minimum",
    "approved": "approved as due, corrections included; empty while nobody approved it",
    "due": "approved, or else earned",
    "base": "what the platform pays by itself",
    "sent": "bonuses sent so far",
    "open": "due less base less sent, never below 0",
    "overpaid": "base and sent beyond what is due",
    "hourly": "due for an hour of elapsed time",
    "hourly_paid": "due for an hour of paid time",
    "currency": "of all amounts",
}


def export_payments(study: Study, file_format: str, *, by: User | None = None) -> Iterator[str]:
    """Lines of a file. The ledger stays as it is."""
    record(by, study, ChangeAction.PAY_EXPORTED, {}, {"format": file_format})
    if file_format == "prolific":
        return prolific_lines(open_bonuses(study).dues)
    return csv_lines(list(COLUMNS), (_row(study, due) for due in dues(study)))


def prolific_lines(bonuses: Iterable[Due]) -> Iterator[str]:
    """What Prolific takes for bulk bonuses: the person's id and the amount, without a heading."""
    for due in bonuses:
        yield f"{due.person_id},{due.open:.2f}\n"


def _row(study: Study, due: Due) -> dict[str, Any]:
    assignment, rule = due.assignment, due.rule
    return {
        "study": study.slug,
        "annotator": assignment.annotator.pseudonym,
        "external_id": due.person_id,
        "submission_id": assignment.submission_id,
        "assignment": assignment.pk,
        "outcome": assignment.outcome,
        "platform_status": due.status,
        "excluded": hasattr(assignment, "exclusion"),
        "paid_minutes": f"{due.paid_minutes:.2f}",
        "elapsed_minutes": f"{due.elapsed_minutes:.2f}",
        "hourly_rate": study.hourly_rate,
        "pays_time": rule.pays_time if rule else True,
        "minimum": rule.minimum if rule else 0,
        "earned": due.earned,
        "approved": due.approved,
        "due": due.total,
        "base": due.base,
        "sent": due.sent,
        "open": due.open,
        "overpaid": due.overpaid,
        "hourly": due.hourly,
        "hourly_paid": due.hourly_paid,
        "currency": study.currency,
    }
