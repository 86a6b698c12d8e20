"""The experiment: studies, their batches, recruitment channels and outcome rules."""

import secrets
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.benchmark import Benchmark, GoldVersion, ItemSet, Task


def new_seed() -> int:
    return secrets.randbelow(2**31)


def new_token() -> str:
    return secrets.token_urlsafe(16)


class Channel(models.Model):
    """Where annotators come from. Channels are data: a new platform needs no code."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=100)
    person_param = models.CharField(
        max_length=60,
        blank=True,
        help_text=_(
            "URL parameter with the person's id. Leave empty to give each browser a new id."
        ),
    )
    study_param = models.CharField(max_length=60, blank=True)
    submission_param = models.CharField(
        max_length=60,
        blank=True,
        help_text=_("URL parameter with the submission's id, if the platform has one."),
    )
    signature_param = models.CharField(
        max_length=60,
        blank=True,
        help_text=_("URL parameter with the platform's signature, if it signs its links."),
    )
    signature_secret = models.CharField(max_length=200, blank=True)
    link_query = models.CharField(
        max_length=300,
        blank=True,
        help_text=_("What follows the “?” in the link that a researcher gives the platform."),
    )
    completion_url = models.CharField(
        max_length=300,
        blank=True,
        help_text=_("Where a finished annotator goes; {code} stands for the completion code."),
    )
    invited_only = models.BooleanField(
        default=False, help_text=_("Personal links only; a study's open link is refused.")
    )
    is_simulated = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.completion_url and "{code}" not in self.completion_url:
            raise ValidationError(
                {"completion_url": _("Write {code} where the completion code belongs.")}
            )
        if bool(self.signature_param) != bool(self.signature_secret):
            raise ValidationError(_("A signature needs both its parameter and its secret."))


class StudyState(models.TextChoices):
    DRAFT = "draft", _("draft")
    OPEN = "open", _("open")
    PAUSED = "paused", _("paused")
    CLOSED = "closed", _("closed")


class DropUnit(models.TextChoices):
    POINTS = "points", _("points")
    SDS = "sds", _("standard deviations")


class Study(models.Model):
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="studies")
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="studies")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True
    )
    state = models.CharField(
        max_length=6, choices=StudyState.choices, default=StudyState.DRAFT, editable=False
    )
    consent_text = models.TextField(blank=True)
    contact = models.CharField(
        max_length=200, blank=True, help_text=_("Who annotators can contact; shown on every page.")
    )
    hourly_rate = models.DecimalField(max_digits=8, decimal_places=2, default=12)
    currency = models.CharField(max_length=3, default="USD")

    min_training_score = models.FloatField(
        null=True,
        blank=True,
        help_text=_("Floor of the training S1, in percent. Leave empty for none."),
    )
    max_drop = models.FloatField(
        null=True,
        blank=True,
        help_text=_("How far below the group's mean is too far. Leave empty for none."),
    )
    drop_unit = models.CharField(max_length=6, choices=DropUnit.choices, default=DropUnit.POINTS)
    drop_group_size = models.PositiveSmallIntegerField(
        default=5,
        help_text=_("The drop applies only once this many others have finished the training."),
    )

    lease_minutes = models.PositiveIntegerField(
        default=60, help_text=_("How long a place is kept for somebody who does nothing.")
    )
    expire_hours = models.PositiveIntegerField(
        default=24, help_text=_("After this many hours without a sign of life the work expires.")
    )
    idle_after_s = models.PositiveIntegerField(
        default=30, help_text=_("Seconds without a sign of life after which time counts as idle.")
    )
    item_cap_s = models.PositiveIntegerField(
        default=180, help_text=_("The most seconds paid for one example.")
    )
    reading_cap_s = models.PositiveIntegerField(
        default=300, help_text=_("The most seconds paid for the task description.")
    )
    reveal_cap_s = models.PositiveIntegerField(
        default=60, help_text=_("The most seconds paid for reading one gold answer.")
    )

    seed = models.PositiveBigIntegerField(default=new_seed)
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What was frozen at the start, with its checksums; the record of what was measured.
    frozen = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=StudyState.values), name="study_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state="draft", started_at__isnull=True)
                | Q(~Q(state="draft"), started_at__isnull=False),
                name="study_started_once_open",
            ),
            models.CheckConstraint(condition=Q(hourly_rate__gt=0), name="study_rate_positive"),
            models.CheckConstraint(
                condition=Q(min_training_score__isnull=True)
                | Q(min_training_score__gte=0, min_training_score__lte=100),
                name="study_floor_in_percent",
            ),
            models.CheckConstraint(
                condition=Q(max_drop__isnull=True) | Q(max_drop__gt=0), name="study_drop_positive"
            ),
            models.CheckConstraint(
                condition=Q(drop_group_size__gte=2), name="study_drop_group_of_two"
            ),
            models.CheckConstraint(
                condition=Q(lease_minutes__gte=1) & Q(idle_after_s__gte=5) & Q(item_cap_s__gte=1),
                name="study_times_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_frozen(self) -> bool:
        return self.state != StudyState.DRAFT

    @property
    def is_open(self) -> bool:
        return self.state == StudyState.OPEN


class Outcome(models.TextChoices):
    COMPLETED = "completed", _("completed")
    SCREENED_OUT = "screened_out", _("screened out")
    WITHDRAWN = "withdrawn", _("withdrawn")
    EXPIRED = "expired", _("expired")
    DISPLACED = "displaced", _("displaced")
    DECLINED = "declined", _("declined")


class JoinAnswer(models.TextChoices):
    """What a join may be answered with, besides an assignment's outcomes."""

    FULL = "full", _("full")


