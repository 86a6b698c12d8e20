"""The cells of a comparison: who is in each, and their scores on the test items."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from math import isnan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from annotation.models import Assignment, Batch, ItemSet, Study, Task
from annotation.studies.ending import not_as_named
from annotation.studies.screening import screenings_in, why_no_floor
from scoring.cells.rows import RowKind
from scoring.cells.scope import Choices, TaskScoring, with_signs
from scoring.cells.vectors import (
    Floats,
    ScoredItems,
    assignment_scores,
    judged_seconds,
    run_scores,
    scored_items,
    told_seconds,
)
from scoring.core.comparison import runs_on
from scoring.core.intervals import LeaveOneOut, cluster_scores, leave_one_out
from scoring.core.variance import score_matrix
from scoring.models import FEW, Run, shots_label, shots_order

# Of a task without any items of the chosen group.
NOTHING: frozenset[int] = frozenset()
OTHER_SHOT_SETS, OTHER_ITEMS = "other shot sets", "other items"
_Member = TypeVar("_Member", Assignment, Run)


@dataclass(frozen=True)
class Vector:
    """The scores of one assignment or run on one test set, and the split it is nested in."""

    items: ScoredItems
    scores: Floats
    split: str
    # An episode is a split with items of its own.
    episode: int | None = None


@dataclass(frozen=True)
class Cell:
    """People of one study or of one of its pools, or the runs of one system of one size, on one
    task with one number of shots."""

    task: Task
    shots: int | str
    references: str
    gold_version: int
    members: tuple[Assignment, ...] | tuple[Run, ...]
    vectors: tuple[Vector, ...]
    # Of people.
    study: Study | None = None
    # The name of one of the study's; empty in a study without any.
    pool: str = ""
    simulated: bool = False
    # Why nothing that is said of them is sure, whatever they answered.
    lacks: tuple[str, ...] = ()
    # Of a system.
    system: str = ""
    method: str = ""
    parameters: str = ""
    # The examples that it is read on; None: all of its test sets.
    only: frozenset[int] | None = None
    # Of people without those excluded: the same with them.
    including: "Cell | None" = None

    @property
    def kind(self) -> RowKind:
        if self.study is None:
            return RowKind.RUN
        if self.simulated:
            return RowKind.SIMULATED
        return RowKind.ELSEWHERE if self.study.source else RowKind.HUMAN

    @property
    def annotators(self) -> tuple[Assignment, ...]:
        return tuple(member for member in self.members if isinstance(member, Assignment))

    @property
    def asked(self) -> Iterator[tuple[int, ScoredItems, str]]:
        """Each member's key, items and policy for the references."""
        for member, vector in zip(self.members, self.vectors, strict=True):
            yield member.pk, vector.items, self.references

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(member for member in self.members if isinstance(member, Run))

    @property
    def is_partial(self) -> bool:
        return any(run.is_partial for run in self.runs)

    @property
    def latest_day(self) -> str | None:
        """The day on which the last of its runs was complete."""
        days = [run.completed_at for run in self.runs if run.completed_at]
        return max(days).date().isoformat() if days else None

    @cached_property
    def after_checks(self) -> str:
        """What its shots are called where its people were checked on the task itself."""
        if self.study is None or self.shots != 0:
            return ""
        text = self.annotators[0].batch.shots_text
        return "" if text == "0 shots" else text

    @cached_property
    def without_excluded(self) -> "Cell":
        kept = [not hasattr(member, "exclusion") for member in self.annotators]
        return self if all(kept) else replace(self.keeping(kept), including=self)

    def keeping(self, kept: Sequence[bool]) -> "Cell":
        members: Any = tuple(compress(self.members, kept))
        return replace(self, members=members, vectors=tuple(compress(self.vectors, kept)))

    def without_items(self, examples: frozenset[int]) -> "Cell":
        including = self.including.without_items(examples) if self.including else None
        return replace(self, only=frozenset(self.example_ids) - examples, including=including)

    def beside(self, *people: "Cell") -> "tuple[Cell, str]":
        """The runs of a system on these people's shot sets, read on the items that any of them saw;
        and why a comparison with it is exploratory, if so."""
        splits = {split for cell in people for split in cell.splits}
        places, is_other = runs_on(splits, [vector.split for vector in self.vectors])
        runs = self.keeping([place in places for place in range(len(self.vectors))])
        seen = frozenset(pk for cell in people for pk in cell.seen)
        cell = replace(runs, only=seen)
        if is_other:
            return cell, OTHER_SHOT_SETS
        is_whole = len(cell.example_ids) == len(seen) and not np.isnan(cell.matrix).any()
        return cell, "" if is_whole else OTHER_ITEMS

    @cached_property
    def _placed(self) -> tuple[Floats, tuple[int, ...], tuple[str, ...]]:
        """The vectors side by side, with the example and the cluster of each column. A column that
        is not in a member's test set is NaN in their row."""
        matrix, examples = self._side_by_side()
        if self.only is not None:
            kept = [pk in self.only for pk in examples]
            matrix = matrix[:, kept]
            examples = dict(compress(examples.items(), kept))
        return matrix, tuple(examples), tuple(examples.values())

    def _side_by_side(self) -> tuple[Floats, dict[int, str]]:
        # Most cells have one test set, read once.
        sets = {id(vector.items): vector.items for vector in self.vectors}.values()
        examples = {
            pk: cluster
            for items in sets
            for pk, cluster in zip(items.example_ids, items.clusters, strict=True)
        }
        if len(sets) == 1:
            return np.array([vector.scores for vector in self.vectors]), examples
        column = {pk: number for number, pk in enumerate(examples)}
        matrix = np.full((len(self.vectors), len(column)), np.nan)
        for row, vector in enumerate(self.vectors):
            matrix[row, [column[pk] for pk in vector.items.example_ids]] = vector.scores
        return matrix, examples

    @property
    def matrix(self) -> Floats:
        """Members × items, NaN where there is no answer."""
        return self._placed[0]

    @property
    def example_ids(self) -> tuple[int, ...]:
        return self._placed[1]

    @property
    def clusters(self) -> tuple[str, ...]:
        return self._placed[2]

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        """Which members answered anything at all."""
        return np.asarray(~np.isnan(self.matrix).all(axis=1))

    @cached_property
    def splits(self) -> list[str]:
        """The split of each member who answered anything."""
        pairs = zip(self.vectors, self.answered, strict=True)
        return [vector.split for vector, has_answers in pairs if has_answers]

    @property
    def persons(self) -> list[int]:
        """Who answered anything, as the rows of its scores."""
        return [member.annotator_id for member in compress(self.annotators, self.answered)]

    @property
    def scores(self) -> Floats:
        """The rows of the members who answered anything."""
        return self.matrix[self.answered]

    @property
    def seen(self) -> tuple[int, ...]:
        """The examples that any of its members answered."""
        is_seen: list[bool] = np.asarray((~np.isnan(self.matrix)).any(axis=0)).tolist()
        return tuple(compress(self.example_ids, is_seen))

    @property
    def has_gaps(self) -> bool:
        """Whether somebody lacks an item that another saw."""
        return bool(np.isnan(score_matrix(self.scores)).any())

    @cached_property
    def clustered(self) -> Floats:
        return cluster_scores(self.scores, self.clusters)

    @cached_property
    def without_each(self) -> LeaveOneOut:
        """How much hangs on each of the people who answered anything."""
        return leave_one_out(self.scores, self.clusters)

    @cached_property
    def item_seconds(self) -> list[list[float]]:
        if self.study is None:
            return [[] for _ in self.members]
        read = told_seconds if self.study.source else judged_seconds
        seconds = read([member.pk for member in self.members], self.only)
        return [seconds[member.pk] for member in self.members]

    @property
    def is_of_episodes(self) -> bool:
        return any(vector.episode is not None for vector in self.vectors)

    @property
    def coverage(self) -> float:
        """The share of the items of their test sets that the members answered; of those that it is
        read on, where it is not read on all."""
        if self.only is not None:
            asked = [len(self.only)] * len(self.members)
            if self.study is not None:
                asked = [len(self.only & {*vector.items.example_ids}) for vector in self.vectors]
            return float((~np.isnan(self.matrix)).sum()) / max(sum(asked), 1)
        answered = sum(int((~np.isnan(vector.scores)).sum()) for vector in self.vectors)
        return answered / sum(len(vector.items) for vector in self.vectors)


