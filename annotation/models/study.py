"""The experiment: studies, and what their outcomes pay."""

import secrets
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from annotation.models import clock
from annotation.models.channel import Channel
from annotation.models.constraints import check, if_given, once
from annotation.models.errors import Refusal
from annotation.models.settings import WORDS, columns


def new_seed() -> int:
    return secrets.randbelow(2**31)


def new_token() -> str:
    return secrets.token_urlsafe(16)


class StudyState(models.TextChoices):
    DRAFT = "draft", "draft"
    OPEN = "open", "open"
    PAUSED = "paused", "paused"
    CLOSED = "closed", "closed"


class Shuffle(models.TextChoices):
    TEXT = "text", "texts, the questions about one text in a row"
    ITEM = "item", "all items"


class DropUnit(models.TextChoices):
    POINTS = "points", "points"
    SDS = "sds", "standard deviations"


# Each column of a study stands in one of three lists: what the row is, what the settings' form
# still changes once it has started, and the rules that it then keeps, beside its checksums. What
# needs some of them by name takes them from here; settings.toml says what can be set.
OF_THE_ROW = (
    *(*columns(changes="row"), "id", "is_rehearsal", "is_demonstration", "rehearses", "state"),
    *("join_token", "created_at", "started_at", "closed_at", "archived_at", "frozen", "source"),
)
NEVER_FROZEN, FROZEN_FIELDS = columns(changes="always"), columns()
SCREENING = columns("screening")
COMPARISON = ("question", *columns("comparison"), "ends_on", "clusters")
# Expected for one example.
LEAST_SECONDS, MOST_SECONDS = 1, 3600


class LabSettings(models.Model):
    """What a lab says alike of all its studies."""

    consent_text = models.TextField(blank=True, **WORDS["consent_text"])
    contact = models.CharField(max_length=200, blank=True, **WORDS["contact"])
    hourly_rate = models.DecimalField(max_digits=8, decimal_places=2, default=12)
    currency = models.CharField(max_length=3, default="USD")
    # Only costs and reports know it; annotators are paid without it.
    platform_fee = models.DecimalField(
        max_digits=5, decimal_places=2, default=0, **WORDS["platform_fee"]
    )
    min_training_score = models.FloatField(null=True, blank=True, **WORDS["min_training_score"])

    class Meta:
        abstract = True
        constraints = [
            check("%(class)s_rate_positive", hourly_rate__gt=0),
            check("%(class)s_fee_not_negative", platform_fee__gte=0),
            if_given("%(class)s_floor_in_percent", "min_training_score", gte=0, lte=100),
        ]