class OutcomeRule(models.Model):
    """The completion code of one outcome (or of a full study), and what it pays."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="outcome_rules")
    outcome = models.CharField(max_length=12, choices=[*Outcome.choices, *JoinAnswer.choices])
    code = models.CharField(max_length=40)
    pays_time = models.BooleanField(
        default=True, help_text=_("Pay the time worked, at the study's rate.")
    )
    minimum = models.DecimalField(
        max_digits=8,
        decimal_places=2,
        default=0,
        help_text=_("The minimum that this outcome pays, in the study's currency."),
    )

    class Meta:
        ordering = ["study", "outcome"]
        constraints = [
            models.UniqueConstraint(fields=["study", "outcome"], name="outcome_rule_once"),
            models.UniqueConstraint(fields=["study", "code"], name="outcome_code_distinct"),
            models.CheckConstraint(
                condition=Q(outcome__in=[*Outcome.values, *JoinAnswer.values]),
                name="outcome_rule_known",
            ),
            models.CheckConstraint(condition=~Q(code=""), name="outcome_code_not_empty"),
            models.CheckConstraint(
                condition=Q(minimum__gte=0), name="outcome_minimum_not_negative"
            ),
            models.CheckConstraint(
                condition=~Q(outcome__in=["completed", "screened_out"]) | Q(pays_time=True),
                name="outcome_training_never_unpaid",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_outcome_display()}: {self.code}"


class Batch(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="batches")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="batches")
    training_set = models.ForeignKey(
        ItemSet, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    test_set = models.ForeignKey(ItemSet, on_delete=models.PROTECT, related_name="+")
    chain = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("The run of shot sets that truly nest; see the audit.")
    )
    wanted = models.PositiveIntegerField(default=3, help_text=_("Number of annotators."))
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    # Copied when the study starts, as a record of what was shown.
    description = models.TextField(blank=True, editable=False)
    gold_version = models.ForeignKey(
        GoldVersion, on_delete=models.PROTECT, null=True, blank=True, editable=False
    )

    class Meta:
        ordering = ["study", "task", "training_set__shots", "training_set__split", "id"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(
                fields=["study", "training_set", "test_set"], name="batch_once_in_study"
            ),
            models.UniqueConstraint(
                fields=["study", "test_set"],
                condition=Q(training_set__isnull=True),
                name="batch_zero_shot_once_in_study",
            ),
            models.CheckConstraint(condition=Q(wanted__gte=1), name="batch_wants_somebody"),
        ]

    def __str__(self) -> str:
        return f"{self.task} · {self.label}"

    @property
    def shots(self) -> int:
        return self.training_set.shots or 0 if self.training_set else 0

    @property
    def split(self) -> int | None:
        return self.training_set.split if self.training_set else None

    @property
    def label(self) -> str:
        """Its episode, or its shots and split."""
        if self.test_set.episode is not None:
            return f"episode {self.test_set.episode}"
        if self.training_set is None:
            return "0 shots"
        return f"{self.shots} shots, split {self.split}"

    def clean(self) -> None:
        errors: dict[str, Any] = {}
        for field, role in (("training_set", "training"), ("test_set", "test")):
            chosen = getattr(self, field, None)
            if chosen is None:
                continue
            if chosen.role != role:
                errors[field] = _("This is not a %(role)s set.") % {"role": role}
            elif self.task_id and chosen.task_id != self.task_id:
                errors[field] = _("This set belongs to another task.")
        if errors:
            raise ValidationError(errors)


class Invitation(models.Model):
    """A personal link for an invited person."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    external_id = models.CharField(max_length=200)
    token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="invitation_once")
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.external_id}"
