"""Batches, and the pools of people and invitations that lead into them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from annotation.models import clock
from annotation.models.benchmark import LAID_OUT, Item
from annotation.models.constraints import check, if_given, once
from annotation.models.settings import words
from annotation.models.study import Study, new_token

_WORDS = words("pools")


class Pool(models.Model):
    """A named group of a study's people, with a link of its own: nobody is in two of them, and in
    every comparison it has rows of its own."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="pools")
    slug = models.SlugField("short name", max_length=40)
    name = models.CharField(max_length=80)
    about = models.CharField(max_length=300, blank=True, **_WORDS["about"])
    min_check_score = models.FloatField(null=True, blank=True, **_WORDS["min_check_score"])
    join_token = models.CharField(max_length=40, unique=True, default=new_token, editable=False)

    class Meta:
        ordering = ["study_id", "id"]
        constraints = [
            once("pool_slug_once", ["study", "slug"]),
            once("pool_name_once", ["study", "name"]),
            if_given("pool_floor_in_percent", "min_check_score", gte=0, lte=100),
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
        # A study's tasks are of one benchmark.
        ordering = ["-study_id", "task__slug", "training_set__shots", "training_set__split", "id"]
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
        """The least score of its checks, in percent: its pool's where that has one."""
        of_pool = self.pool.min_check_score if self.pool else None
        return self.study.min_check_score if of_pool is None else of_pool

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
        """Its episode, or its shots and split, and which part of the test set it asks."""
        if self.test_set.episode is not None:
            return f"episode {self.test_set.episode}"
        part = LAID_OUT.search(self.test_set.name)
        split = f"split {self.split}" if self.training_set else ""
        parts = (self.shots_text, split, f"part {part[4]}" if part else "")
        return ", ".join(filter(None, parts))

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
    created_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [once("invitation_once", ["study", "external_id"])]

    def __str__(self) -> str:
        return f"{self.study}: {self.external_id}"


def sizes_of(
    batches: Iterable[Batch], tests: Mapping[int, int] | None = None
) -> Counter[int | None]:
    """How many items each of their sets has, or would have."""
    items = Item.objects.filter(item_set__in={pk for batch in batches for pk in batch.set_ids})
    counted = items.order_by().values_list("item_set").annotate(models.Count("pk"))
    return Counter({**dict(counted), **(tests or {})})