class LabDefaults(LabSettings):
    """What a new study of this person begins with."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lab_defaults"
    )

    def __str__(self) -> str:
        return f"lab defaults of {self.user}"


class Study(LabSettings):
    slug = models.SlugField(max_length=80, unique=True, **WORDS["slug"])
    title = models.CharField(max_length=200)
    benchmark = models.ForeignKey("Benchmark", on_delete=models.PROTECT, related_name="studies")
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="studies")
    # Simulated annotators alone work in it, and it can be thrown away whole. Set when it is made;
    # the database keeps it.
    is_rehearsal = models.BooleanField(default=False, editable=False)
    # Simulated annotators alone work in it, in its places, and it is kept as studies of people are.
    # Set when it is made; the database keeps it, and its files say it by its short name.
    is_demonstration = models.BooleanField(default=False, editable=False)
    rehearses = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="rehearsals",
    )
    state = models.CharField(
        max_length=6, choices=StudyState.choices, default=StudyState.DRAFT, editable=False
    )
    ending = models.TextField(blank=True, **WORDS["ending"])

    # What a researcher expects who knows better than what others took on the same tasks.
    expected_seconds = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_SECONDS), MaxValueValidator(MOST_SECONDS)],
        **WORDS["expected_seconds"],
    )
    max_drop = models.FloatField(null=True, blank=True, **WORDS["max_drop"])
    drop_unit = models.CharField(
        max_length=6, choices=DropUnit.choices, default=DropUnit.POINTS, **WORDS["drop_unit"]
    )
    drop_group_size = models.PositiveSmallIntegerField(default=5, **WORDS["drop_group_size"])
    min_check_score = models.FloatField(null=True, blank=True, **WORDS["min_check_score"])

    # No open crowd: the owner knows who takes part, and says who they are.
    known_people = models.CharField(max_length=300, blank=True, **WORDS["known_people"])
    question = models.CharField(max_length=300, blank=True, **WORDS["question"])
    # Names as runs have them, with a method behind it where one alone is meant; empty for all that
    # have a whole run on every task of the study when it closes.
    named_systems = models.JSONField(default=list, blank=True, **WORDS["named_systems"])
    margin = models.FloatField(default=0, **WORDS["margin"])
    margin_reason = models.CharField(max_length=300, blank=True, **WORDS["margin_reason"])
    ends_on = models.DateField(null=True, blank=True, **WORDS["ends_on"])
    close_when_full = models.BooleanField(default=False, **WORDS["close_when_full"])
    # By task the group whose values are clusters of items, in place of their contexts.
    clusters = models.JSONField(default=dict, blank=True, **WORDS["clusters"])

    # The word of the owner on items that no answer gets wholly right.
    unanswerable_reason = models.CharField(
        max_length=300, blank=True, **WORDS["unanswerable_reason"]
    )

    # The word of the owner on a rule that lets most guessers in.
    screening_reason = models.CharField(max_length=300, blank=True, **WORDS["screening_reason"])

    # Whoever comes later in the hour types the hour's code; see annotation/work/crowding.py.
    joins_an_hour = models.PositiveIntegerField(null=True, blank=True, **WORDS["joins_an_hour"])
    lease_minutes = models.PositiveIntegerField(default=60, **WORDS["lease_minutes"])
    expire_hours = models.PositiveIntegerField(default=24, **WORDS["expire_hours"])
    idle_after_s = models.PositiveIntegerField(default=30, **WORDS["idle_after_s"])
    item_cap_s = models.PositiveIntegerField(default=180, **WORDS["item_cap_s"])
    reading_cap_s = models.PositiveIntegerField(default=300, **WORDS["reading_cap_s"])
    reveal_cap_s = models.PositiveIntegerField(default=60, **WORDS["reveal_cap_s"])
    shuffle_by = models.CharField(
        max_length=4, choices=Shuffle.choices, default=Shuffle.TEXT, **WORDS["shuffle_by"]
    )
    shuffle_options = models.BooleanField(default=False, **WORDS["shuffle_options"])
    has_decoy = models.BooleanField(default=False, **WORDS["has_decoy"])
    seed = models.PositiveBigIntegerField(default=new_seed)
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    created_at = clock.WrittenAtField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Out of sight on the home page; everything else stays as it is.
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What was frozen at the start, with its checksums; the record of what was measured.
    frozen = models.JSONField(default=dict, blank=True, editable=False)
    # Where the answers are from, if others asked these people: whoever has it is from elsewhere,
    # closed from the beginning. Set when it is made; the database keeps it.
    source = models.TextField(blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [
            *LabSettings.Meta.constraints,
            check("study_state_known", state__in=StudyState.values),
            check(
                "study_started_once_open",
                Q(state="draft", started_at__isnull=True)
                | Q(~Q(state="draft"), started_at__isnull=False),
            ),
            check("study_rehearsal_of_another", Q(rehearses__isnull=True) | Q(is_rehearsal=True)),
            check(
                "study_demonstration_says_so",
                Q(is_demonstration=False) | Q(slug__startswith="demonstration"),
            ),
            check(
                "study_demonstration_no_rehearsal",
                Q(is_demonstration=False) | Q(is_rehearsal=False),
            ),
            check("study_archived_once_closed", Q(archived_at__isnull=True) | Q(state="closed")),
            check(
                "study_from_elsewhere_never_open", Q(source="") | Q(state__in=["draft", "closed"])
            ),
            if_given("study_check_floor_in_percent", "min_check_score", gte=0, lte=100),
            if_given("study_drop_positive", "max_drop", gt=0),
            check("study_margin_in_points", margin__gte=0, margin__lte=100),
            check("study_drop_group_of_two", drop_group_size__gte=2),
            if_given("study_expected_seconds_positive", "expected_seconds", gt=0),
            check(
                "study_times_positive",
                Q(lease_minutes__gte=1) & Q(idle_after_s__gte=5) & Q(item_cap_s__gte=1),
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def cluster_group(self, task: str) -> str:
        """The group declared for the items of a task; empty where their contexts cluster them."""
        group: str = self.clusters.get(task, "")
        return group

    @property
    def is_frozen(self) -> bool:
        return self.state != StudyState.DRAFT

    @property
    def is_open(self) -> bool:
        return self.state == StudyState.OPEN

    @property
    def is_simulated(self) -> bool:
        """Whether simulated annotators alone work in it."""
        return self.is_rehearsal or self.is_demonstration

    @property
    def is_closed(self) -> bool:
        return self.state == StudyState.CLOSED

    @property
    def sends_until(self) -> datetime | None:
        """The moment until which the page that somebody had before them at the closing may still be
        sent."""
        return self.closed_at + timedelta(seconds=self.item_cap_s) if self.closed_at else None

    @property
    def is_settled(self) -> bool:
        """Closed, and nobody can still send the last page."""
        return self.is_closed and not self.assignments.open().exists()

    def check_asked_here(self) -> None:
        """Raise Refusal for a study from elsewhere."""
        if self.source:
            raise Refusal(f"Others asked the people of “{self}”: only they can report it.")

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

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="outcome_rules")
    outcome = models.CharField(max_length=12, choices=[*Outcome.choices, *JoinAnswer.choices])
    code = models.CharField(max_length=40)
    pays_time = models.BooleanField("pays for the time", default=True)
    minimum = models.DecimalField("at least", max_digits=8, decimal_places=2, default=0)
    # What the platform itself pays whoever hands in this code: of what is paid, the part that comes
    # without a bonus. Empty until somebody says, which a platform's study needs before it starts.
    platform_pays = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)

    class Meta:
        ordering = ["study_id", "outcome"]
        verbose_name = "outcome"
        constraints = [
            once("outcome_rule_once", ["study", "outcome"]),
            once("outcome_code_distinct", ["study", "code"]),
            check("outcome_rule_known", outcome__in=[*Outcome.values, *JoinAnswer.values]),
            check("outcome_code_not_empty", ~Q(code="")),
            check("outcome_minimum_not_negative", minimum__gte=0),
            check(
                "outcome_training_never_unpaid",
                ~Q(outcome__in=["completed", "screened_out"]) | Q(pays_time=True),
            ),
            check("outcome_platform_pays_not_negative", platform_pays__gte=0),
        ]

    def __str__(self) -> str:
        return f"{self.get_outcome_display()}: {self.code}"

    @property
    def least(self) -> Decimal:
        """What whoever ends so gets at least: by the rule, or from the platform itself."""
        return max(self.minimum, self.platform_pays or Decimal(0))
