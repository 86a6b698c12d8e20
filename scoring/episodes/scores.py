"""What people and systems scored in each episode, by the same scorer as everything else.

A benchmark of FLEX's size has thousands of episodes, so their items are read together.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import (
    Assignment,
    Benchmark,
    ItemSet,
    ReferencePolicy,
    Role,
    Study,
    Task,
)
from scoring.cells.vectors import (
    Floats,
    Owners,
    ScoredItems,
    assignment_scores,
    run_scores,
    scored_items,
)
from scoring.models import Run

HUMAN, SYSTEM, SIMULATED = "human", "run", "simulated"
# Every episode asks for one label, so both policies agree.
POLICY = ReferencePolicy.ANY


@dataclass(frozen=True)
class Who:
    """A study's people, or a system of one submitter."""

    kind: str
    name: str
    method: str = ""
    parameters: str = ""
    study: str = ""
    submitter: int | None = None


@dataclass(frozen=True)
class EpisodeResult:
    """One episode by one of them: the mean over its annotators or runs, in [0, 1]."""

    who: Who
    task: str
    episode: int
    way: int
    # Training examples; none is zero-shot.
    shots: int
    score: float
    n: int
    items: int

    @property
    def is_few(self) -> bool:
        return self.shots > 0


class EpisodeReader:
    """The episodes of a benchmark, at the latest gold of each task."""

    def __init__(self, benchmark: Benchmark) -> None:
        sets = ItemSet.objects.filter(task__benchmark=benchmark, episode__isnull=False)
        tests = sets.filter(role=Role.TEST).select_related("task")
        self.sets = {item_set.pk: item_set for item_set in tests}
        training = sets.filter(role=Role.TRAINING).values_list("task_id", "episode", "shots")
        self._shots = {(task, episode): shots or 0 for task, episode, shots in training}
        self._items: dict[int, ScoredItems] = {}

    def counts(self) -> dict[tuple[str, bool], int]:
        """How many episodes each task has, without and with training."""
        counts: dict[tuple[str, bool], int] = defaultdict(int)
        for item_set in self.sets.values():
            counts[item_set.task.slug, self.shots(item_set) > 0] += 1
        return counts

    def shots(self, test_set: ItemSet) -> int:
        return self._shots.get((test_set.task_id, test_set.episode), 0)

    def of_systems(self, runs: Iterable[Run]) -> list[EpisodeResult]:
        """Only episodes in which every question is answered."""
        groups: dict[tuple[int, Who], list[Run]] = defaultdict(list)
        for run in runs:
            if run.test_set_id in self.sets:
                groups[run.test_set_id, system_of(run)].append(run)
        vectors = self._vectors(groups, run_scores)
        return [
            result
            for (pk, who), those in groups.items()
            for result in self._result(pk, who, [vectors[run.pk] for run in those])
        ]

    def of_people(self, study: Study, *, simulated: bool = False) -> list[EpisodeResult]:
        counted = Assignment.objects.filter(study=study).counted().select_related("batch")
        chosen = counted.simulated() if simulated else counted.of_people()
        who = Who(SIMULATED if simulated else HUMAN, study.title, study=study.slug)
        groups: dict[tuple[int, Who], list[Assignment]] = defaultdict(list)
        for assignment in chosen.order_by("pk"):
            if assignment.batch.test_set_id in self.sets:
                groups[assignment.batch.test_set_id, who].append(assignment)
        vectors = self._vectors(groups, assignment_scores)
        return [
            result
            for (pk, _), those in groups.items()
            for result in self._result(pk, who, [vectors[member.pk] for member in those])
        ]

    def _result(self, pk: int, who: Who, vectors: Iterable[Floats]) -> Iterator[EpisodeResult]:
        whole = [vector for vector in vectors if not np.isnan(vector).any()]
        if not whole:
            return
        test_set = self.sets[pk]
        yield EpisodeResult(
            who=who,
            task=test_set.task.slug,
            episode=test_set.episode or 0,
            way=len(test_set.choices),
            shots=self.shots(test_set),
            score=float(np.mean([vector.mean() for vector in whole])),
            n=len(whole),
            items=len(whole[0]),
        )

    def _vectors(
        self,
        groups: Mapping[tuple[int, Who], Sequence[Assignment] | Sequence[Run]],
        scores: Callable[[Owners, str], dict[int, Floats]],
    ) -> dict[int, Floats]:
        """By the primary key of the assignment or run; those of one task are read together."""
        members: dict[Task, dict[int, int]] = defaultdict(dict)
        for (pk, _), those in groups.items():
            members[self.sets[pk].task] |= {member.pk: pk for member in those}
        vectors: dict[int, Floats] = {}
        for task, sets in members.items():
            items = self._items_of(task, set(sets.values()))
            vectors |= scores({owner: items[pk] for owner, pk in sets.items()}, POLICY)
        return vectors

    def _items_of(self, task: Task, pks: Collection[int]) -> dict[int, ScoredItems]:
        wanted = [self.sets[pk] for pk in pks if pk not in self._items]
        if wanted:
            self._items |= scored_items(task, wanted, task.latest_gold_version().number)
        return self._items


def system_of(run: Run) -> Who:
    """Nobody adds to another's line; what researchers stored belongs to nobody."""
    submitter = None if run.is_by_researchers else run.owner_id
    return Who(SYSTEM, run.system, run.method, run.parameters, submitter=submitter)
