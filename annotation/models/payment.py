"""What people were paid: a ledger to which lines are added, and none is changed or deleted."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import clock
from annotation.models.constraints import check, once
from annotation.models.study import new_token


class PayoutWay(models.TextChoices):
    FILE = "file", "by a file"
    API = "api", "by the platform's API"


class PayoutState(models.TextChoices):
    # Told to the platform, whose answer is not there yet.
    SENDING = "sending", "being sent"
    SENT = "sent", "sent"
    # The answer was lost: a person looks on the platform, nothing is sent again by itself.
    UNKNOWN = "unknown", "unknown"
    REFUSED = "refused", "not sent"


class Payout(models.Model):
    """Bonuses that were sent together."""

    study = models.ForeignKey("Study", on_delete=models.PROTECT, related_name="payouts")
    way = models.CharField(max_length=4, choices=PayoutWay.choices)
    state = models.CharField(max_length=7, choices=PayoutState.choices)
    # The platform's own name for it.
    remote_id = models.CharField(max_length=100, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            check("payout_way_known", way__in=PayoutWay.values),
            check("payout_state_known", state__in=PayoutState.values),
            once("payout_remote_once", ["remote_id"], condition=~Q(remote_id="")),
        ]

    def __str__(self) -> str:
        return f"payout {self.pk} of {self.study}"


class PayPurpose(models.TextChoices):
    DUE = "due", "approved as due"
    BONUS = "bonus", "sent as a bonus"


class PaymentLine(models.Model):
    """One line of the ledger. The first of an assignment and purpose is correction 0; what is
    approved or sent later is added with the next number, and a line that was wrong is taken back
    by a negative one. The database refuses to change or delete any."""

    assignment = models.ForeignKey(
        "Assignment", on_delete=models.PROTECT, related_name="payment_lines"
    )
    purpose = models.CharField(max_length=5, choices=PayPurpose.choices)
    correction = models.PositiveSmallIntegerField(default=0)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.TextField(blank=True)
    payout = models.ForeignKey(
        Payout, on_delete=models.PROTECT, null=True, blank=True, related_name="lines"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            once("payment_line_once", ["assignment", "purpose", "correction"]),
            check("payment_purpose_known", purpose__in=PayPurpose.values),
            check("payment_first_positive", Q(amount__gt=0) | Q(correction__gt=0, amount__lt=0)),
            check(
                "payment_correction_has_reason", Q(correction=0) | ~Q(purpose="due") | ~Q(reason="")
            ),
            check(
                "payment_bonus_by_payout",
                Q(purpose="bonus", payout__isnull=False) | Q(purpose="due", payout__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.purpose} for assignment {self.assignment_id}"


class ProlificStudy(models.Model):
    """A study's connection. Without a token nothing is ever sent to Prolific."""

    study = models.OneToOneField("Study", on_delete=models.CASCADE, related_name="prolific")
    # Both are secrets: no page shows them again, and no log holds them.
    token = models.CharField(max_length=300, blank=True)
    webhook_secret = models.CharField(max_length=300, blank=True)
    # Part of the address to which Prolific reports.
    hook_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    workspace_id = models.CharField(max_length=60, blank=True)
    project_id = models.CharField(max_length=60, blank=True)
    # Whoever is in it has worked on these tasks.
    group_id = models.CharField(max_length=60, blank=True)
    # The study's id on Prolific.
    remote_id = models.CharField(max_length=60, blank=True)
    subscription_id = models.CharField(max_length=60, blank=True)
    polled_at = models.DateTimeField(null=True, blank=True)
    # What the study there pays, as last read: an amount for each outcome, and "currency".
    rewards = models.JSONField(default=dict, blank=True)
    # Why the last look at Prolific failed, if it did.
    problem = models.TextField(blank=True)

    class Meta:
        constraints = [once("prolific_study_once", ["remote_id"], condition=~Q(remote_id=""))]

    def __str__(self) -> str:
        return f"{self.study} on Prolific"


class SubmissionStatus(models.TextChoices):
    """The states of a submission, as Prolific writes them."""

    RESERVED = "RESERVED", "place reserved"
    ACTIVE = "ACTIVE", "active"
    TIMED_OUT = "TIMED-OUT", "timed out"
    AWAITING_REVIEW = "AWAITING REVIEW", "awaiting review"
    APPROVED = "APPROVED", "approved"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED", "partially approved"
    RETURNED = "RETURNED", "returned"
    REJECTED = "REJECTED", "rejected"
    SCREENED_OUT = "SCREENED OUT", "screened out"


# A code was handed in: the platform has paid, or is to review.
HANDED_IN = (
    *(SubmissionStatus.AWAITING_REVIEW, SubmissionStatus.APPROVED),
    *(SubmissionStatus.PARTIALLY_APPROVED, SubmissionStatus.SCREENED_OUT),
)


# Nothing comes of it any more, whatever was done by it: the person may come back by another.
LOST = (SubmissionStatus.TIMED_OUT, SubmissionStatus.RETURNED)


class Submission(models.Model):
    """A submission by which somebody entered, and what Prolific last said of it. Who was timed out
    on the platform comes back by another: each is kept, and the assignment names the latest."""

    assignment = models.ForeignKey(
        "Assignment", on_delete=models.CASCADE, related_name="submissions"
    )
    # The platform's own; empty once the person was erased.
    submission_id = models.CharField(max_length=200, blank=True)
    entered_at = models.DateTimeField()
    # Empty until something was said.
    status = models.CharField(max_length=18, choices=SubmissionStatus.choices, blank=True)
    # When it took that status, by Prolific's clock: an event that is older changes nothing.
    status_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            once(
                "submission_once", ["assignment", "submission_id"], condition=~Q(submission_id="")
            ),
            check(
                "submission_status_known",
                Q(status="", status_at__isnull=True)
                | Q(status__in=SubmissionStatus.values, status_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.pk} of assignment {self.assignment_id}: {self.status}"

    @property
    def is_latest(self) -> bool:
        return self.assignment.latest_submission_id == self.pk


class Delivery(models.Model):
    """A report of Prolific's that was taken, by its signature: the same again says nothing."""

    connection = models.ForeignKey(
        ProlificStudy, on_delete=models.CASCADE, related_name="deliveries"
    )
    signature = models.CharField(max_length=44)
    received_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        constraints = [once("delivery_once", ["connection", "signature"])]

    def __str__(self) -> str:
        return f"report to {self.connection}"
