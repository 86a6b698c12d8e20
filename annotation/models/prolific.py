"""How a study is connected to Prolific, and what Prolific says of its submissions."""

from django.db import models
from django.db.models import Q

from annotation.models.assignment import Assignment
from annotation.models.study import Study, new_token


class ProlificStudy(models.Model):
    """A study's connection. Without a token nothing is ever sent to Prolific."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="prolific")
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
    # Why the last look at Prolific failed, if it did.
    problem = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["remote_id"], condition=~Q(remote_id=""), name="prolific_study_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study} on Prolific"


class SubmissionStatus(models.TextChoices):
    """As Prolific writes them."""

    RESERVED = "RESERVED", "place reserved"
    ACTIVE = "ACTIVE", "active"
    TIMED_OUT = "TIMED-OUT", "timed out"
    AWAITING_REVIEW = "AWAITING REVIEW", "awaiting review"
    APPROVED = "APPROVED", "approved"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED", "partially approved"
    RETURNED = "RETURNED", "returned"
    REJECTED = "REJECTED", "rejected"
    SCREENED_OUT = "SCREENED OUT", "screened out"


class Submission(models.Model):
    """What Prolific last said of an assignment's submission. It holds no id: that is the
    assignment's, and is erased there."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="submission"
    )
    status = models.CharField(max_length=18, choices=SubmissionStatus.choices)
    # When it took that status, by Prolific's clock: an event that is older changes nothing.
    status_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=SubmissionStatus.values), name="submission_status_known"
            )
        ]

    def __str__(self) -> str:
        return f"submission of assignment {self.assignment_id}: {self.status}"
