"""Prompting: the item sets of a task, or the frozen batches of a study, as material for prompts."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from annotation.kinds import answer_kind
from annotation.kinds.base import asked
from annotation.kinds.scoring import gold_in_force
from annotation.models import Batch, Item, ItemSet, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.batching import PossibleBatch, possible_batches
from scoring.core.draws import Draws
from scoring.prompts.material import PromptExample, PromptSet


@dataclass(frozen=True)
class Wanted:
    """Which batches of a task; empty: all."""

    shots: Collection[int] = ()
    splits: Collection[int] = ()
    episodes: Collection[int] = ()

    def takes(self, possible: PossibleBatch) -> bool:
        split = possible.training_set.split if possible.training_set else None
        return (
            (not self.shots or possible.shots in self.shots)
            and (not self.splits or split in self.splits)
            and (not self.episodes or possible.episode in self.episodes)
        )

    def check(self, possible: Collection[PossibleBatch], whose: str) -> None:
        """Raise BadInput for what none of them has, so that nothing is left out unsaid."""
        training = [batch.training_set for batch in possible]
        there: dict[str, set[int | None]] = {
            "shots": {batch.shots for batch in possible},
            "splits": {items.split for items in training if items},
            "episodes": {batch.episode for batch in possible},
        }
        for name, found in there.items():
            if unknown := sorted(set(getattr(self, name)) - found):
                known = sorted(value for value in found if value is not None)
                raise BadInput(
                    f"{whose} has no {name} {_listed(unknown)}: choose from {_listed(known)}."
                    if known
                    else f"{whose} has no {name}: leave them out."
                )


def prompt_sets(task: Task, *, wanted: Wanted, seed: int) -> Iterator[PromptSet]:
    """One for each batch that the task allows, with the training set in the order given by the
    seed. Raises BadInput if there is none."""
    chosen = [possible for possible in possible_batches(task) if wanted.takes(possible)]
    if not chosen:
        raise BadInput(f"The task {task.slug} has no such sets: choose other shots or episodes.")
    version = task.latest_gold_version().number
    for possible in chosen:
        yield _prompt_set(possible, task.description, version, seed)


def prompt_sets_of_study(
    study: Study, *, task: str, wanted: Wanted, seed: int
) -> Iterator[PromptSet]:
    """One for each batch of a study that has started, as its people see it: what it froze counts,
    not what the task says today. Raises BadInput if there is none."""
    batches = study.batches.select_related(
        "task__benchmark", "training_set", "test_set__task", "gold_version"
    )
    there = list(batches.order_by("task__slug", "pk"))
    of_task = [batch for batch in there if task in ("", batch.task.slug)]
    if not of_task:
        known = _listed(dict.fromkeys(batch.task.slug for batch in there))
        raise BadInput(f"The study {study.slug} has no task “{task}”: choose from {known}.")
    wanted.check([_possible(batch) for batch in of_task], f"The study {study.slug}")
    chosen = [batch for batch in of_task if wanted.takes(_possible(batch))]
    if not chosen:
        raise BadInput(
            f"The study {study.slug} has no batch with these shots, splits and episodes together."
        )
    for batch in chosen:
        if batch.gold_version is None:
            raise BadInput(
                f"The study {study.slug} has not been started, and may still change: start it, or "
                "leave --study out."
            )
        version = batch.gold_version.number
        prompts = _prompt_set(_possible(batch), batch.description, version, seed)
        yield replace(prompts, fields={**prompts.fields, "study": study.slug})


def _listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))


def _possible(batch: Batch) -> PossibleBatch:
    return PossibleBatch(batch.task, batch.training_set, batch.test_set)


def _prompt_set(possible: PossibleBatch, description: str, version: int, seed: int) -> PromptSet:
    task, training_set = possible.task, possible.training_set
    training: list[PromptExample] = []
    if training_set is not None:
        draws = Draws(seed, "demonstrations", task.slug, training_set.name)
        training = draws.shuffled(_examples(training_set, version))
    drawn_from = {"split": training_set.split if training_set else None}
    if possible.episode is not None:
        drawn_from = {"episode": possible.episode}
    fields = {
        "benchmark": task.benchmark.name,
        "task": task.slug,
        "shots": possible.shots,
        **drawn_from,
    }
    return PromptSet(
        kind=task.kind,
        max_spans=task.max_spans,
        description=description,
        fields=fields,
        seed=seed,
        training=tuple(training),
        test=tuple(_examples(possible.test_set)),
    )


def _examples(item_set: ItemSet, version: int | None = None) -> list[PromptExample]:
    """With their answers at a gold version; without, their gold is not read."""
    task = item_set.task
    items = list(
        Item.objects.filter(item_set=item_set).select_related("example").order_by("position")
    )
    keys = [item.example_id for item in items]
    golds = {} if version is None else gold_in_force(keys, task.pk, version)
    answers = {pk: tuple(gold.alternative_texts()[0]) for pk, gold in golds.items()}
    return [
        PromptExample(
            id=item.source_id,
            context=tuple(item.example.context),
            question=item.example.question,
            options=answer_kind(task.kind).options(asked(item.example, item_set.choices)),
            answer=answers.get(item.example_id, ()),
        )
        for item in items
    ]
