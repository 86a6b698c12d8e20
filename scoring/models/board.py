"""Figures known only as published, and what researchers decided about the leaderboard: whose
figures appear on it, and who may read it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Benchmark, Study, clock
from annotation.models.constraints import check, once, one_of
from scoring.models.run import Method, Run, shots_label


class ReportedKind(models.TextChoices):
    HUMAN = "human", "human"
    MODEL = "model", "model"


class References(models.TextChoices):
    """The reference policy of a published figure, which its source may not state."""

    SET = "set", "set"
    ANY = "any", "any"
    UNKNOWN = "unknown", "unknown"


# What identifies a published figure, besides its shots.
_FIGURE = ["benchmark", "task", "kind", "system", "method", "parameters", "references", "source"]

_STORED_ALREADY = "This figure is stored already: delete the stored one to correct it."


class ReportedScore(models.Model):
    """A figure known only as published. In percent, as published.

    The task is a slug: a figure may be for a task whose data are not imported. An import never
    changes a figure; to correct one, delete the old row first.
    """

    benchmark = models.ForeignKey(
        Benchmark,
        on_delete=models.PROTECT,
        related_name="reported_scores",
    )
    task = models.SlugField(max_length=80)
    kind = models.CharField(max_length=5, choices=ReportedKind.choices)
    system = models.CharField(max_length=200)
    method = models.CharField(max_length=5, choices=Method.choices, blank=True)
    parameters = models.CharField(max_length=30, blank=True)
    shots = models.PositiveIntegerField(
        null=True, blank=True, help_text="Leave empty for fully supervised (“all”)."
    )
    mean = models.FloatField()
    sd = models.FloatField("SD", null=True, blank=True)
    n = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Annotators for a human figure, splits for a model's.",
    )
    references = models.CharField(
        max_length=7, choices=References.choices, default=References.UNKNOWN
    )
    source = models.CharField(max_length=300)
    created_at = clock.WrittenAtField(auto_now_add=True)

    class Meta:
        ordering = ["benchmark", "task", "kind", "system", "method", "shots", "id"]
        verbose_name = "published figure"
        constraints = [
            once("reported_score_once", [*_FIGURE, "shots"], _STORED_ALREADY),
            # The first constraint skips rows whose shots are null.
            once(
                "reported_score_supervised_once",
                _FIGURE,
                _STORED_ALREADY,
                condition=Q(shots__isnull=True),
            ),
            check("reported_score_kind_known", kind__in=ReportedKind.values),
            check("reported_score_method_known", Q(method="") | Q(method__in=Method.values)),
            check("reported_score_references_known", references__in=References.values),
            check("reported_score_in_percent", mean__gte=0, mean__lte=100),
            check("reported_score_sd_not_negative", Q(sd__isnull=True) | Q(sd__gte=0)),
            check("reported_score_names_its_source", ~Q(source="")),
        ]

    def __str__(self) -> str:
        return f"{self.system} · {self.task} · {shots_label(self.shots)} shots, {self.source}"


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
        constraints = [one_of("board_decision_of_one", "run", "study")]

    def __str__(self) -> str:
        return f"{self.run or self.study}: {'stands' if self.stands else 'kept off'}"


class Leaderboard(models.Model):
    """Whether everybody may read a benchmark's leaderboard: the researcher decides."""

    benchmark = models.OneToOneField(
        Benchmark,
        on_delete=models.CASCADE,
        related_name="leaderboard",
    )
    is_public = models.BooleanField(
        "public",
        default=False,
        help_text="Anybody may read the leaderboard, without signing in.",
    )

    def __str__(self) -> str:
        return f"leaderboard of {self.benchmark}"
