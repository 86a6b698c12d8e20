"""What the people of a study do: one task, one shot set or none, and one test set each."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from annotation.models.benchmark import GoldVersion, ItemSet, Task
from annotation.models.study import Study, new_token


class Batch(models.Model):
    study = models.ForeignKey(
        Study,
        on_delete=models.CASCADE,
        related_name="batches",
    )
    task = models.ForeignKey(
        Task,
        on_delete=models.PROTECT,
        related_name="batches",
    )
    training_set = models.ForeignKey(
        ItemSet,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    test_set = models.ForeignKey(
        ItemSet,
        on_delete=models.PROTECT,
        related_name="+",
    )
    chain = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The run of shot sets that truly nest; see the audit.",
    )
    wanted = models.PositiveIntegerField(
        "wanted annotators", default=3, help_text="Number of annotators."
    )
    join_token = models.CharField(
        "token of the link", max_length=40, unique=True, default=new_token, editable=False
    )
    # Copied when the study starts, as a record of what was shown.
    description = models.TextField(blank=True, editable=False)
    gold_version = models.ForeignKey(
        GoldVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
    )

    class Meta:
        ordering = ["study", "task", "training_set__shots", "training_set__split", "id"]
        verbose_name = "batch"
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
                errors[field] = f"This is not a {role} set."
            elif self.task_id and chosen.task_id != self.task_id:
                errors[field] = "This set belongs to another task."
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
