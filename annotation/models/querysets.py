"""Questions to the rows, written so that they read as a phrase."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q


class AssignmentQuerySet(models.QuerySet):
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


class PlaceQuerySet(models.QuerySet):
    def claimable(self, at: datetime) -> Self:
        """Empty, or held under a lease that has lapsed."""
        return self.filter(kept=False).filter(Q(holder__isnull=True) | Q(lease_until__lt=at))

    def taken(self, at: datetime) -> Self:
        return self.filter(Q(kept=True) | Q(holder__isnull=False, lease_until__gte=at))


class JudgementQuerySet(models.QuerySet):
    def of_training(self) -> Self:
        return self.filter(role="training")

    def of_test(self) -> Self:
        return self.filter(role="test")
