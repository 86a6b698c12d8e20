"""Prompting: the item sets of a task as material for prompts."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from annotation.kinds.scoring import gold_in_force
from annotation.models import Item, ItemSet, Kind, Task
from annotation.models.errors import BadInput
from annotation.studies.batching import Candidate, candidates
from scoring.core.draws import Draws
from scoring.prompts.formats import PromptExample, PromptSet


@dataclass(frozen=True)
class Wanted:
    """Which batches of a task; empty: all."""

    shots: Collection[int] = ()
    splits: Collection[int] = ()
    episodes: Collection[int] = ()

    def takes(self, candidate: Candidate) -> bool:
        split = candidate.training_set.split if candidate.training_set else None
        return (
            (not self.shots or candidate.shots in self.shots)
            and (not self.splits or split in self.splits)
            and (not self.episodes or candidate.episode in self.episodes)
        )


def prompt_sets(task: Task, *, wanted: Wanted, seed: int) -> Iterator[PromptSet]:
    """One for each batch that the task allows, with the training set in the order given by the
    seed. Raises BadInput if there is none."""
    chosen = [candidate for candidate in candidates(task) if wanted.takes(candidate)]
    if not chosen:
        raise BadInput(f"The task {task.slug} has no such sets: choose other shots or episodes.")
    version = task.latest_gold_version().number
    for candidate in chosen:
        yield _prompt_set(candidate, version, seed)


def _prompt_set(candidate: Candidate, version: int, seed: int) -> PromptSet:
    task, training_set = candidate.task, candidate.training_set
    training: list[PromptExample] = []
    if training_set is not None:
        draws = Draws(seed, "demonstrations", task.slug, training_set.name)
        training = draws.shuffled(_examples(training_set, version))
    place = {"split": training_set.split if training_set else None}
    if candidate.episode is not None:
        place = {"episode": candidate.episode}
    fields = {
        "benchmark": task.benchmark.name,
        "task": task.slug,
        "shots": candidate.shots,
        **place,
    }
    return PromptSet(
        kind=task.kind,
        fields=fields,
        training=tuple(training),
        test=tuple(_examples(candidate.test_set, version)),
    )


def _examples(item_set: ItemSet, version: int) -> list[PromptExample]:
    task = item_set.task
    items = list(Item.objects.filter(item_set=item_set).select_related("example"))
    items.sort(key=lambda item: item.position)
    golds = gold_in_force([item.example_id for item in items], task.pk, version)
    return [
        PromptExample(
            id=item.source_id,
            context=tuple(item.example.context),
            question=item.example.question,
            options=_options(item, item_set, task.kind),
            answer=tuple(golds[item.example_id].alternative_texts()[0]),
        )
        for item in items
    ]


def _options(item: Item, item_set: ItemSet, kind: str) -> tuple[str, ...]:
    if kind == Kind.CANDIDATE:
        return tuple(item.example.candidate_texts())
    return tuple(item_set.choices) if kind == Kind.CHOICE else ()
