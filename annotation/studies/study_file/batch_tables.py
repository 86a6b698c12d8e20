"""The batches of a study as tables of its file, each of which stands for many: tasks × shots ×
splits or episodes; and the batches that such tables stand for."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any

from annotation.models import Batch, Benchmark, ItemSet, Pool, Role, Task, new_token
from annotation.models.benchmark import LAID_OUT, PART
from annotation.models.errors import BadInput
from annotation.models.settings import in_table
from annotation.models.texts import checksum
from annotation.studies.cutting import cut_test_set, in_parts
from annotation.studies.drafting import possible_batches, shots_of
from annotation.studies.study_file.reading import StudyFile
from scoring.tables.words import counted

_KEYS = in_table("batches")
# What is put together where tables differ in nothing else.
_LISTS = ("splits", "shots", "episodes", "tasks")
# A key, and those that it leaves no room for.
_INSTEAD = (
    ("episodes", ("shots", "splits", "training_set")),
    ("training_set", ("shots", "splits")),
)
# In the name of a sample: how many contexts, and the seed.
_SAMPLE = re.compile(PART + r"(\d+)(?:-(\d+))?$")
Key = tuple[int | None, int, str]
# By training set and test set, how a table says that pair shortly.
Forms = Mapping[tuple[int | None, str], dict[str, Any]]


def key_of(batch: Batch) -> Key:
    """What no two batches of a study have in common."""
    return batch.training_set_id, batch.test_set_id, batch.pool.slug if batch.pool else ""


# From batches to tables


def batch_tables(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    """Writes as few tables as say it all, the same for the same batches, whatever their order."""
    short_forms = cache(_short_forms)
    whole = _whole_layouts(batches)
    tables = [table for batch in batches for table in _table(batch, short_forms(batch.task), whole)]
    # Episodes and shots by number; what differs elsewhere alone by its text.
    tables.sort(key=lambda table: (*(table.get(key, [0]) for key in _LISTS[:3]), str(table)))
    for key in _LISTS:
        tables = _merged(tables, key)
    order = {key: number for number, key in enumerate(_KEYS)}
    return [dict(sorted(table.items(), key=lambda pair: order[pair[0]])) for table in tables]


def _merged(tables: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for table in tables:
        rest = checksum({name: value for name, value in sorted(table.items()) if name != key})
        merged_table = merged.setdefault(f"{rest} {key in table}", {**table, key: []})
        merged_table[key] = [*merged_table[key], *table.get(key, [])]
    return [{name: v for name, v in table.items() if name != key or v} for table in merged.values()]


def _short_forms(task: Task) -> Forms:
    """The short forms in which a table can say pairs of sets: each leads to one pair alone."""
    forms: dict[str, tuple[tuple[int | None, str], dict[str, Any]] | None] = {}
    for batch in possible_batches(task):
        pair, shots = (batch.training_set_id, batch.test_set.name), shots_of(batch)
        form: dict[str, Any] = {"shots": [shots], "splits": [batch.split]}
        if batch.test_set.episode is not None:
            form = {"episodes": [batch.test_set.episode]}
        elif not batch.training_set:
            form = {"shots": [0]}
        if None not in (shots, *form.get("splits", [])):
            forms[str(form)] = None if str(form) in forms else (pair, form)
    return dict(entry for entry in forms.values() if entry)


def _table(batch: Batch, forms: Forms, whole: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """That of one batch; of the parts of a test set, where all are there, the first for all."""
    name, part = batch.test_set.name, {}
    layout, sample = LAID_OUT.search(name), _SAMPLE.search(name)
    if layout and _layout(batch) in whole:
        if layout[4] != "1":
            return
        part = {"items_a_person": int(layout[1]), "people_an_item": int(layout[2])}
        name, seed = name[: layout.start()], layout[3]
    elif sample:
        part, seed = {"items_a_person": int(sample[1])}, sample[2]
        name = name[: sample.start()]
    if part and seed:
        part["sample_seed"] = int(seed)
    form = forms.get((batch.training_set_id, name))
    if form is None:
        trained = next((w for pair, w in forms.items() if pair[0] == batch.training_set_id), None)
        named = {"training_set": batch.training_set.name} if batch.training_set else {"shots": [0]}
        form = {**(trained or named), "test_set": name}
    checks = batch.check_set
    yield {
        "tasks": [batch.task.slug],
        **form,
        **({"pool": batch.pool.slug} if batch.pool else {}),
        "people": batch.wanted,
        **part,
        **({"checks": f"{checks.task.slug}/{checks.name}"} if checks else {}),
    }


def _layout(batch: Batch) -> tuple[Any, ...]:
    """What the parts of one layout have in common, in batches that one table can say."""
    stem = batch.test_set.name.rpartition("-")[0]
    keys = (batch.task_id, batch.training_set_id, batch.pool_id, batch.check_set_id)
    return (stem, *keys, batch.wanted)


def _whole_layouts(batches: Sequence[Batch]) -> set[tuple[Any, ...]]:
    """Those of which no part is missing."""
    counts = Counter(_layout(batch) for batch in batches if LAID_OUT.search(batch.test_set.name))
    return {layout for layout, count in counts.items() if count == _parts(*layout[:2])}


def _parts(stem: str, task_id: int) -> int:
    """How many there are of a layout: a seed too may stand behind the stem."""
    sets = ItemSet.objects.filter(task=task_id, name__startswith=f"{stem}-")
    return sum(
        name.removeprefix(f"{stem}-").isdecimal() for name in sets.values_list("name", flat=True)
    )


# From tables to batches


class BatchReader:
    """Reads the tables [[batches]] of a file, on a benchmark and with the file's pools."""

    def __init__(self, file: StudyFile, benchmark: Benchmark, pools: Iterable[Pool]) -> None:
        self.file, self.pools = file, {pool.slug: pool for pool in pools}
        self.tasks = {task.slug: task for task in benchmark.tasks.all()}
        self.possible = cache(possible_batches)

    def batches(self) -> list[Batch]:
        """All of them, not stored. Raises BadInput for what the benchmark lacks."""
        batches: dict[Key, Batch] = {}
        for number in range(self.file.tables("batches")):
            for batch in self._of_table(("batches", number)):
                if key_of(batch) in batches:
                    sentence = f"{batch} stands in this table, and before it: say it once."
                    raise self.file.wrong(("batches", number), sentence)
                batches[key_of(batch)] = batch
        return list(batches.values())

    def _of_table(self, place: tuple[str, int]) -> Iterator[Batch]:
        said = self.file.values(place, _KEYS)
        if not said.get("tasks"):
            raise self.file.wrong(place, 'Name the tasks of these batches: tasks = ["…"].')
        for key, rivals in _INSTEAD:
            if key in said and (other := next((name for name in rivals if name in said), "")):
                raise self.file.wrong((*place, other), f"Say this or “{key}”, not both.")
        if "people_an_item" in said and "items_a_person" not in said:
            sentence = "Say how many items a person gets: a part is that large."
            raise self.file.wrong((*place, "people_an_item"), sentence)
        for slug in said["tasks"]:
            task = self._one_of("tasks", self.tasks, slug, (*place, "tasks"))
            chosen = self._trained(place, task, said)
            yield from self._asked(place, task, chosen, said)

    def _one_of(self, kind: str, choices: Mapping[str, Any], name: str, place: Any) -> Any:
        if name not in choices:
            known = ", ".join(choices) or "none"
            raise self.file.wrong(place, f"There is no “{name[:80]}” among the {kind}: {known}.")
        return choices[name]

    def _trained(self, place: Any, task: Task, said: Mapping[str, Any]) -> list[Batch]:
        """Batches of the training sets that are said, each with the test set that goes with it."""
        possible = self.possible(task)
        if "episodes" in said:
            by_episode = {batch.test_set.episode: batch for batch in possible}
            return [self._among(by_episode, n, place, task, "episodes") for n in said["episodes"]]
        of_sets = [batch for batch in possible if batch.test_set.episode is None]
        if "training_set" in said:
            chosen = self._set(task, Role.TRAINING, said["training_set"], (*place, "training_set"))
            trained = [batch for batch in possible if batch.training_set == chosen]
            return trained[:1] or [Batch(task=task, training_set=chosen)]
        by_shots: dict[Any, dict[Any, list[Batch]]] = {}
        for batch in of_sets:
            by_shots.setdefault(shots_of(batch), {}).setdefault(batch.split, []).append(batch)
        chosen_sets: list[Batch] = []
        for shots in dict.fromkeys(said.get("shots", [0])):
            by_split = self._among(by_shots, shots, place, task, "shots")
            splits = said.get("splits", by_split) if shots else [None]
            for split in dict.fromkeys(splits):
                chosen_sets += self._among(by_split, split, place, task, "splits")
        return chosen_sets

    def _among(
        self, choices: Mapping[Any, Any], number: Any, place: Any, task: Task, key: str
    ) -> Any:
        if number not in choices:
            known = ", ".join(str(n) for n in sorted(n for n in choices if n is not None))
            words = {"shots": "sets with {} shots", "splits": "split {}", "episodes": "episode {}"}
            lacking = words[key].format(number)
            sentence = f"The task {task.slug} has no {lacking}; it has {known or 'none'}."
            raise self.file.wrong((*place, key), sentence)
        return choices[number]

    def _set(self, task: Task, role: Role, name: str, place: Any) -> ItemSet:
        sets = {item_set.name: item_set for item_set in task.item_sets.filter(role=role)}
        item_set: ItemSet = self._one_of(f"{role.value} sets of {task.slug}", sets, name, place)
        return item_set

    def _asked(
        self, place: Any, task: Task, chosen: Iterable[Batch], said: Mapping[str, Any]
    ) -> Iterator[Batch]:
        """Give them the test set, the sample or the parts that are said, and all else."""
        items, viewers = said.get("items_a_person"), said.get("people_an_item")
        seed = said.get("sample_seed", 0)
        batches = [copy(batch) for batch in chosen]
        if "test_set" in said:
            for batch in batches:
                batch.test_set = self._set(task, Role.TEST, said["test_set"], (*place, "test_set"))
        if any(batch.test_set_id is None for batch in batches):
            sentence = f"The task {task.slug} has no test set of its own: name one as test_set."
            raise self.file.wrong(place, sentence)
        if items:
            self._check_enough(place, batches, items)
        try:
            if items and viewers:
                batches = list(in_parts(batches, items, viewers, seed=seed))
            elif items:
                for batch in batches:
                    batch.test_set = cut_test_set(batch.test_set, items, seed=seed)
        except BadInput as refusal:
            raise self.file.wrong((*place, "items_a_person"), str(refusal)) from refusal
        for batch in batches:
            batch.wanted = said.get("people", 1 if viewers else batch.wanted)
            batch.join_token = new_token()
            if "pool" in said:
                batch.pool = self._one_of("pools", self.pools, said["pool"], (*place, "pool"))
            if "checks" in said:
                slug, _slash, name = said["checks"].partition("/")
                of_task = self._one_of("tasks", self.tasks, slug, (*place, "checks"))
                batch.check_set = self._set(of_task, Role.TRAINING, name, (*place, "checks"))
            yield batch

    def _check_enough(self, place: Any, batches: Iterable[Batch], items: int) -> None:
        """Refuse more items a person than the set has: all of them would be taken, unsaid."""
        for test_set in {batch.test_set for batch in batches}:
            count = test_set.items.order_by().values("example__context_hash").distinct().count()
            if items > count:
                sentence = (
                    f"The test set {test_set.name} of {test_set.task.slug} has "
                    f"{counted(count, 'item')}: ask for fewer, or leave this out for all."
                )
                raise self.file.wrong((*place, "items_a_person"), sentence)
