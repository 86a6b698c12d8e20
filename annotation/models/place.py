"""The places of batches, and how often somebody came for one in vain."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from annotation.models.assignment import Assignment
from annotation.models.batch import Batch
from annotation.models.study import JoinAnswer, Study


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
