"""What people do: annotators, their assignments and places, and their judgements."""

import secrets
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.benchmark import Example, Role
from annotation.models.study import Batch, Channel, Outcome, Study, new_token


def new_pseudonym() -> str:
    # No vowels and no look-alikes: neither a word nor a misreading.
    return "".join(secrets.choice("BCDFGHJKLMNPQRSTVWXZ23456789") for _ in range(8))


class Annotator(models.Model):
    """One person, known by channel and external id.

    The keyed hash finds the person again; the id itself can be erased without losing
    the rule that nobody works on a task twice.
    """

    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="annotators")
    identity_hash = models.CharField(max_length=64)
    external_id = models.CharField(max_length=200, blank=True)
    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    created_at = models.DateTimeField(auto_now_add=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["channel", "identity_hash"], name="annotator_once")
        ]

    def __str__(self) -> str:
        return self.pseudonym


class WorkState(models.TextChoices):
    CONSENT = "consent", _("consent")
    DESCRIPTION = "description", _("description")
    ANSWERING = "answering", _("answering")
    REVEALED = "revealed", _("revealed")
    FINISHED = "finished", _("finished")


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def open(self) -> Self:
        return self.filter(outcome="")

    def completed(self) -> Self:
        return self.filter(outcome="completed")

    def counted(self) -> Self:
        """Completed and not excluded."""
        return self.completed().filter(exclusion__isnull=True)

    def of_people(self) -> Self:
        return self.filter(annotator__channel__is_simulated=False)

    def simulated(self) -> Self:
        return self.filter(annotator__channel__is_simulated=True)


class Assignment(models.Model):
    """One annotator's place in one batch, and where in it they are."""

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="assignments")
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="assignments")
    # Copied from the batch: a constraint can only compare columns of this row.
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="assignments")
    exposure_key = models.CharField(max_length=64)
    submission_id = models.CharField(max_length=200, blank=True)
    resume_token = models.CharField(max_length=40, unique=True, default=new_token)
    order_seed = models.CharField(max_length=32)

    state = models.CharField(max_length=11, choices=WorkState.choices, default=WorkState.CONSENT)
    # Counts through training and test: 0 … training − 1, then the test.
    step = models.PositiveIntegerField(default=0)
    # Empty while open, never null: so the exposure constraint compares plain values.
    outcome = models.CharField(max_length=12, choices=Outcome.choices, blank=True, default="")

    joined_at = models.DateTimeField()
    consented_at = models.DateTimeField(null=True, blank=True)
    # When the present page was shown to the annotator, by the server's clock.
    shown_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField()
    training_ended_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    paid_ms = models.PositiveBigIntegerField(default=0)
    reveal_ms = models.PositiveBigIntegerField(default=0)
    amount = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    training_score = models.FloatField(null=True, blank=True)
    # The basis of the one decision at the end of training (annotation/work/qualifying.py).
    screening = models.JSONField(default=dict, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["annotator", "exposure_key"],
                condition=~Q(outcome="declined"),
                name="assignment_exposed_once",
            ),
            models.UniqueConstraint(
                fields=["annotator", "study"],
                condition=Q(outcome=""),
                name="assignment_one_open_in_study",
            ),
            models.CheckConstraint(
                condition=Q(state="finished", outcome__in=Outcome.values)
                | Q(~Q(state="finished"), outcome=""),
                name="assignment_finished_by_outcome",
            ),
            models.CheckConstraint(
                condition=Q(state__in=WorkState.values), name="assignment_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="consent") | Q(state="finished") | Q(consented_at__isnull=False),
                name="assignment_works_by_consent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in batch {self.batch_id}"

    @property
    def is_finished(self) -> bool:
        return self.state == WorkState.FINISHED

    @property
    def is_simulated(self) -> bool:
        return self.annotator.channel.is_simulated


class PlaceQuerySet(models.QuerySet["Place"]):
    def claimable(self, at: datetime) -> Self:
        """Empty, or held under a lease that has lapsed."""
        return self.filter(kept=False).filter(Q(holder__isnull=True) | Q(lease_until__lt=at))

    def taken(self, at: datetime) -> Self:
        return self.filter(Q(kept=True) | Q(holder__isnull=False, lease_until__gte=at))


class Place(models.Model):
    """One of the wanted places of a batch. A join or a submit moves it by a conditional
    update of this one row, so that two people can never hold it."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="places")
    number = models.PositiveIntegerField()
    # Simulated annotators have places of their own and never take a person's.
    simulated = models.BooleanField(default=False)
    holder = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, null=True, blank=True, related_name="place"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    # Finished work keeps its place for good.
    kept = models.BooleanField(default=False)

    objects = PlaceQuerySet.as_manager()

    class Meta:
        ordering = ["batch", "simulated", "number"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "simulated", "number"], name="place_once"),
            models.CheckConstraint(
                condition=Q(kept=False) | Q(holder__isnull=False), name="place_kept_by_somebody"
            ),
        ]

    def __str__(self) -> str:
        return f"place {self.number} of batch {self.batch_id}"


class JudgementQuerySet(models.QuerySet["Judgement"]):
    def of_training(self) -> Self:
        return self.filter(role="training")

    def of_test(self) -> Self:
        return self.filter(role="test")


class Judgement(models.Model):
    """One submitted answer. Final: the database refuses to change or delete it.

    It has no score: S1 follows from the answer and a scoring version.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgements")
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="judgements")
    role = models.CharField(max_length=8, choices=Role.choices)
    step = models.PositiveIntegerField()
    answer = models.JSONField(help_text="List of strings; empty for none.")
    spans = models.JSONField(
        default=list, help_text="[segment, start, end] in code points, where pieces were selected."
    )
    shown_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    paid_ms = models.PositiveIntegerField()
    # The browser's own account: beside the server's, never instead of it.
    browser_ms = models.PositiveIntegerField(null=True)
    first_action_ms = models.PositiveIntegerField(null=True)
    active_ms = models.PositiveIntegerField(null=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        ordering = ["assignment", "step"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "example"], name="judgement_once"),
            models.UniqueConstraint(fields=["assignment", "step"], name="judgement_step_once"),
            models.CheckConstraint(
                condition=Q(submitted_at__gte=F("shown_at")), name="judgement_shown_first"
            ),
        ]

    def __str__(self) -> str:
        return f"judgement {self.step} of assignment {self.assignment_id}"


class Exclusion(models.Model):
    """A researcher's mark on an assignment: its answers count only "with excluded"."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.PROTECT, related_name="exclusion"
    )
    reason = models.TextField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(reason=""), name="exclusion_has_reason")]

    def __str__(self) -> str:
        return f"exclusion of assignment {self.assignment_id}"
