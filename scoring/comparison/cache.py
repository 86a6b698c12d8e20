"""The cache of comparisons: what was computed is kept with the fingerprint of its inputs. When they
change it is stale: it is shown as such and recomputed.

What a program version with other fields, formulas or scores has kept is ignored: its key differs,
and it is deleted when the figures are kept afresh.
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
from annotation.models.errors import Refusal
from scoring.comparison.cells import CellReader, Choices
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.comparison.stored import STORED, shape
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Comparison, Part

JOBS = {Part.TABLE: "compute_comparison", Part.ANALYSIS: "analyse_comparison"}
# Raise by hand when a formula changes. Other fields, or another scorer version, change the key by
# themselves.
FIGURES_VERSIONS = {Part.TABLE: 6, Part.ANALYSIS: 7}

Result = dict[str, Any]
Progress = Callable[[int, int, str], None]
Compute = Callable[[Scope, Choices, Progress], Result]


def find_kept(scope: Scope, part: Part, choices: Choices) -> Comparison:
    """What is kept under these choices, however old; empty if nothing yet."""
    lookup = _lookup(scope, part, choices)
    kept = Comparison.objects.filter(**lookup).select_related("job").first()
    return kept or Comparison(**lookup, **_parameters(choices))


def is_stale(kept: Comparison, fingerprint: str) -> bool:
    return kept.fingerprint != fingerprint


def keep(scope: Scope, part: Part, choices: Choices, result: Result, fingerprint: str) -> None:
    """Of two readers who computed the same at once, either may write: the figures are the
    same."""
    Comparison.objects.update_or_create(
        **_lookup(scope, part, choices),
        defaults={
            **_parameters(choices),
            "result": result,
            "fingerprint": fingerprint,
            "computed_at": timezone.now(),
        },
    )
    _forget_former(scope, part)


def enqueue(
    scope: Scope, part: Part, choices: Choices, *, fingerprint: str, author: User | None = None
) -> Comparison:
    """Have it computed by a worker, unless somebody has requested the same already."""
    with transaction.atomic():
        kept, _ = Comparison.objects.select_for_update().get_or_create(
            **_lookup(scope, part, choices), defaults=_parameters(choices)
        )
        if kept.job is None or kept.job.is_over:
            arguments = {"comparison": kept.pk, "fingerprint": fingerprint}
            kept.job = queue.enqueue(JOBS[part], arguments, author=author)
            kept.save(update_fields=["job"])
    return kept


def was_given_up(kept: Comparison, fingerprint: str) -> bool:
    """Whether computing it from exactly these inputs failed or was stopped: viewing it does not
    request it again."""
    job = kept.job
    given_up = (JobState.FAILED, JobState.CANCELLED)
    return bool(job and job.state in given_up and job.arguments.get("fingerprint") == fingerprint)


def stop(kept: Comparison) -> None:
    if kept.job_id is not None:
        Job.objects.filter(pk=kept.job_id).update(cancel_requested=True)


def compute_enqueued(comparison_id: int, compute: Compute, *, progress: Progress) -> Result:
    """Compute what was requested, and keep it. The same inputs give the same figures, so a second
    run does no harm."""
    rows = Comparison.objects.select_related("study__benchmark", "benchmark")
    kept = rows.filter(pk=comparison_id).first()
    if kept is None or kept.parameters_key != _key(Part(kept.part), kept.parameters):
        raise Refusal("Another version of the program requested this: open the page again.")
    benchmark = kept.study.benchmark if kept.study else kept.benchmark
    assert benchmark is not None, "a constraint: kept is of a study or of a benchmark"
    scope = Scope(benchmark, kept.study)
    shots = tuple(kept.parameters["shots"])
    choices = Choices(**{**kept.parameters, "shots": shots})
    # Taken first: what changes meanwhile makes the result stale at once.
    fingerprint = inputs_fingerprint(scope, CellReader(choices))
    result = compute(scope, choices, progress)
    keep(scope, Part(kept.part), choices, result, fingerprint)
    return result


def _lookup(scope: Scope, part: Part, choices: Choices) -> dict[str, Any]:
    key = _key(part, asdict(choices))
    return {**scope.columns, "part": part, "parameters_key": key}


def _key(part: Part, parameters: dict[str, Any]) -> str:
    shapes = shape(Choices), shape(STORED[part])
    # Databases store the keys of a JSON object in their own order.
    chosen = sorted(parameters.items())
    return checksum([chosen, shapes, SCORER_VERSION, FIGURES_VERSIONS[part]])


def _forget_former(scope: Scope, part: Part) -> None:
    """Delete what is kept under keys that this program version would not use."""
    kept = Comparison.objects.filter(**scope.columns, part=part)
    former = [
        pk
        for pk, key, parameters in kept.values_list("pk", "parameters_key", "parameters")
        if key != _key(part, parameters)
    ]
    Comparison.objects.filter(pk__in=former).delete()


def _parameters(choices: Choices) -> dict[str, Any]:
    return {
        "parameters": asdict(choices),
        "seed": choices.seed,
        "scorer_version": SCORER_VERSION,
    }
