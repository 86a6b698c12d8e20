"""Annotators and their assignments: what one of them does in one batch."""

import secrets
from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.batch import Batch
from annotation.models.study import Channel, JoinAnswer, Outcome, Study, new_token


def new_pseudonym() -> str:
    # No vowels and no look-alikes: neither a word nor a misreading.
    return "".join(secrets.choice("BCDFGHJKLMNPQRSTVWXZ23456789") for _ in range(8))


class Annotator(models.Model):
    """One person, known by channel and external id.

    The keyed hash finds the person again; the id itself can be erased without losing
    the rule that nobody works on a task twice.
    """

    channel = models.ForeignKey(
        Channel,
        on_delete=models.PROTECT,
        related_name="annotators",
    )
    identity_hash = models.CharField("hash of the identity", max_length=64)
    external_id = models.CharField(max_length=200, blank=True)
    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    created_at = models.DateTimeField(auto_now_add=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        verbose_name = "annotator"
        verbose_name_plural = "annotators"
        constraints = [
            models.UniqueConstraint(fields=["channel", "identity_hash"], name="annotator_once")
        ]

    def __str__(self) -> str:
        return self.pseudonym


class WorkState(models.TextChoices):
    """Where an assignment stands; it begins with the consent, so there is none before."""

    # What is read before answering: the task description at step 0, and after the training what
    # is different in the test.
    DESCRIPTION = "description", "description"
    ANSWERING = "answering", "answering"
    REVEALED = "revealed", "revealed"
    FINISHED = "finished", "finished"


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
    """One annotator's work on one batch, and how far it has got."""

    annotator = models.ForeignKey(
        Annotator,
        on_delete=models.PROTECT,
        related_name="assignments",
    )
    batch = models.ForeignKey(
        Batch,
        on_delete=models.PROTECT,
        related_name="assignments",
    )
    # Copied from the batch: a constraint can only compare columns of this row.
    study = models.ForeignKey(
        Study,
        on_delete=models.PROTECT,
        related_name="assignments",
    )
    exposure_key = models.CharField(max_length=64)
    submission_id = models.CharField(max_length=200, blank=True)
    # By this the browser that sent the consent is known again, if its response got lost.
    browser_hash = models.CharField(
        "hash of the browser", max_length=64, blank=True, default="", db_index=True
    )
    resume_token = models.CharField(
        "token of the personal link", max_length=40, unique=True, default=new_token
    )
    # When a researcher last handed out a new resume link, whose receiver only they can know.
    resume_renewed_at = models.DateTimeField("new personal link at", null=True, blank=True)
    order_seed = models.CharField("seed of the order", max_length=32)

    state = models.CharField(
        max_length=11, choices=WorkState.choices, default=WorkState.DESCRIPTION
    )
    # Counts through training and test: 0 … training − 1, then the test.
    step = models.PositiveIntegerField(default=0)
    # Empty while open, never null: so the exposure constraint compares plain values. Nobody is
    # given `declined` any more: a few rows have it from before the consent made the assignment.
    outcome = models.CharField(
        max_length=12,
        choices=[*Outcome.choices, JoinAnswer.choices[0]],
        blank=True,
        default="",
    )

    # Expired because the study was closed, not for want of a sign of life.
    ended_by_closing = models.BooleanField(default=False)

    joined_at = models.DateTimeField()
    consented_at = models.DateTimeField(null=True, blank=True)
    # When the present page was shown to the annotator, by the server's clock.
    shown_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField("last seen at")
    training_ended_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    paid_ms = models.PositiveBigIntegerField("paid time (ms)", default=0)
    reveal_ms = models.PositiveBigIntegerField("time on right answers (ms)", default=0)
    amount = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)
    training_score = models.FloatField(null=True, blank=True)
    # The basis of the one decision at the end of training (annotation/work/qualifying.py).
    screening = models.JSONField("basis of the screening", default=dict, blank=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = "assignment"
        verbose_name_plural = "assignments"
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
                condition=Q(state="finished", outcome__in=[*Outcome.values, JoinAnswer.DECLINED])
                | Q(~Q(state="finished"), outcome=""),
                name="assignment_finished_by_outcome",
            ),
            models.CheckConstraint(
                condition=Q(state__in=WorkState.values), name="assignment_state_known"
            ),
            models.CheckConstraint(
                # Those that ended without it are from before the consent made the assignment.
                condition=Q(state="finished") | Q(consented_at__isnull=False),
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


class DeviceCode(models.Model):
    """A code that lets one more device go on with an assignment: the newest alone, once, and soon.

    What is typed there is kept nowhere, only its keyed hash.
    """

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="device_code"
    )
    code_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"code for a device of assignment {self.assignment_id}"


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


class IdentityKey(models.Model):
    """The one key of this database, by its fingerprint: with another key nobody is found again."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    fingerprint = models.CharField(max_length=64)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="identity_key_once")]

    def __str__(self) -> str:
        return self.fingerprint[:8]


class JoinCount(models.Model):
    """How often a study's join was answered without an assignment: a number, and nobody in it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="join_counts")
    hour = models.DateTimeField()
    answer = models.CharField(max_length=12, choices=JoinAnswer.choices)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study", "hour", "answer"]
        constraints = [
            models.UniqueConstraint(fields=["study", "hour", "answer"], name="join_count_once"),
            models.CheckConstraint(
                condition=Q(answer__in=JoinAnswer.values), name="join_count_answer_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count} {self.answer} at {self.hour:%Y-%m-%d %H:00}"


class PlaceQuerySet(models.QuerySet["Place"]):
    def claimable(self, at: datetime) -> Self:
        """Empty, or held under a lease that has lapsed."""
        return self.filter(kept=False).filter(Q(holder__isnull=True) | Q(lease_until__lt=at))

    def taken(self, at: datetime) -> Self:
        return self.filter(Q(kept=True) | Q(holder__isnull=False, lease_until__gte=at))


class Place(models.Model):
    """One of the wanted places of a batch. A join or a submit takes or renews it by a
    conditional update of this one row, so that two people can never hold it."""

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
