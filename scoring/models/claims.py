"""What a study claims, frozen when it is settled: which systems it compares itself with, by which
runs, and the figures. Whatever changes afterwards makes another version beside the old one."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from django.db import models
from django.db.models import Q, QuerySet

from annotation.models import Study, clock
from annotation.models.constraints import check, once
from annotation.models.errors import Frozen
from scoring.models.run import Run, method_label

# A name, a method and parameters, as runs have them.
System = tuple[str, str, str]


class Reason(models.TextChoices):
    CLOSING = "closing", "closing"
    GOLD = "gold correction", "gold correction"
    EXCLUSION = "exclusion", "exclusion"
    SCORER = "scorer", "scorer"
    NAMED = "run of a named system", "run of a named system"


class FrozenClaims(models.Model):
    """One version of what a study claims. The database neither changes it nor deletes it, but with
    its rehearsal."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="frozen_claims")
    version = models.PositiveIntegerField()
    frozen_at = clock.WrittenAtField(auto_now_add=True)
    reason = models.CharField(max_length=21, choices=Reason.choices)
    margin = models.FloatField()
    # The family: for each system its name, method and parameters.
    systems = models.JSONField()
    # Of all that the claims follow from.
    fingerprint = models.CharField(max_length=64)
    claims = models.JSONField()
    runs = models.ManyToManyField(Run, through="FrozenRun", related_name="+")

    class Meta:
        ordering = ["study", "version"]
        constraints = [
            once("frozen_claims_version_once", ["study", "version"]),
            check("frozen_claims_reason_known", reason__in=Reason.values),
            check(
                "frozen_claims_begin_with_closing",
                Q(version=1, reason="closing") | Q(Q(version__gt=1), ~Q(reason="closing")),
            ),
            check("frozen_claims_fingerprint_not_empty", ~Q(fingerprint="")),
        ]

    def __str__(self) -> str:
        return f"claims of {self.study}, version {self.version}"


class FrozenRun(models.Model):
    """A run that frozen claims rest on: it stays as long as they do."""

    claims = models.ForeignKey(FrozenClaims, on_delete=models.CASCADE, related_name="frozen_runs")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="frozen_in")

    class Meta:
        constraints = [once("frozen_run_once", ["claims", "run"])]

    def __str__(self) -> str:
        return f"run {self.run_id} of {self.claims}"


def check_deletable(runs: Iterable[Run]) -> None:
    frozen = FrozenRun.objects.filter(run__in=runs).select_related("claims__study").first()
    if frozen is None:
        return
    study = frozen.claims.study
    remedy = ": throw the rehearsal away first" if study.is_rehearsal else ""
    raise Frozen(f"Run {frozen.run_id} is kept, since what “{study}” claims rests on it{remedy}.")


def named_matches(study: Study, system: str, method: str) -> bool:
    """Whether a study named this system, with its method or without; nothing matches where none was
    named."""
    named = {name.casefold() for name in study.named_systems}
    words = system.split()
    names = (words, [*words, method_label(method)])
    return any(" ".join(name).strip().casefold() in named for name in names)


def runs_for_claims(study: Study) -> QuerySet[Run]:
    """The whole runs on the study's tasks that were complete when it was closed (all, while it is
    not), and those of the systems that it named, whenever they came; in no order."""
    tasks = study.batches.order_by().values("task")
    runs = Run.objects.whole().filter(task__in=tasks).order_by()
    if study.closed_at is None:
        return runs
    systems = runs.values_list("system", "method").distinct()
    named = [Q(system=name, method=how) for name, how in systems if named_matches(study, name, how)]
    return runs.filter(reduce(or_, named, Q(completed_at__lte=study.closed_at)))


def family_of(study: Study) -> list[System]:
    """The systems that the study compares itself with: of those that it named the ones with runs;
    with none named all that have a whole run on each of its tasks."""
    tasks: dict[System, set[int]] = {}
    columns = ("system", "method", "parameters", "task_id")
    for system, method, parameters, task in runs_for_claims(study).values_list(*columns):
        tasks.setdefault((system, method, parameters), set()).add(task)
    if study.named_systems:
        return sorted(system for system in tasks if named_matches(study, *system[:2]))
    every = set(study.batches.order_by().values_list("task", flat=True))
    return sorted(system for system, has in tasks.items() if has == every)


def latest(study: Study) -> FrozenClaims | None:
    return FrozenClaims.objects.filter(study=study).order_by("-version").first()
