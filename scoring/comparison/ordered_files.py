"""Files about what is compared that a worker makes: as they are ordered, and as it reads that."""

import json
from dataclasses import asdict

from annotation.jobs.files import Wanted
from annotation.models import Benchmark, Job, Study
from annotation.models.errors import Refusal
from scoring.comparison.cells import Choices
from scoring.comparison.scope import Scope, answers_in


def wanted_file(kind: str, scope: Scope, choices: Choices, **arguments: str | int | None) -> Wanted:
    chosen = json.dumps(asdict(choices), sort_keys=True)
    return Wanted(
        kind,
        scope.study or scope.benchmark,
        {"choices": chosen, **arguments},
        answers=answers_in(scope),
    )


def ordered(job: Job) -> tuple[Scope, Choices]:
    """Raises Refusal if what it is of was deleted meanwhile."""
    chosen = json.loads(job.arguments["choices"])
    return _scope(job), Choices(**{**chosen, "shots": tuple(chosen["shots"])})


def _scope(job: Job) -> Scope:
    study = Study.objects.filter(pk=job.arguments.get("study")).select_related("benchmark").first()
    if study:
        return Scope(study.benchmark, study)
    benchmark = Benchmark.objects.filter(pk=job.arguments.get("benchmark")).first()
    if benchmark:
        return Scope(benchmark)
    raise Refusal("What this file is about is no longer there.")
