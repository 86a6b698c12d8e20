"""What people and systems scored in each episode, by the scorer that scores everything else.

A benchmark of FLEX's size has thousands of episodes, so their items are read together.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import (
    Assignment,
    Benchmark,
    Gold,
    Item,
    ItemSet,
    ReferencePolicy,
    Role,
    Study,
    Task,
)
from scoring.matrices import ScoredItems, assignment_scores, digest, run_scores
from scoring.models import Run

HUMAN, SYSTEM, SIMULATED = "human", "run", "simulated"
# Every episode asks for one label, so both policies are the same.
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
        self.sets = {each.pk: each for each in sets.filter(role=Role.TEST).select_related("task")}
        training = sets.filter(role=Role.TRAINING).values_list("task_id", "episode", "shots")
        self._shots = {(task, episode): shots or 0 for task, episode, shots in training}
        self._items: dict[int, ScoredItems] = {}

    def counts(self) -> dict[tuple[str, bool], int]:
        """How many episodes each task has, without and with training."""
        found: dict[tuple[str, bool], int] = defaultdict(int)
        for each in self.sets.values():
            found[each.task.slug, self.shots(each) > 0] += 1
        return found

    def shots(self, test_set: ItemSet) -> int:
        return self._shots.get((test_set.task_id, test_set.episode), 0)

    def of_systems(self, runs: Iterable[Run]) -> list[EpisodeResult]:
        """Only episodes in which every question is answered."""
        groups: dict[tuple[int, Who], list[Run]] = defaultdict(list)
        for run in runs:
            if run.test_set_id in self.sets:
                groups[run.test_set_id, system_of(run)].append(run)
        self._read({pk for pk, _ in groups})
        return [
            result
            for (pk, who), those in groups.items()
            for result in self._result(pk, who, run_scores(those, self._items[pk], POLICY))
        ]

    def of_people(self, study: Study, *, simulated: bool = False) -> list[EpisodeResult]:
        counted = Assignment.objects.filter(study=study).counted().select_related("batch")
        chosen = counted.simulated() if simulated else counted.of_people()
        groups: dict[int, list[Assignment]] = defaultdict(list)
        for assignment in chosen.order_by("pk"):
            if assignment.batch.test_set_id in self.sets:
                groups[assignment.batch.test_set_id].append(assignment)
        self._read(groups)
        who = Who(SIMULATED if simulated else HUMAN, study.title, study=study.slug)
        return [
            result
            for pk, those in groups.items()
            for result in self._result(pk, who, assignment_scores(those, self._items[pk], POLICY))
        ]

    def _result(
        self, pk: int, who: Who, vectors: Mapping[int, np.ndarray]
    ) -> Iterator[EpisodeResult]:
        whole = [vector for vector in vectors.values() if not np.isnan(vector).any()]
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

    def _read(self, pks: Iterable[int]) -> None:
        wanted = [self.sets[pk] for pk in pks if pk not in self._items]
        self._items |= scored_items_of(wanted)


def scored_items_of(item_sets: Sequence[ItemSet]) -> dict[int, ScoredItems]:
    """`scored_items` of many sets at once, at the latest gold."""
    found: dict[int, ScoredItems] = {}
    by_task: dict[Task, list[ItemSet]] = defaultdict(list)
    for item_set in item_sets:
        by_task[item_set.task].append(item_set)
    for task, sets in by_task.items():
        version = task.latest_gold_version().number
        golds = _golds_of(task, version)
        for item_set, rows in _rows_of(sets).items():
            found[item_set.pk] = _scored(item_set, rows, golds, version)
    return found


Texts = tuple[tuple[str, ...], ...]
ItemRow = tuple[int, str, str]


def _golds_of(task: Task, version: int) -> dict[int, Texts]:
    golds = Gold.objects.filter(version__task=task, version__number__lte=version)
    rows = golds.order_by("version__number").values_list("example_id", "alternatives")
    return {
        example: tuple(tuple(span["text"] for span in spans) for spans in alternatives)
        for example, alternatives in rows
    }


def _rows_of(sets: Sequence[ItemSet]) -> dict[ItemSet, list[ItemRow]]:
    by_pk = {item_set.pk: item_set for item_set in sets}
    rows: dict[ItemSet, list[ItemRow]] = {item_set: [] for item_set in sets}
    items = Item.objects.filter(item_set__task=sets[0].task, item_set__role=Role.TEST)
    columns = ("item_set_id", "example_id", "source_id", "example__context_hash")
    for item_set, *row in items.order_by("item_set", "position").values_list(*columns).iterator():
        if item_set in by_pk:
            rows[by_pk[item_set]].append(tuple(row))
    return rows


def _scored(
    item_set: ItemSet, rows: Sequence[ItemRow], golds: Mapping[int, Texts], version: int
) -> ScoredItems:
    own = tuple(golds[row[0]] for row in rows)
    return ScoredItems(
        item_set_id=item_set.pk,
        task_id=item_set.task_id,
        gold_version=version,
        example_ids=tuple(row[0] for row in rows),
        source_ids=tuple(row[1] for row in rows),
        clusters=tuple(row[2] for row in rows),
        golds=own,
        fingerprint=digest(rows, own),
    )


def system_of(run: Run) -> Who:
    """Nobody adds to another's line; what researchers stored is nobody's own."""
    own = run.owner_id if run.owner_id and not run.owner.is_staff else None
    return Who(SYSTEM, run.system, run.method, run.parameters, submitter=own)
