"""What systems did: stored runs with their predictions."""

from collections.abc import Mapping
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, ExpressionWrapper, OuterRef, Q
from django.utils.functional import cached_property

from annotation.models import SETS_UP, Benchmark, Example, ItemSet, Membership, Task, clock
from annotation.models.constraints import check, once

# In the report of a complete run: the answer given most often, and how many answers nobody could
# have given, are empty where one is asked for, or have more pieces than a gold could have.
MOST_FREQUENT, OUTSIDE, EMPTY, MALFORMED = "most_frequent", "outside", "empty", "malformed"
# From these shares on its answers show no skill, whatever they score; of fewer nothing can be said.
ALIKE_FROM, UNREADABLE_FROM, FEWEST_ANSWERS = 0.9, 0.5, 10
# Numbers of training examples as files and tables write them.
FULLY_SUPERVISED = "all"
# Episodes differ in their number of training examples: their figure is over all that have any.
FEW = "few"


def shots_label(shots: int | None) -> int | str:
    """Shots as files write them."""
    return FULLY_SUPERVISED if shots is None else shots


def shots_text(shots: str) -> str:
    return "all" if shots == FULLY_SUPERVISED else f"{shots} shots"


def shots_order(shots: int | str | None) -> tuple[float, str]:
    """Orders shots by number; episodes that have training examples after none, fully supervised
    last."""
    words = {FEW: 0.5, FULLY_SUPERVISED: float("inf")}
    return words[str(shots)] if shots in words else float(shots or 0), str(shots)


def shows_no_skill(report: Mapping[str, Any]) -> bool:
    """Whether nearly all of a run's answers are one and the same, or half of them none at all."""
    total: int = report.get("matched", 0)
    alike: int = (report.get(MOST_FREQUENT) or {}).get("count", 0)
    unreadable: int = report.get(OUTSIDE, 0) + report.get(EMPTY, 0)
    is_either = alike >= ALIKE_FROM * total or unreadable >= UNREADABLE_FROM * total
    return total >= FEWEST_ANSWERS and is_either


class Method(models.TextChoices):
    FT = "FT", "fine-tuning"
    PT = "PT", "prompt-based fine-tuning"
    ICL = "ICL", "in-context learning"
    OTHER = "other", "other"


def method_label(method: str | None) -> str:
    """The method behind a system's name. "Other" would tell a reader nothing."""
    return "" if not method or method == Method.OTHER else method


class RunState(models.TextChoices):
    # Of an import that is not through: nobody sees it.
    STAGED = "staged", "being imported"
    UPLOADING = "uploading", "uploading"
    COMPLETE = "complete", "complete"


class ProtocolTag(models.TextChoices):
    """How a system was prepared before the test, in the categories of FLEX's board."""

    PRETRAINING_ONLY = "pretraining-only", "pretraining only"
    META_TRAINED = "meta-trained", "meta-trained"


class Standing(models.TextChoices):
    """A complete run's standing on its benchmark's leaderboard."""

    WAITING = "waiting", "waits for a decision"
    APPROVED = "approved", "approved"
    BY_RESEARCHERS = "by_researchers", "stored by researchers"
    KEPT_OFF = "kept_off", "kept off"


def by_researchers() -> Q:
    """Stored by a command, or by somebody who sets the run's benchmark up, whether or not they
    still sign in: who leaves does not take runs along."""
    memberships = Membership.objects.filter(
        user=OuterRef("owner"),
        benchmark=OuterRef("task__benchmark"),
        role__in=SETS_UP,
    )
    return Q(owner__isnull=True) | Q(owner__is_superuser=True) | Q(Exists(memberships))


class RunQuerySet(models.QuerySet["Run"]):
    def complete(self) -> Self:
        return self.filter(state=RunState.COMPLETE)

    def whole(self) -> Self:
        """Complete ones that answer every item of their test set."""
        return self.complete().filter(report__missing=0)

    def replaceable(self) -> Self:
        """Those that no frozen claims rest on."""
        return self.filter(frozen_in=None)

    def of_benchmark(self, benchmark: Benchmark) -> Self:
        return self.filter(task__benchmark=benchmark)

    def with_standing(self) -> Self:
        """The runs with all that their standing takes, so that a list asks once."""
        is_by_researchers = ExpressionWrapper(by_researchers(), models.BooleanField())
        runs = self.select_related("board_decision")
        return runs.annotate(is_by_researchers=is_by_researchers)


class PublishedRuns(models.Manager["Run"]):
    def get_queryset(self) -> models.QuerySet["Run"]:
        return super().get_queryset().exclude(state=RunState.STAGED)


