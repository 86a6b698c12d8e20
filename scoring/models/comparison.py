"""What the scoring keeps so that it need not be recomputed; and studies of other groups."""

import numpy as np
from django.conf import settings
from django.db import models
from django.db.models import Q
from numpy.typing import NDArray

from annotation.models import Assignment, Benchmark, ItemSet, Job, ReferencePolicy, Study, clock
from annotation.models.constraints import check, once, one_of
from scoring.models.run import Run

STORED = np.dtype("<f8")
# What else tells one vector of an assignment or a run from another.
_SCORED = ("item_set", "references", "gold_version", "scorer_version")


class ScoreVector(models.Model):
    """The S1 of every item of one test set, in the set's order, for one assignment or run.

    An item without an answer is NaN. The fingerprint covers everything that the scores follow from:
    when it differs from the current one, the vector is stale.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, null=True, related_name="score_vectors"
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="score_vectors")
    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="+")
    references = models.CharField(max_length=3, choices=ReferencePolicy.choices)
    gold_version = models.PositiveIntegerField()
    scorer_version = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64)
    scores = models.BinaryField()

    class Meta:
        constraints = [
            one_of("score_vector_of_one", "assignment", "run"),
            # Null differs from null, so each of the two binds only the rows it concerns.
            once("score_vector_of_assignment_once", ["assignment", *_SCORED]),
            once("score_vector_of_run_once", ["run", *_SCORED]),
        ]

    def __str__(self) -> str:
        owner = f"run {self.run_id}" if self.run_id else f"assignment {self.assignment_id}"
        return f"scores of {owner} on {self.item_set_id}"

    @property
    def values(self) -> NDArray[np.float64]:
        return np.frombuffer(bytes(self.scores), STORED).astype(np.float64)


class Part(models.TextChoices):
    """The part of a comparison that is computed at once."""

    TABLE = "table", "table"
    ANALYSIS = "analysis", "analysis"
    # The entries of a leaderboard.
    BOARD = "board", "board"


class Comparison(models.Model):
    """A part of a comparison as it was last computed, with its inputs' fingerprint, its
    parameters, its seed and its scorer version."""

    part = models.CharField(max_length=8, choices=Part.choices)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, related_name="+")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, null=True, related_name="+")
    # A digest of the parameters: a constraint can only compare plain values.
    parameters_key = models.CharField(max_length=64)
    parameters = models.JSONField()
    seed = models.PositiveBigIntegerField()
    scorer_version = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64, blank=True)
    result = models.JSONField(default=dict)
    computed_at = models.DateTimeField(null=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            one_of("comparison_of_one", "study", "benchmark"),
            once("comparison_of_study_once", ["study", "part", "parameters_key"]),
            once("comparison_of_benchmark_once", ["benchmark", "part", "parameters_key"]),
            check("comparison_part_known", part__in=Part.values),
        ]

    def __str__(self) -> str:
        return f"comparison of {self.study or self.benchmark}"


class ImportedStudy(models.Model):
    """What a verified bundle says, read-only. It refers to nothing that was measured here."""

    slug = models.CharField("short name", max_length=80)
    title = models.CharField(max_length=200)
    benchmark = models.CharField(max_length=80)
    checksum = models.CharField(max_length=64)
    about = models.JSONField()
    figures = models.JSONField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    imported_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "imported study"
        verbose_name_plural = "imported studies"
        constraints = [
            once("imported_study_once", ["owner", "checksum"]),
            # Null differs from null.
            once("imported_study_of_nobody_once", ["checksum"], condition=Q(owner__isnull=True)),
        ]

    def __str__(self) -> str:
        return self.title
