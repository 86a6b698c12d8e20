"""What researchers decided about the leaderboard: whose figures appear on it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Study
from scoring.models.run import Run


class BoardDecision(models.Model):
    """Whether one run, or the people of one study, appear on the leaderboard.

    A decision covers what it names and nothing that comes later: a run is final once it is
    complete, and a submitter's next run waits for a decision of its own. For what holds without a
    decision, see scoring/leaderboard/approving.py.
    """

    run = models.OneToOneField(
        Run,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="board_decision",
    )
    study = models.OneToOneField(
        Study,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="board_decision",
    )
    stands = models.BooleanField("stands on the leaderboard")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        editable=False,
    )
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["-decided_at", "-id"]
        verbose_name = "leaderboard decision"
        constraints = [
            models.CheckConstraint(
                condition=Q(run__isnull=False, study__isnull=True)
                | Q(run__isnull=True, study__isnull=False),
                name="board_decision_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"{self.run or self.study}: {'stands' if self.stands else 'kept off'}"