class CellReader(TaskScoring):
    """Reads cells at the chosen gold; a test set's items are read once for all of them."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        # By the test set and the group that declares its clusters.
        self._items: dict[tuple[int, str], ScoredItems] = {}
        self._read: dict[tuple[int, bool, int | None], list[Cell]] = {}

    def people(
        self, study: Study, *, simulated: bool = False, task: Task | None = None
    ) -> list[Cell]:
        """A study's cells (or those of one task), over the annotators that count."""
        cells = self.everybody(study, simulated=simulated, task=task)
        if self.choices.without_signs:
            signed = with_signs([study])
            cells = [cell.keeping([one.pk not in signed for one in cell.members]) for cell in cells]
        if not self.choices.with_excluded:
            cells = [cell.without_excluded for cell in cells]
        return [cell for cell in cells if cell.members]

    def everybody(
        self, study: Study, *, simulated: bool = False, task: Task | None = None
    ) -> list[Cell]:
        """The same with excluded annotators. Each study is read once."""
        key = study.pk, simulated, task.pk if task else None
        if key not in self._read:
            self._read[key] = self._read_people(study, simulated=simulated, task=task)
        return self._read[key]

    def _read_people(self, study: Study, *, simulated: bool, task: Task | None) -> list[Cell]:
        # By what happened, not by one database's keys: the same data give the same bytes.
        assignments = Assignment.objects.filter(study=study).completed()
        if task is not None:
            assignments = assignments.filter(batch__task=task)
        chosen = assignments.simulated() if simulated else assignments.of_people()
        of_batch = ("batch__task", "batch__training_set", "batch__test_set", "batch__pool")
        about = ("annotator", "exclusion", *of_batch)
        members = [
            member
            for member in chosen.select_related(*about).order_by("joined_at", "pk")
            if self.only(member.batch.task) != NOTHING
        ]
        by_task: dict[Task, list[Assignment]] = defaultdict(list)
        cells: dict[CellKey, list[Assignment]] = defaultdict(list)
        for member in members:
            by_task[member.batch.task].append(member)
            cells[cell_key(member.batch)].append(member)
        vectors: dict[int, Vector] = {}
        for of_task, those in by_task.items():
            vectors |= self._vectors(of_task, those, study.cluster_group(of_task.slug))
        no_floors = {pk: why_no_floor(screened) for pk, screened in screenings_in(study).items()}
        # Simulated annotators take a place of a demonstration alone.
        ended = not_as_named(study) if simulated == study.is_demonstration else ()
        return [
            self._cell(
                those[0].batch.task,
                those,
                vectors,
                shots,
                study=study,
                pool=pool,
                simulated=simulated,
                lacks=(*filter(None, [max(no_floors[one.batch_id] for one in those)]), *ended),
            )
            for (_, shots, pool), those in sorted(cells.items(), key=cell_order)
            if self.choices.wants(shots)
        ]

    def people_of(self, studies: Iterable[Study], task: Task | None = None) -> list[Cell]:
        """The cells of several studies; those of simulated annotators if asked for."""
        return [
            cell
            for study in studies
            for simulated in self.kinds_of(study)
            for cell in self.people(study, simulated=simulated, task=task)
        ]

    def kinds_of(self, study: Study) -> tuple[bool, ...]:
        """People, and simulated ones if asked for; in a demonstration simulated ones alone."""
        if study.is_demonstration:
            return (True,)
        return (False, True) if self.choices.simulated else (False,)

    def systems(self, task: Task, study: Study | None = None) -> list[Cell]:
        """All of a task, partial runs apart from whole ones; beside a study's people their items
        are clustered as theirs."""
        if self.only(task) == NOTHING:
            return []
        runs = list(task.runs.complete().select_related("test_set").order_by("pk"))
        group = study.cluster_group(task.slug) if study else ""
        vectors = self._vectors(task, runs, group)
        cells: dict[tuple[str, str, str, int | str, bool, bool], list[Run]] = defaultdict(list)
        for run in sorted(runs, key=_reading_order):
            is_of_episode = run.episode is not None
            shots = FEW if run.shots and is_of_episode else shots_label(run.shots)
            size = run.system, run.method, run.parameters, shots
            cells[*size, is_of_episode, run.is_partial].append(run)
        return [
            self._cell(task, members, vectors, shots, system=name, method=method, parameters=size)
            for (name, method, size, shots, *_), members in cells.items()
            if self.choices.wants(shots)
        ]

    def items(self, task: Task, item_set: ItemSet) -> ScoredItems:
        return self._items_of(task, {0: item_set})[0]

    def _cell(
        self,
        task: Task,
        members: Sequence[_Member],
        vectors: Mapping[int, Vector],
        shots: int | str,
        **about: Any,
    ) -> Cell:
        return Cell(
            task=task,
            shots=shots,
            only=self.only(task),
            references=self.policy(task),
            gold_version=self.gold_version(task),
            members=tuple(members),
            vectors=tuple(vectors[member.pk] for member in members),
            **about,
        )

    def _vectors(self, task: Task, members: Sequence[_Member], group: str) -> dict[int, Vector]:
        """People are nested in the sets that they learned from, several runs in their split."""
        owners = {one.pk: (one if isinstance(one, Run) else one.batch).test_set for one in members}
        items = self._items_of(task, owners, group)
        are_runs = any(isinstance(member, Run) for member in members)
        scores = (run_scores if are_runs else assignment_scores)(items, self.policy(task))
        return {
            member.pk: Vector(
                items[member.pk], scores[member.pk], _split_of(member), _episode_of(member)
            )
            for member in members
        }

    def _items_of(
        self, task: Task, owners: Mapping[int, ItemSet], group: str = ""
    ) -> dict[int, ScoredItems]:
        """The items of each owner's test set, by the owner's primary key."""
        missing = {one.pk: one for one in owners.values() if (one.pk, group) not in self._items}
        if missing:
            read = scored_items(task, missing.values(), self.gold_version(task), group)
            self._items |= {(pk, group): items for pk, items in read.items()}
        return {pk: self._items[item_set.pk, group] for pk, item_set in owners.items()}


