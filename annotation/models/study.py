"""The experiment: studies, and what their outcomes pay."""

import secrets
from datetime import datetime, timedelta

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.benchmark import Benchmark
from annotation.models.channel import Channel


def new_seed() -> int:
    return secrets.randbelow(2**31)


def new_token() -> str:
    return secrets.token_urlsafe(16)


class StudyState(models.TextChoices):
    DRAFT = "draft", _("draft")
    OPEN = "open", _("open")
    PAUSED = "paused", _("paused")
    CLOSED = "closed", _("closed")


class DropUnit(models.TextChoices):
    POINTS = "points", _("points")
    SDS = "sds", _("standard deviations")


# Expected for one example.
LEAST_SECONDS, MOST_SECONDS = 1, 3600


class Study(models.Model):
    slug = models.SlugField(_("short name"), max_length=80, unique=True)
    title = models.CharField(_("title"), max_length=200)
    benchmark = models.ForeignKey(
        Benchmark, on_delete=models.PROTECT, related_name="studies", verbose_name=_("benchmark")
    )
    channel = models.ForeignKey(
        Channel, on_delete=models.PROTECT, related_name="studies", verbose_name=_("channel")
    )
    # Simulated annotators alone work in it, and it can be thrown away whole. Set when it is made;
    # the database keeps it.
    is_rehearsal = models.BooleanField(_("is rehearsal"), default=False, editable=False)
    rehearses = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="rehearsals",
        verbose_name=_("rehearses"),
    )
    state = models.CharField(
        _("state"),
        max_length=6,
        choices=StudyState.choices,
        default=StudyState.DRAFT,
        editable=False,
    )
    consent_text = models.TextField(_("consent text"), blank=True)
    contact = models.CharField(
        _("contact"),
        max_length=200,
        blank=True,
        help_text=_("Who annotators can contact; shown on every page."),
    )
    hourly_rate = models.DecimalField(_("hourly rate"), max_digits=8, decimal_places=2, default=12)
    currency = models.CharField(_("currency"), max_length=3, default="USD")
    # Only costs and reports know it; annotators are paid without it.
    platform_fee = models.DecimalField(
        _("fee of the platform"),
        max_digits=5,
        decimal_places=2,
        default=0,
        help_text=_("What the channel takes on top of the pay, in percent."),
    )

    # What a researcher expects who knows better than what others took on the same tasks.
    expected_seconds = models.FloatField(
        _("expected seconds per example"),
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_SECONDS), MaxValueValidator(MOST_SECONDS)],
        help_text=_(
            "All that is paid in seconds, reading too, over the number of examples. Estimates of "
            "time and money go by it; leave it empty for what is usual. Nobody is paid by it."
        ),
    )

    min_training_score = models.FloatField(
        _("least training score"),
        null=True,
        blank=True,
        help_text=_("Floor of the training S1, in percent. Leave empty for none."),
    )
    max_drop = models.FloatField(
        _("largest drop"),
        null=True,
        blank=True,
        help_text=_("How far below the group's mean is too far. Leave empty for none."),
    )
    drop_unit = models.CharField(
        _("unit of the drop"), max_length=6, choices=DropUnit.choices, default=DropUnit.POINTS
    )
    drop_group_size = models.PositiveSmallIntegerField(
        _("people for the drop"),
        default=5,
        help_text=_("The drop applies only once this many others have finished the training."),
    )

    margin = models.FloatField(
        _("margin"),
        default=0,
        help_text=_(
            "In points of S1, set before the start: people and a system that differ by less are "
            "as good as one another. 0 means that only ahead and behind can be found."
        ),
    )

    lease_minutes = models.PositiveIntegerField(
        _("minutes that a place is kept"),
        default=60,
        help_text=_("How long a place is kept for somebody who does nothing."),
    )
    expire_hours = models.PositiveIntegerField(
        _("hours until it expires"),
        default=24,
        help_text=_("After this many hours without a sign of life the work expires."),
    )
    idle_after_s = models.PositiveIntegerField(
        _("seconds until idle"),
        default=30,
        help_text=_("Seconds without a sign of life after which time counts as idle."),
    )
    item_cap_s = models.PositiveIntegerField(
        _("cap for one example (s)"),
        default=180,
        help_text=_("The most seconds paid for one example."),
    )
    reading_cap_s = models.PositiveIntegerField(
        _("cap for reading (s)"),
        default=300,
        help_text=_("The most seconds paid for the task description."),
    )
    reveal_cap_s = models.PositiveIntegerField(
        _("cap for a right answer (s)"),
        default=60,
        help_text=_("The most seconds paid for reading one gold answer."),
    )

    seed = models.PositiveBigIntegerField(_("seed"), default=new_seed)
    join_token = models.CharField(
        _("token of the link"), max_length=40, unique=True, default=new_token, editable=False
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True, editable=False)
    # Out of sight on the home page; everything else stays as it is.
    archived_at = models.DateTimeField(_("archived at"), null=True, blank=True, editable=False)
    # What was frozen at the start, with its checksums; the record of what was measured.
    frozen = models.JSONField(_("frozen content"), default=dict, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = _("study")
        verbose_name_plural = _("studies")
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
    COMPLETED = "completed", _("completed")
    SCREENED_OUT = "screened_out", _("screened out")
    WITHDRAWN = "withdrawn", _("withdrawn")
    EXPIRED = "expired", _("expired")
    DISPLACED = "displaced", _("displaced")


class JoinAnswer(models.TextChoices):
    """What a join may be answered with instead of an assignment; only counted."""

    DECLINED = "declined", _("declined")
    FULL = "full", _("full")


class OutcomeRule(models.Model):
    """The completion code of one outcome, or of a join without an assignment, and what it pays."""

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="outcome_rules", verbose_name=_("study")
    )
    outcome = models.CharField(
        _("outcome"), max_length=12, choices=[*Outcome.choices, *JoinAnswer.choices]
    )
    code = models.CharField(_("code"), max_length=40)
    pays_time = models.BooleanField(
        _("pays the time"), default=True, help_text=_("Pay the time worked, at the study's rate.")
    )
    minimum = models.DecimalField(
        _("minimum"),
        max_digits=8,
        decimal_places=2,
        default=0,
        help_text=_("The minimum that this outcome pays, in the study's currency."),
    )
    # Of what is paid, the part that comes without a bonus.
    platform_pays = models.DecimalField(
        _("platform pays"),
        max_digits=8,
        decimal_places=2,
        default=0,
        help_text=_("What the platform itself pays whoever hands in this code."),
    )

    class Meta:
        ordering = ["study", "outcome"]
        verbose_name = _("outcome")
        verbose_name_plural = _("outcomes")
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