class Run(models.Model):
    """A system's predictions on one task's test set, trained on or shown one split or episode.
    Final once it is complete: a new file is a new run."""

    task = models.ForeignKey(
        Task,
        on_delete=models.PROTECT,
        related_name="runs",
    )
    test_set = models.ForeignKey(
        ItemSet,
        on_delete=models.PROTECT,
        related_name="runs",
    )
    system = models.CharField(max_length=200)
    method = models.CharField(max_length=5, choices=Method.choices)
    parameters = models.CharField(max_length=30, blank=True, help_text="Such as 110M.")
    shots = models.PositiveIntegerField(
        null=True, blank=True, help_text="Leave empty for fully supervised (“all”)."
    )
    split = models.PositiveIntegerField(null=True, blank=True)
    repeat = models.PositiveIntegerField(null=True, blank=True, help_text="Its number or seed.")
    episode = models.PositiveIntegerField(null=True, blank=True)

    citation = models.TextField(blank=True)
    url = models.CharField("address", max_length=500, blank=True)
    uses_labelled = models.BooleanField(
        "uses other labelled data",
        null=True,
        blank=True,
        help_text="Labelled data from elsewhere. Leave empty if not stated.",
    )
    uses_unlabelled = models.BooleanField(
        "uses other unlabelled data",
        null=True,
        blank=True,
        help_text="Unlabelled data from elsewhere. Leave empty if not stated.",
    )
    protocol = models.JSONField(
        default=list,
        blank=True,
        help_text="List of pretraining-only, meta-trained.",
    )

    source_format = models.CharField("format of the source", max_length=40)
    source_name = models.CharField("name of the source", max_length=300, blank=True)
    # Over identity and predictions, whatever file they came in; empty until all are there.
    checksum = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=9, choices=RunState.choices, default=RunState.UPLOADING)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
    )
    created_at = clock.WrittenAtField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True, editable=False)
    # What matched and what did not: see scoring/runs/importing.py.
    report = models.JSONField(default=dict, blank=True)

    objects = PublishedRuns.from_queryset(RunQuerySet)()
    every = RunQuerySet.as_manager()

    class Meta:
        ordering = ["task", "system", "method", "shots", "split", "repeat", "episode", "id"]
        constraints = [
            once("run_content_once", ["checksum"], condition=Q(state="complete")),
            check(
                "run_complete_by_checksum",
                Q(state="staged")
                | Q(state="uploading", checksum="")
                | Q(Q(state="complete"), ~Q(checksum="")),
            ),
            check(
                "run_complete_at_a_time",
                Q(state="complete", completed_at__isnull=False)
                | Q(~Q(state="complete"), completed_at__isnull=True),
            ),
            check("run_method_known", method__in=Method.values),
            check("run_names_its_system", ~Q(system="")),
        ]

    def __str__(self) -> str:
        return f"{self.system} · {self.task} · {self.label}"

    @property
    def benchmark(self) -> Benchmark:
        return self.task.benchmark

    @property
    def is_complete(self) -> bool:
        return self.state == RunState.COMPLETE

    @property
    def standing(self) -> Standing | None:
        """Whether it is on the board, and why; None while it is being uploaded."""
        if not self.is_complete:
            return None
        if hasattr(self, "board_decision"):
            return Standing.APPROVED if self.board_decision.stands else Standing.KEPT_OFF
        return Standing.BY_RESEARCHERS if self.is_by_researchers else Standing.WAITING

    @cached_property
    def is_by_researchers(self) -> bool:
        return Run.every.filter(by_researchers(), pk=self.pk).exists()

    @property
    def label(self) -> str:
        """Its episode, or its shots and split; and which run of these it is."""
        split = "" if self.split is None else f", split {self.split}"
        repeat = "" if self.repeat is None else f", repeat {self.repeat}"
        if self.episode is not None:
            return f"episode {self.episode}{repeat}"
        return f"{shots_label(self.shots)} shots{split}{repeat}"

    @property
    def coverage(self) -> float | None:
        """The part of the test set that has a prediction, in [0, 1]."""
        matched = self.report.get("matched", 0)
        total = matched + self.report.get("missing", 0)
        return matched / total if total else None

    @property
    def is_partial(self) -> bool:
        """Whether items have no prediction: it is listed, and compared with nobody."""
        return bool(self.report.get("missing"))

    @property
    def was_to_reason(self) -> bool:
        return bool(self.report.get("asked", {}).get("reasoning"))


class Prediction(models.Model):
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="predictions")
    example = models.ForeignKey(Example, on_delete=models.PROTECT, related_name="predictions")
    answer = models.JSONField(help_text="List of strings; empty for none.")

    class Meta:
        ordering = ["run_id", "example_id"]
        constraints = [once("prediction_once_in_run", ["run", "example"])]

    def __str__(self) -> str:
        return f"prediction of run {self.run_id} for example {self.example_id}"


class FinishedRun(models.Model):
    """A run that somebody who may not see the gold finished, which tells them one mean. It counts
    for a day, whatever becomes of the run, in every benchmark that has the same test items."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The exposure key of the task; for an episode, the checksum of its test set.
    items_key = models.CharField(max_length=64)
    finished_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["owner", "items_key", "finished_at"], name="finished_run_by_day")
        ]

    def __str__(self) -> str:
        return f"run of {self.owner_id} on {self.items_key}, {self.finished_at}"


class Spending(models.Model):
    """What one request to a model took, whatever becomes of its runs."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="spending")
    # Of a command without an owner: nobody.
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    model = models.CharField(max_length=200)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    # Empty where the prices are not known.
    usd = models.FloatField(null=True)
    created_at = clock.WrittenAtField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.model}, {self.created_at}"


class Reply(models.Model):
    """The reply behind a prediction; as final as that is."""

    prediction = models.OneToOneField(
        Prediction, on_delete=models.CASCADE, primary_key=True, related_name="reply"
    )
    text = models.TextField(blank=True)
    # As the provider calls what answered.
    version = models.CharField(max_length=200, blank=True)
    # Why it stopped writing: stop, max_tokens, content_filter, …
    stop_reason = models.CharField(max_length=40, blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    created_at = clock.WrittenAtField(auto_now_add=True)

    def __str__(self) -> str:
        return f"reply behind prediction {self.prediction_id}"