def shots_of_batch(batch: Batch) -> int | str:
    return FEW if batch.shots and batch.test_set.episode is not None else batch.shots


# The task's slug, the shots and the pool.
CellKey = tuple[str, int | str, str]


def cell_key(batch: Batch) -> CellKey:
    return batch.task.slug, shots_of_batch(batch), batch.pool_name


def cell_order(cell: tuple[CellKey, list[Assignment]]) -> tuple[str, tuple[float, str], str]:
    task, shots, pool = cell[0]
    return task, shots_order(shots), pool


def _reading_order(run: Run) -> tuple[object, ...]:
    """Fully supervised last, however a database sorts nulls."""
    system = run.system, run.method, run.parameters
    place = run.split or 0, run.episode or 0, run.repeat or 0
    return *system, run.shots is None, run.shots or 0, *place, run.checksum


def _episode_of(member: Assignment | Run) -> int | None:
    return member.episode if isinstance(member, Run) else member.batch.test_set.episode


def _split_of(member: Assignment | Run) -> str:
    """Empty for people who were shown nothing. By the number of the split where it has one, so that
    people and runs have the same, and in that order."""
    episode = _episode_of(member)
    if episode is not None:
        return f"episode {episode:06}"
    learned = member if isinstance(member, Run) else member.batch.training_set
    if learned is None:
        return ""
    if learned.split is not None:
        return f"{learned.split:06}"
    return f"run {learned.checksum}" if isinstance(learned, Run) else learned.name


def known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)
