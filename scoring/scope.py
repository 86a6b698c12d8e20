"""What is compared: a study or all of a benchmark, and the fingerprint of everything in it."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from annotation.models import Assignment, Benchmark, Role, Study, Task
from scoring.cells import CellReader
from scoring.core.s1 import SCORER_VERSION
from scoring.matrices import digest
from scoring.models import ReportedScore, Run


@dataclass(frozen=True)
class Scope:
    benchmark: Benchmark
    study: Study | None = None

    @property
    def name(self) -> str:
        return self.study.slug if self.study else self.benchmark.name

    @property
    def columns(self) -> dict[str, Any]:
        """How a kept comparison names it."""
        return {"study": self.study, "benchmark": None if self.study else self.benchmark}

    @cached_property
    def tasks(self) -> list[Task]:
        """A study is compared on its own tasks alone."""
        tasks = self.benchmark.tasks.all()
        return list(tasks.filter(batches__study=self.study).distinct() if self.study else tasks)

    @cached_property
    def studies(self) -> list[Study]:
        if self.study:
            return [self.study]
        return list(self.benchmark.studies.order_by("created_at", "pk"))


def inputs_fingerprint(scope: Scope, reader: CellReader) -> str:
    """Follows everything that figures under the reader's choices are computed from."""
    tasks, studies = scope.tasks, scope.studies
    # Judgements are final, and complete once their assignment is finished; so are runs.
    people = Assignment.objects.filter(study__in=studies)
    who = (people.filter(training_ended_at__isnull=False) | people.completed()).order_by("pk")
    runs = Run.objects.complete().filter(task__in=tasks).order_by("pk")
    published = ReportedScore.objects.filter(benchmark=scope.benchmark).order_by("pk")
    return digest(
        asdict(reader.choices),
        SCORER_VERSION,
        list(who.values_list("pk", "outcome", "exclusion__pk")),
        list(runs.values_list("checksum")),
        list(published.values_list("pk", "mean", "sd", "n", "references")),
        [
            (
                task.slug,
                reader.policy(task),
                reader.gold_version(task),
                reader.items(task, item_set).fingerprint,
            )
            for task in tasks
            for item_set in task.item_sets.filter(role=Role.TEST).order_by("pk")
        ],
    )
