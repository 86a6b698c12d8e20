"""What annotators answer and write, and what their answers come to."""

from typing import Self

from django.db import models
from django.db.models import F, Q

from annotation.models.assignment import Assignment
from annotation.models.benchmark import Example, Role


class JudgementQuerySet(models.QuerySet["Judgement"]):
    def of_training(self) -> Self:
        return self.filter(role="training")

    def of_test(self) -> Self:
        return self.filter(role="test")


class Judgement(models.Model):
    """One submitted answer. Final: the database refuses to change or delete it.

    It has no score: S1 follows from the answer and a scoring version.
    """

    assignment = models.ForeignKey(
        Assignment,
        on_delete=models.PROTECT,
        related_name="judgements",
    )
    example = models.ForeignKey(
        Example,
        on_delete=models.PROTECT,
        related_name="judgements",
    )
    role = models.CharField(max_length=8, choices=Role.choices)
    step = models.PositiveIntegerField()
    answer = models.JSONField(help_text="List of strings; empty for none.")
    spans = models.JSONField(
        default=list,
        help_text="[segment, start, end] in code points, where pieces were selected.",
    )
    shown_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    paid_ms = models.PositiveIntegerField("paid time (ms)")
    # The browser's own account: beside the server's, never instead of it.
    browser_ms = models.PositiveIntegerField("time by the browser (ms)", null=True)
    first_action_ms = models.PositiveIntegerField("first action by the browser (ms)", null=True)
    active_ms = models.PositiveIntegerField("active time by the browser (ms)", null=True)
    pastes = models.PositiveSmallIntegerField(null=True)

    objects = JudgementQuerySet.as_manager()

    class Meta:
        ordering = ["assignment", "step"]
        verbose_name = "judgement"
        verbose_name_plural = "judgements"
        constraints = [
            models.UniqueConstraint(fields=["assignment", "example"], name="judgement_once"),
            models.UniqueConstraint(fields=["assignment", "step"], name="judgement_step_once"),
            models.CheckConstraint(
                condition=Q(submitted_at__gte=F("shown_at")), name="judgement_shown_first"
            ),
        ]

    def __str__(self) -> str:
        return f"judgement {self.step} of assignment {self.assignment_id}"


class WorkSummary(models.Model):
    """What the judgements of one assignment come to, so that a page about many people need not
    read them all. Made from them alone, and made again when there are more; but whether the person
    deserves a look is as it was found when the study's people were last looked at."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, primary_key=True, related_name="summary"
    )
    # Where the assignment stood when it was made: since then anything may have come.
    state = models.CharField(max_length=11)
    step = models.PositiveIntegerField()
    median_ms = models.PositiveIntegerField(null=True)
    # Of the test's answers: how many, what share of them are the same one, how many different
    # ones there are, and a hash of all in the order of the examples.
    tested = models.PositiveIntegerField(default=0)
    commonest_share = models.FloatField(default=0)
    distinct = models.PositiveIntegerField(default=0)
    answers_hash = models.CharField(max_length=64, blank=True, db_index=True)
    longest_ms = models.PositiveBigIntegerField(default=0)
    pastes = models.PositiveIntegerField(default=0)
    is_flagged = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"summary of assignment {self.assignment_id}"


class Comment(models.Model):
    """What somebody wrote to the people who run the study: on an example, or on the whole.

    It changes nothing else, may name test items, and is erased with the person.
    """

    assignment = models.ForeignKey(
        Assignment,
        on_delete=models.PROTECT,
        related_name="comments",
    )
    example = models.ForeignKey(
        Example,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="comments",
    )
    text = models.TextField()
    written_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        verbose_name = "comment"
        verbose_name_plural = "comments"
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="comment_not_empty")]

    def __str__(self) -> str:
        return f"comment {self.pk} on assignment {self.assignment_id}"
