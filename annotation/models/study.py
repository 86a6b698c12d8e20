"""The experiment: studies, and what their outcomes pay."""

import secrets
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from annotation.models.benchmark import Benchmark


class Channel(models.Model):
    """Channels are data: a new platform needs no code."""

    slug = models.SlugField("short name", max_length=60, unique=True)
    name = models.CharField(max_length=100)
    person_param = models.CharField(
        "parameter of the person",
        max_length=60,
        blank=True,
        help_text="URL parameter with the person's id. Leave empty to give each browser a new id.",
    )
    study_param = models.CharField("parameter of the study", max_length=60, blank=True)
    submission_param = models.CharField(
        "parameter of the submission",
        max_length=60,
        blank=True,
        help_text="URL parameter with the submission's id, if the platform has one.",
    )
    signature_param = models.CharField(
        "parameter of the signature",
        max_length=60,
        blank=True,
        help_text="URL parameter with the platform's signature, if it signs its links.",
    )
    signature_secret = models.CharField("secret of the signature", max_length=200, blank=True)
    link_query = models.CharField(
        "end of the link",
        max_length=300,
        blank=True,
        help_text="What follows the “?” in the link that a researcher gives the platform.",
    )
    completion_url = models.CharField(
        "completion address",
        max_length=300,
        blank=True,
        help_text="Where a finished annotator goes; {code} stands for the completion code.",
    )
    invited_only = models.BooleanField(
        "invited people only",
        default=False,
        help_text="Personal links only; a study's open link is refused.",
    )
    is_simulated = models.BooleanField("simulated", default=False, editable=False)

    class Meta:
        ordering = ["name"]
        verbose_name = "channel"
        verbose_name_plural = "channels"

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.completion_url and "{code}" not in self.completion_url:
            raise ValidationError(
                {"completion_url": "Write {code} where the completion code belongs."}
            )
        if bool(self.signature_param) != bool(self.signature_secret):
            raise ValidationError("A signature needs both its parameter and its secret.")


def new_seed() -> int:
    return secrets.randbelow(2**31)


def new_token() -> str:
    return secrets.token_urlsafe(16)


class StudyState(models.TextChoices):
    DRAFT = "draft", "draft"
    OPEN = "open", "open"
    PAUSED = "paused", "paused"
    CLOSED = "closed", "closed"


class DropUnit(models.TextChoices):
    POINTS = "points", "points"
    SDS = "sds", "standard deviations"


# Expected for one example.
LEAST_SECONDS, MOST_SECONDS = 1, 3600


