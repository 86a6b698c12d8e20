"""The cache of comparisons, kept with the fingerprint of their inputs: when these change one is
stale, shown as such and recomputed. What a version of other fields, formulas or scores has kept has
another key: it is ignored, and deleted when the figures are kept afresh."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from annotation.jobs import queue
from annotation.models import Job, JobState, clock
from annotation.models.errors import Refusal
from annotation.models.texts import checksum
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.core.s1 import SCORER_VERSION
from scoring.models import Comparison, Part

T = TypeVar("T")
# One part as it was last computed.
Kept = Comparison
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Store(Generic[T]):
    """Keeps one part of comparisons: its dataclass, and the job that computes it."""

    part: Part
    kind: type[T]
    # Raise by hand when a formula changes; other fields or scorers change the key by themselves.
    version: int
    job: str = ""
    # Of what is kept as the lines of tables: other ones change the key too.
    columns: tuple[str, ...] = ()

    def find(self, scope: Scope, choices: Choices) -> Kept:
        """What is kept under these choices, however old; empty if nothing yet."""
        lookup = self._lookup(scope, choices)
        kept = Kept.objects.filter(**lookup).select_related("job").first()
        return kept or Kept(**lookup, **_parameters(choices))

    def read(self, kept: Kept) -> T | None:
        return restored(self.kind, kept.result) if kept.result else None

    def keep(self, scope: Scope, choices: Choices, computed: T, fingerprint: str) -> Kept:
        """Keep what was computed; of two readers who computed the same at once, either may write
        the same figures."""
        kept, _ = Kept.objects.update_or_create(
            **self._lookup(scope, choices),
            defaults={
                **_parameters(choices),
                "result": plain(computed),
                "fingerprint": fingerprint,
                "computed_at": clock.now(),
            },
        )
        self._forget_former(scope)
        return kept

    def enqueue(
        self, scope: Scope, choices: Choices, *, fingerprint: str, author: User | None = None
    ) -> Kept:
        """Have it computed by a worker, unless somebody has requested the same already."""
        with transaction.atomic():
            kept, _ = Kept.objects.select_for_update().get_or_create(
                **self._lookup(scope, choices), defaults=_parameters(choices)
            )
            if kept.job is None or kept.job.is_over:
                arguments = {"comparison": kept.pk, "fingerprint": fingerprint}
                kept.job = queue.enqueue(self.job, arguments, author=author)
                kept.save(update_fields=["job"])
        return kept

    def look(
        self, scope: Scope, choices: Choices, *, fingerprint: str, author: User | None = None
    ) -> tuple[Kept, bool]:
        """What is kept, and whether it is stale; then a worker computes it. Looking at it does not
        restart what was stopped, or failed, from exactly these inputs."""
        kept = self.find(scope, choices)
        if is_stale(kept, fingerprint) and not was_given_up(kept, fingerprint):
            kept = self.enqueue(scope, choices, fingerprint=fingerprint, author=author)
        return kept, is_stale(kept, fingerprint)

    def compute_enqueued(
        self,
        comparison_id: int,
        compute: Callable[[Scope, Choices, Progress], T],
        *,
        progress: Progress,
    ) -> T:
        """Compute what was requested, and keep it; again, it gives the same figures."""
        rows = Kept.objects.select_related("study__benchmark", "benchmark")
        kept = rows.filter(pk=comparison_id).first()
        if kept is None or kept.parameters_key != self._key(kept.parameters):
            raise Refusal("Another version of the program requested this: open the page again.")
        benchmark = kept.study.benchmark if kept.study else kept.benchmark
        assert benchmark is not None, "a constraint: kept is of a study or of a benchmark"
        scope = Scope(benchmark, kept.study)
        choices = Choices(**{**kept.parameters, "shots": tuple(kept.parameters["shots"])})
        # Taken first: what changes meanwhile makes the result stale at once.
        fingerprint = inputs_fingerprint(scope, choices)
        computed = compute(scope, choices, progress)
        self.keep(scope, choices, computed, fingerprint)
        return computed

    def _lookup(self, scope: Scope, choices: Choices) -> dict[str, Any]:
        return {**scope.columns, "part": self.part, "parameters_key": self._key(asdict(choices))}

    def _key(self, parameters: dict[str, Any]) -> str:
        shapes = shape(Choices), shape(self.kind)
        # Databases store the keys of a JSON object in their own order.
        return checksum(
            [sorted(parameters.items()), shapes, self.columns, SCORER_VERSION, self.version]
        )

    def _forget_former(self, scope: Scope) -> None:
        """Delete what is kept under keys that this program version would not use."""
        kept = Kept.objects.filter(**scope.columns, part=self.part)
        former = [
            pk
            for pk, key, parameters in kept.values_list("pk", "parameters_key", "parameters")
            if key != self._key(parameters)
        ]
        Kept.objects.filter(pk__in=former).delete()


def is_stale(kept: Kept, fingerprint: str) -> bool:
    return kept.fingerprint != fingerprint


def was_given_up(kept: Kept, fingerprint: str) -> bool:
    """Whether computing it from just these inputs failed or was stopped: a view does not retry."""
    job = kept.job
    given_up = (JobState.FAILED, JobState.CANCELLED)
    return bool(job and job.state in given_up and job.arguments.get("fingerprint") == fingerprint)


def stop(kept: Kept) -> None:
    if kept.job_id is not None:
        Job.objects.filter(pk=kept.job_id).update(cancel_requested=True)


def _parameters(choices: Choices) -> dict[str, Any]:
    return {
        "parameters": asdict(choices),
        "seed": choices.seed,
        "scorer_version": SCORER_VERSION,
    }


def plain(value: Any) -> dict[str, Any]:
    """A dataclass as JSON has it: numpy's numbers as numbers, NaN as None."""
    text = json.dumps(asdict(value), default=np.generic.item)
    made: dict[str, Any] = json.loads(text, parse_constant=lambda _: None)
    return made


def restored(kind: Callable[..., T], kept: Mapping[str, Any]) -> T:
    """The dataclass that `plain` made this of, without fields that a former version had."""
    known = {name: kept[name] for name in _hints(kind) if name in kept}
    made = {name: _restored(hint, kept[name]) for name, hint in _not_plain(kind)}
    return kind(**{**known, **made})


def _restored(hint: Any, value: Any) -> Any:
    if get_origin(hint) is not tuple:
        return restored(hint, value)
    part: Any = get_args(hint)[0]
    return tuple(_restored(part, item) if is_dataclass(part) else item for item in value)


@cache
def _not_plain(kind: Any) -> list[tuple[str, Any]]:
    """The fields that JSON does not hold as they are."""
    hints = _hints(kind).items()
    return [(name, hint) for name, hint in hints if get_origin(hint) is tuple or is_dataclass(hint)]


_hints = cache(get_type_hints)


def shape(kind: Any) -> list[Any]:
    """The names and types of all fields, recursively."""
    return [
        [name, str(hint), [shape(part) for part in _parts(hint)]]
        for name, hint in _hints(kind).items()
    ]


def _parts(hint: Any) -> Iterator[type]:
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for argument in get_args(hint):
        yield from _parts(argument)
