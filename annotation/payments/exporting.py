"""Payments as files: what everybody is due, and the bonuses that a platform is to pay.

Both hold external ids, so both are for owners, and leave a line in the log of changes.
"""

from collections.abc import Iterable, Iterator

from django.contrib.auth.models import User

from annotation.models import ChangeAction, Study
from annotation.models.access import record
from annotation.payments.due import Due, dues
from annotation.payments.ledger import open_bonuses
from annotation.studies.exported_judgements import column, csv_lines
from scoring.tables.table import values_of

FORMATS = ("csv", "prolific")
# What each means, and where a study and a due have it.
COLUMNS = (
    column("study", "short name of the study", "study.slug"),
    column("annotator", "pseudonym", "due.assignment.annotator.pseudonym"),
    column("external_id", "the person's id on the platform; empty once erased", "due.person_id"),
    column("submission_id", "the submission's id on the platform", "due.assignment.submission_id"),
    column("assignment", "number of the assignment", "due.assignment.pk"),
    column("outcome", "how the work ended", "due.assignment.outcome"),
    column(
        "platform_status",
        "what the platform last said of the submission; empty if unknown",
        "due.status",
    ),
    column(
        "excluded",
        "whether a researcher excluded the work, which changes no pay",
        "due.assignment.is_excluded",
    ),
    column("paid_minutes", "time that is paid, capped for each page", "due.paid_minutes", digits=2),
    column(
        "elapsed_minutes",
        "time from consent to the end, breaks included",
        "due.elapsed_minutes",
        digits=2,
    ),
    column("hourly_rate", "the study's rate for an hour", "study.hourly_rate"),
    column("pays_time", "whether the outcome pays the time", "due.pays_time"),
    column("minimum", "what the outcome pays at least", "due.minimum"),
    column(
        "earned",
        "by the outcome's rule: time at the hourly rate, at least the minimum",
        "due.earned",
    ),
    column(
        "approved",
        "approved as due, corrections included; empty while nobody approved it",
        "due.approved",
    ),
    column("due", "approved, or else earned", "due.total"),
    column("base", "what the platform pays by itself", "due.base"),
    column("sent", "bonuses sent so far", "due.sent"),
    column("open", "due less base less sent, never below 0", "due.open"),
    column("overpaid", "base and sent beyond what is due", "due.overpaid"),
    column("hourly", "due for an hour of elapsed time", "due.hourly"),
    column("hourly_paid", "due for an hour of paid time", "due.hourly_paid"),
    column("currency", "of all amounts", "study.currency"),
)


def export_payments(study: Study, file_format: str, *, by: User | None = None) -> Iterator[str]:
    """Lines of a file. The ledger stays as it is."""
    record(by, study, ChangeAction.PAY_EXPORTED, {}, {"format": file_format})
    if file_format == "prolific":
        return prolific_lines(open_bonuses(study).dues)
    rows = (values_of(COLUMNS, {"study": study, "due": due}) for due in dues(study))
    return csv_lines(COLUMNS, rows)


def prolific_lines(bonuses: Iterable[Due]) -> Iterator[str]:
    """What Prolific takes for bulk bonuses: the person's id and the amount, without a heading."""
    for due in bonuses:
        yield f"{due.person_id},{due.open:.2f}\n"