class Study(models.Model):
    slug = models.SlugField("short name", max_length=80, unique=True)
    title = models.CharField(max_length=200)
    benchmark = models.ForeignKey(
        Benchmark,
        on_delete=models.PROTECT,
        related_name="studies",
    )
    channel = models.ForeignKey(
        Channel,
        on_delete=models.PROTECT,
        related_name="studies",
    )
    # Simulated annotators alone work in it, and it can be thrown away whole. Set when it is made;
    # the database keeps it.
    is_rehearsal = models.BooleanField(default=False, editable=False)
    rehearses = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="rehearsals",
    )
    state = models.CharField(
        max_length=6,
        choices=StudyState.choices,
        default=StudyState.DRAFT,
        editable=False,
    )
    consent_text = models.TextField(blank=True)
    contact = models.CharField(
        max_length=200,
        blank=True,
        help_text="Who annotators can contact; shown on every page.",
    )
    hourly_rate = models.DecimalField(max_digits=8, decimal_places=2, default=12)
    currency = models.CharField(max_length=3, default="USD")
    # Only costs and reports know it; annotators are paid without it.
    platform_fee = models.DecimalField(
        "fee of the platform",
        max_digits=5,
        decimal_places=2,
        default=0,
        help_text="What the channel takes on top of the pay, in percent.",
    )

    # What a researcher expects who knows better than what others took on the same tasks.
    expected_seconds = models.FloatField(
        "expected seconds per example",
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_SECONDS), MaxValueValidator(MOST_SECONDS)],
        help_text="All that is paid in seconds, reading too, over the number of examples. "
        "Estimates of time and money go by it; leave it empty for what is usual. Nobody is "
        "paid by it.",
    )

    min_training_score = models.FloatField(
        "least training score",
        null=True,
        blank=True,
        help_text="Floor of the training S1, in percent. Leave empty for none.",
    )
    max_drop = models.FloatField(
        "largest drop",
        null=True,
        blank=True,
        help_text="How far below the group's mean is too far. Leave empty for none.",
    )
    drop_unit = models.CharField(
        "unit of the drop", max_length=6, choices=DropUnit.choices, default=DropUnit.POINTS
    )
    drop_group_size = models.PositiveSmallIntegerField(
        "people for the drop",
        default=5,
        help_text="The drop applies only once this many others have finished the training.",
    )

    margin = models.FloatField(
        default=0,
        help_text="In points of S1, set before the start: people and a system that differ by less "
        "are as good as one another. 0 means that only ahead and behind can be found.",
    )

    lease_minutes = models.PositiveIntegerField(
        "minutes that a place is kept",
        default=60,
        help_text="How long a place is kept for somebody who does nothing.",
    )
    expire_hours = models.PositiveIntegerField(
        "hours until it expires",
        default=24,
        help_text="After this many hours without a sign of life the work expires.",
    )
    idle_after_s = models.PositiveIntegerField(
        "seconds until idle",
        default=30,
        help_text="Seconds without a sign of life after which time counts as idle.",
    )
    item_cap_s = models.PositiveIntegerField(
        "cap for one example (s)",
        default=180,
        help_text="The most seconds paid for one example.",
    )
    reading_cap_s = models.PositiveIntegerField(
        "cap for reading (s)",
        default=300,
        help_text="The most seconds paid for the task description.",
    )
    reveal_cap_s = models.PositiveIntegerField(
        "cap for a right answer (s)",
        default=60,
        help_text="The most seconds paid for reading one gold answer.",
    )

    seed = models.PositiveBigIntegerField(default=new_seed)
    join_token = models.CharField(
        "token of the link", max_length=40, unique=True, default=new_token, editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Out of sight on the home page; everything else stays as it is.
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What was frozen at the start, with its checksums; the record of what was measured.
    frozen = models.JSONField("frozen content", default=dict, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "study"
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
            models.CheckConstraint(
                condition=Q(rehearses__isnull=True) | Q(is_rehearsal=True),
                name="study_rehearsal_of_another",
            ),
            models.CheckConstraint(
                condition=Q(archived_at__isnull=True) | Q(state="closed"),
                name="study_archived_once_closed",
            ),
            models.CheckConstraint(condition=Q(hourly_rate__gt=0), name="study_rate_positive"),
            models.CheckConstraint(condition=Q(platform_fee__gte=0), name="study_fee_not_negative"),
            models.CheckConstraint(
                condition=Q(min_training_score__isnull=True)
                | Q(min_training_score__gte=0, min_training_score__lte=100),
                name="study_floor_in_percent",
            ),
            models.CheckConstraint(
                condition=Q(max_drop__isnull=True) | Q(max_drop__gt=0), name="study_drop_positive"
            ),
            models.CheckConstraint(
                condition=Q(margin__gte=0, margin__lte=100), name="study_margin_in_points"
            ),
            models.CheckConstraint(
                condition=Q(drop_group_size__gte=2), name="study_drop_group_of_two"
            ),
            models.CheckConstraint(
                condition=Q(expected_seconds__isnull=True) | Q(expected_seconds__gt=0),
                name="study_expected_seconds_positive",
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

    @property
    def is_closed(self) -> bool:
        return self.state == StudyState.CLOSED

    @property
    def sends_until(self) -> datetime | None:
        """Until when the page that somebody had before them at the closing may still be sent."""
        return self.closed_at + timedelta(seconds=self.item_cap_s) if self.closed_at else None

    def is_over(self, at: datetime) -> bool:
        """Closed, and nothing may be sent any more."""
        return self.is_closed and (self.sends_until is None or at > self.sends_until)


class Outcome(models.TextChoices):
    COMPLETED = "completed", "completed"
    SCREENED_OUT = "screened_out", "screened out"
    WITHDRAWN = "withdrawn", "withdrawn"
    EXPIRED = "expired", "expired"
    DISPLACED = "displaced", "displaced"


class JoinAnswer(models.TextChoices):
    """What a join may be answered with instead of an assignment; only counted."""

    DECLINED = "declined", "declined"
    FULL = "full", "full"


class OutcomeRule(models.Model):
    """The completion code of one outcome, or of a join without an assignment, and what it pays."""

    study = models.ForeignKey(
        Study,
        on_delete=models.CASCADE,
        related_name="outcome_rules",
    )
    outcome = models.CharField(max_length=12, choices=[*Outcome.choices, *JoinAnswer.choices])
    code = models.CharField(max_length=40)
    pays_time = models.BooleanField(
        "pays the time", default=True, help_text="Pay the time worked, at the study's rate."
    )
    minimum = models.DecimalField(
        max_digits=8,
        decimal_places=2,
        default=0,
        help_text="The minimum that this outcome pays, in the study's currency.",
    )
    # Of what is paid, the part that comes without a bonus.
    platform_pays = models.DecimalField(
        max_digits=8,
        decimal_places=2,
        default=0,
        help_text="What the platform itself pays whoever hands in this code.",
    )

    class Meta:
        ordering = ["study", "outcome"]
        verbose_name = "outcome"
        verbose_name_plural = "outcomes"
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
            models.CheckConstraint(
                condition=Q(platform_pays__gte=0), name="outcome_platform_pays_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_outcome_display()}: {self.code}"
