"""The experiment: studies, and what their outcomes pay."""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from annotation.models.constraints import check, once


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

    def __str__(self) -> str:
        return self.name

    def completion_link(self, code: str) -> str:
        """Where a finished annotator goes; empty where the channel has no such address."""
        return self.completion_url.replace("{code}", code)

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


class Shuffle(models.TextChoices):
    TEXT = "text", "texts, the questions about one text in a row"
    ITEM = "item", "all items"


class DropUnit(models.TextChoices):
    POINTS = "points", "points"
    SDS = "sds", "standard deviations"


# What the settings' form still changes once a study has started.
NEVER_FROZEN = ("contact", "platform_fee", "expected_seconds")
# Expected for one example.
LEAST_SECONDS, MOST_SECONDS = 1, 3600


class Study(models.Model):
    slug = models.SlugField(
        "short name", max_length=80, unique=True, help_text="Used in commands and addresses."
    )
    title = models.CharField(max_length=200)
    benchmark = models.ForeignKey("Benchmark", on_delete=models.PROTECT, related_name="studies")
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="studies")
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
        max_length=6, choices=StudyState.choices, default=StudyState.DRAFT, editable=False
    )
    consent_text = models.TextField(
        blank=True,
        help_text="Annotators see it as Markdown, as they see the description of a task: “- ” "
        "begins an entry of a list, two stars make **bold**, an empty line begins a paragraph. "
        "HTML and pictures are not shown. A line “[de]” begins the text for readers of German.",
    )
    contact = models.CharField(
        max_length=200, blank=True, help_text="Who annotators can contact; shown on every page."
    )
    hourly_rate = models.DecimalField(max_digits=8, decimal_places=2, default=12)
    currency = models.CharField(max_length=3, default="USD")
    # Only costs and reports know it; annotators are paid without it.
    platform_fee = models.DecimalField(
        "platform fee on top, in percent", max_digits=5, decimal_places=2, default=0
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
        "floor, in percent", null=True, blank=True, help_text="Of the training S1; empty for none."
    )
    max_drop = models.FloatField(
        "drop below the group's mean", null=True, blank=True, help_text="Leave empty for none."
    )
    drop_unit = models.CharField(
        "in", max_length=6, choices=DropUnit.choices, default=DropUnit.POINTS
    )
    drop_group_size = models.PositiveSmallIntegerField(
        "size of the group",
        default=5,
        help_text="The drop applies only once this many others have finished the training.",
    )

    min_check_score = models.FloatField(
        "least share of the checks, in percent",
        null=True,
        blank=True,
        help_text="Whoever scores less on the checks of their batch goes no further, and is paid.",
    )

    # No open crowd: the owner knows who takes part, and says who they are.
    known_people = models.CharField(
        "known people",
        max_length=300,
        blank=True,
        help_text="Only if you know everybody who can come in: who they are, such as “six trained "
        "linguists of our group”. It then takes no floor for a sure verdict. Leave it empty for "
        "an open crowd.",
    )

    question = models.CharField(
        "research question", max_length=300, blank=True, help_text="In a sentence; may be empty."
    )
    # Names as runs have them, with a method behind it where one alone is meant; empty for all that
    # have a whole run on every task of the study when it closes.
    named_systems = models.JSONField("systems to compare with", default=list, blank=True)
    margin = models.FloatField(
        "margin, in points",
        default=0,
        help_text="In points of S1, set before the start: people and a system that differ by less "
        "are as good as one another. 0 means that only ahead and behind can be found.",
    )

    margin_reason = models.CharField(
        "reason of the margin",
        max_length=300,
        blank=True,
        help_text="In a sentence: why a smaller difference does not matter.",
    )

    # The word of the owner on items that no answer gets wholly right.
    unanswerable_reason = models.CharField(
        "why unanswerable items stay",
        max_length=300,
        blank=True,
        help_text="Only where the start names test items that nobody can get wholly right, such as "
        "“part of the published test set, to compare with published scores”; for the report.",
    )

    lease_minutes = models.PositiveIntegerField(
        "minutes that a place is kept",
        default=60,
        help_text="How long a place is kept for somebody who does nothing.",
    )
    expire_hours = models.PositiveIntegerField(
        "hours until work expires",
        default=24,
        help_text="After this many hours without a sign of life the work expires.",
    )
    idle_after_s = models.PositiveIntegerField(
        "seconds until time counts as idle", default=30, help_text="Without a sign of life."
    )
    item_cap_s = models.PositiveIntegerField("seconds for one example, at most", default=180)
    reading_cap_s = models.PositiveIntegerField(
        "seconds for the task description, at most", default=300
    )
    reveal_cap_s = models.PositiveIntegerField("seconds for one gold answer, at most", default=60)

    shuffle_by = models.CharField(
        "shuffle", max_length=4, choices=Shuffle.choices, default=Shuffle.TEXT
    )
    shuffle_options = models.BooleanField(
        "shuffle the options of an item",
        default=False,
        help_text="Where items have options of their own: each annotator sees them in another "
        "order. Else as in the file.",
    )
    seed = models.PositiveBigIntegerField(default=new_seed)
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Out of sight on the home page; everything else stays as it is.
    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What was frozen at the start, with its checksums; the record of what was measured.
    frozen = models.JSONField(default=dict, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "studies"
        constraints = [
            check("study_state_known", state__in=StudyState.values),
            check(
                "study_started_once_open",
                Q(state="draft", started_at__isnull=True)
                | Q(~Q(state="draft"), started_at__isnull=False),
            ),
            check("study_rehearsal_of_another", Q(rehearses__isnull=True) | Q(is_rehearsal=True)),
            check("study_archived_once_closed", Q(archived_at__isnull=True) | Q(state="closed")),
            check("study_rate_positive", hourly_rate__gt=0),
            check("study_fee_not_negative", platform_fee__gte=0),
            check(
                "study_floor_in_percent",
                Q(min_training_score__isnull=True)
                | Q(min_training_score__gte=0, min_training_score__lte=100),
            ),
            check(
                "study_check_floor_in_percent",
                Q(min_check_score__isnull=True)
                | Q(min_check_score__gte=0, min_check_score__lte=100),
            ),
            check("study_drop_positive", Q(max_drop__isnull=True) | Q(max_drop__gt=0)),
            check("study_margin_in_points", margin__gte=0, margin__lte=100),
            check("study_drop_group_of_two", drop_group_size__gte=2),
            check(
                "study_expected_seconds_positive",
                Q(expected_seconds__isnull=True) | Q(expected_seconds__gt=0),
            ),
            check(
                "study_times_positive",
                Q(lease_minutes__gte=1) & Q(idle_after_s__gte=5) & Q(item_cap_s__gte=1),
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

    @property
    def is_settled(self) -> bool:
        """Closed, and nobody can still send the last page."""
        return self.is_closed and not self.assignments.open().exists()

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
    # without a bonus.
    platform_pays = models.DecimalField(max_digits=8, decimal_places=2, default=0)

    class Meta:
        ordering = ["study", "outcome"]
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


class Pool(models.Model):
    """A named group of a study's people, with a link of its own: nobody is in two of them, and in
    every comparison it has rows of its own."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="pools")
    slug = models.SlugField("short name", max_length=40)
    name = models.CharField(max_length=80)
    about = models.CharField(
        "who they are",
        max_length=300,
        blank=True,
        help_text="And how they were found, such as the filter of the platform; for the report.",
    )
    min_check_score = models.FloatField(
        "least share of the checks, in percent",
        null=True,
        blank=True,
        help_text="Of its batches, in place of the study's: a qualification test, of which "
        "whoever scores less goes no further, and is paid.",
    )
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)

    class Meta:
        ordering = ["study", "id"]
        constraints = [
            once("pool_slug_once", ["study", "slug"]),
            once("pool_name_once", ["study", "name"]),
            check(
                "pool_floor_in_percent",
                Q(min_check_score__isnull=True)
                | Q(min_check_score__gte=0, min_check_score__lte=100),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Batch(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="batches")
    task = models.ForeignKey("Task", on_delete=models.PROTECT, related_name="batches")
    training_set = models.ForeignKey(
        "ItemSet", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    test_set = models.ForeignKey("ItemSet", on_delete=models.PROTECT, related_name="+")
    # Answered before all else, without feedback: who scores too little on them goes no further.
    check_set = models.ForeignKey(
        "ItemSet",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="checks",
        help_text="A training set of ten items or more that no batch of this task trains with, or "
        "one of another task: whoever scores below the study's least share on it goes no further.",
    )
    chain = models.PositiveIntegerField(
        null=True, blank=True, help_text="The run of shot sets that truly nest; see the audit."
    )
    # Of a study that has pools, one of them.
    pool = models.ForeignKey(
        Pool, on_delete=models.RESTRICT, null=True, blank=True, related_name="batches"
    )
    wanted = models.PositiveIntegerField("number of annotators", default=3)
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    # Copied when the study starts, as a record of what was shown.
    description = models.TextField(blank=True, editable=False)
    gold_version = models.ForeignKey(
        "GoldVersion", on_delete=models.PROTECT, null=True, blank=True, editable=False
    )
    check_description = models.TextField(blank=True, editable=False)
    check_gold_version = models.ForeignKey(
        "GoldVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )

    class Meta:
        ordering = ["study", "task", "training_set__shots", "training_set__split", "id"]
        verbose_name_plural = "batches"
        constraints = [
            once(
                "batch_once_in_study",
                ["study", "training_set", "test_set"],
                condition=Q(pool__isnull=True),
            ),
            once(
                "batch_zero_shot_once_in_study",
                ["study", "test_set"],
                condition=Q(training_set__isnull=True, pool__isnull=True),
            ),
            once("batch_once_in_pool", ["pool", "training_set", "test_set"]),
            once(
                "batch_zero_shot_once_in_pool",
                ["pool", "test_set"],
                condition=Q(training_set__isnull=True),
            ),
            check("batch_wants_somebody", wanted__gte=1),
        ]

    def __str__(self) -> str:
        return " · ".join(filter(None, [str(self.task), self.label, self.pool_name]))

    @property
    def pool_name(self) -> str:
        return self.pool.name if self.pool else ""

    @property
    def least_check_score(self) -> float | None:
        """In percent, of its checks: its pool's where that has one."""
        own = self.pool.min_check_score if self.pool else None
        return self.study.min_check_score if own is None else own

    @property
    def condition(self) -> str:
        """That of its cell in words: such as “10 shots”, or “0 shots, Nurses”."""
        return ", ".join(filter(None, [self.shots_text, self.pool_name]))

    @property
    def shots(self) -> int:
        return self.training_set.shots or 0 if self.training_set else 0

    @property
    def split(self) -> int | None:
        return self.training_set.split if self.training_set else None

    @property
    def set_ids(self) -> list[int]:
        sets = (self.check_set_id, self.training_set_id, self.test_set_id)
        return [pk for pk in sets if pk is not None]

    @property
    def exposure_keys(self) -> set[str]:
        """What its people see: the content of its task, and of that of its checks."""
        tasks = [self.task, *([self.check_set.task] if self.check_set else [])]
        return {task.exposure_key for task in tasks}

    @property
    def shots_text(self) -> str:
        """Whoever was checked on the task itself has seen some of it."""
        if self.training_set is None and self.check_set and self.check_set.task_id == self.task_id:
            return f"0 shots after {self.check_set.items.count()} checks"
        return f"{self.shots} shots"

    @property
    def label(self) -> str:
        """Its episode, or its shots and split."""
        if self.test_set.episode is not None:
            return f"episode {self.test_set.episode}"
        if self.training_set is None:
            return self.shots_text
        return f"{self.shots_text}, split {self.split}"

    def clean(self) -> None:
        errors: dict[str, Any] = {}
        for field, role in (("training_set", "training"), ("test_set", "test")):
            chosen = getattr(self, field, None)
            if chosen is None:
                continue
            if chosen.role != role:
                errors[field] = f"This is not a {role} set."
            elif self.task_id and chosen.task_id != self.task_id:
                errors[field] = "This set belongs to another task."
        if self.pool and self.pool.study_id != self.study_id:
            errors["pool"] = "This pool belongs to another study."
        checks = self.check_set
        if checks and self.task_id and checks.task.benchmark_id != self.task.benchmark_id:
            errors["check_set"] = "This set belongs to another benchmark."
        if errors:
            raise ValidationError(errors)


class Invitation(models.Model):
    """A personal link for an invited person."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    external_id = models.CharField(max_length=200)
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, null=True, blank=True)
    token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [once("invitation_once", ["study", "external_id"])]

    def __str__(self) -> str:
        return f"{self.study}: {self.external_id}"
