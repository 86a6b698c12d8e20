"""Keeping: what was computed of a comparison stays, with the fingerprint of its inputs, its
parameters, its seed and its scorer version. When one of them changes it is stale: it is shown as
such and computed again.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.benchmarks.formats.content import checksum
from annotation.jobs import queue
from annotation.models import Job, JobState
from scoring.comparison.cells import CellReader, Choices
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Comparison, Part

JOBS = {Part.TABLE: "compute_comparison", Part.ANALYSIS: "analyse_comparison"}
# Goes up when a part holds other figures: what was kept before is not looked at again.
VERSIONS = {Part.TABLE: 2, Part.ANALYSIS: 5}

Result = dict[str, Any]
Progress = Callable[[int, int, str], None]
Compute = Callable[[Scope, Choices, Progress], Result]


def find_kept(scope: Scope, part: Part, choices: Choices) -> Comparison:
    """What is kept under these choices, however old; empty if there is nothing yet."""
    place = _place(scope, part, choices)
    found = Comparison.objects.filter(**place).select_related("job").first()
    return found or Comparison(**place, **_parameters(choices))


def is_stale(kept: Comparison, fingerprint: str) -> bool:
    return kept.fingerprint != fingerprint or kept.scorer_version != SCORER_VERSION


def keep(scope: Scope, part: Part, choices: Choices, result: Result, fingerprint: str) -> None:
    """Of two readers who computed the same at once, either may write: the figures are the
    same."""
    Comparison.objects.update_or_create(
        **_place(scope, part, choices),
        defaults={
            **_parameters(choices),
            "result": result,
            "fingerprint": fingerprint,
            "computed_at": timezone.now(),
        },
    )


def order(
    scope: Scope, part: Part, choices: Choices, *, fingerprint: str, author: User | None = None
) -> Comparison:
    """Have it computed by a worker, unless somebody ordered the same already."""
    with transaction.atomic():
        kept, _ = Comparison.objects.select_for_update().get_or_create(
            **_place(scope, part, choices), defaults=_parameters(choices)
        )
        if kept.job is None or kept.job.is_over:
            arguments = {"comparison": kept.pk, "fingerprint": fingerprint}
            kept.job = queue.enqueue(JOBS[part], arguments, author=author)
            kept.save(update_fields=["job"])
    return kept


def was_given_up(kept: Comparison, fingerprint: str) -> bool:
    """Whether computing it from just these inputs failed or was stopped: it is not ordered
    again by looking at it."""
    job = kept.job
    given_up = (JobState.FAILED, JobState.CANCELLED)
    return bool(job and job.state in given_up and job.arguments.get("fingerprint") == fingerprint)


def stop(kept: Comparison) -> None:
    if kept.job_id is not None:
        Job.objects.filter(pk=kept.job_id).update(cancel_requested=True)


def compute_ordered(comparison_id: int, compute: Compute, *, progress: Progress) -> Result:
    """Compute what was ordered, and keep it. The same inputs give the same figures, so a second
    run does no harm."""
    kept = Comparison.objects.select_related("study__benchmark", "benchmark").get(pk=comparison_id)
    scope = Scope(kept.study.benchmark if kept.study else kept.benchmark, kept.study)
    shots = tuple(kept.parameters["shots"])
    choices = Choices(**{**kept.parameters, "shots": shots})
    # Taken first: what changes meanwhile makes the result stale at once.
    fingerprint = inputs_fingerprint(scope, CellReader(choices))
    result = compute(scope, choices, progress)
    keep(scope, Part(kept.part), choices, result, fingerprint)
    return result


def _place(scope: Scope, part: Part, choices: Choices) -> dict[str, Any]:
    key = checksum([asdict(choices), VERSIONS[part]])
    return {**scope.columns, "part": part, "parameters_key": key}


def _parameters(choices: Choices) -> dict[str, Any]:
    return {
        "parameters": asdict(choices),
        "seed": choices.seed,
        "scorer_version": SCORER_VERSION,
    }
