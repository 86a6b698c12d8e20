"""Prompting: the item sets of a task, or the frozen batches of a study, as material for prompts."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from annotation.kinds import answer_kind
from annotation.kinds.base import asked
from annotation.kinds.gold import gold_in_force
from annotation.models import Batch, Benchmark, Item, ItemSet, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.drafting import possible_batches, shots_of
from scoring.core.episodes import Draws
from scoring.runs.formats.records import prompt_id
from scoring.runs.storing import find_task, find_test_set


@dataclass(frozen=True)
class PromptExample:
    # Its own id, as in the test file.
    id: str
    context: tuple[str, ...]
    question: str
    # The texts to choose from, where the kind has any.
    options: tuple[str, ...]
    # Empty for a test example: its gold is not even read.
    answer: tuple[str, ...] = ()
    # What the options stand for, where that is something else: the numbers of an example's own.
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromptSet:
    """A batch's material; `fields` name the run that answers it, as its predictions will."""

    kind: str
    max_spans: int | None
    description: str
    fields: dict[str, Any]
    seed: int
    # In the order given by the seed.
    training: tuple[PromptExample, ...]
    test: tuple[PromptExample, ...]
    # Whether a model is told to think first, which people are not.
    reasons: bool = False

    @cached_property
    def is_lettered(self) -> bool:
        """Whether its examples have options of their own."""
        return any(example.labels for example in self.test)

    @property
    def has_labels(self) -> bool:
        """Whether its test set offers labels, the same for all examples."""
        return answer_kind(self.kind).takes_one_label and not self.is_lettered

    def line(
        self, form: str, example: PromptExample, content: dict[str, Any], *, training: bool = False
    ) -> dict[str, Any]:
        """One line of an export: what the prompt belongs to, how it was made, and what it says."""
        options = {"options": list(example.options)} if example.options else {}
        if example.labels:
            options["labels"] = list(example.labels)
        return {
            "id": prompt_id(self.fields, example.id, training=training),
            "example": example.id,
            **self.fields,
            "format": form,
            "seed": self.seed,
            "shown": [shot.id for shot in self.training],
            "role": "training" if training else "test",
            "answer_kind": self.kind,
            **content,
            **options,
        }


@dataclass(frozen=True)
class Subject:
    """Which batches of a benchmark's tasks, or of a study, a model is shown. What is empty is no
    choice: all of it."""

    benchmark: Benchmark
    study: Study | None = None
    # By their slugs.
    tasks: Collection[str] = ()
    shots: Collection[int] = ()
    splits: Collection[int] = ()
    episodes: Collection[int] = ()
    seed: int = 0

    def prompt_sets(self, *, skips_tasks: bool = False) -> Iterator[PromptSet]:
        """One for each batch, and one by one, since a benchmark's texts need not fit into the
        memory. Raises BadInput where a task has none; `skips_tasks` leaves such a one out unless it
        was named."""
        if self.study is not None and self.study.benchmark_id != self.benchmark.pk:
            raise BadInput(
                f"The study {self.study.slug} is not on the benchmark {self.benchmark.name}."
            )
        for task in self.tasks or self._all_tasks(one_by_one=skips_tasks):
            try:
                yield from self.of_task(task)
            except BadInput:
                if self.tasks or not skips_tasks:
                    raise

    def of_task(self, slug: str) -> Iterator[PromptSet]:
        if self.study is not None:
            return self._of_study(self.study, slug)
        return self._of_benchmark(find_task(self.benchmark, slug))

    def set_of(self, fields: Mapping[str, Any]) -> PromptSet:
        names = ("split", "episode")
        split, episode = ([] if fields.get(name) is None else [fields[name]] for name in names)
        only = replace(self, shots=[fields["shots"]], splits=split, episodes=episode)
        return next(prompts for prompts in only.of_task(fields["task"]) if prompts.fields == fields)

    def _all_tasks(self, *, one_by_one: bool) -> Collection[str]:
        if self.study is not None and not one_by_one:
            return [""]  # whatever tasks it has
        tasks = list(self.benchmark.tasks.order_by("slug").values_list("slug", flat=True))
        if not tasks:
            raise BadInput(f"The benchmark {self.benchmark.name} has no tasks.")
        return tasks

    def _of_benchmark(self, task: Task) -> Iterator[PromptSet]:
        chosen = [possible for possible in possible_batches(task) if self._takes(possible)]
        if not chosen:
            raise BadInput(
                f"The task {task.slug} has no such sets: choose other shots, splits or episodes "
                "(a set without shots has no split)."
            )
        version = task.latest_gold_version().number
        for possible in chosen:
            yield _prompt_set(possible, task.description, version, self.seed)

    def _of_study(self, study: Study, task: str) -> Iterator[PromptSet]:
        """The sets as the people of a study that has started see them: what it froze counts, not
        what the task says today."""
        batches = study.batches.select_related(
            "task__benchmark", "training_set", "test_set__task", "gold_version"
        )
        all_batches = list(batches.order_by("task__slug", "pk"))
        of_task = [batch for batch in all_batches if task in ("", batch.task.slug)]
        if not of_task:
            known = ", ".join(dict.fromkeys(batch.task.slug for batch in all_batches))
            raise BadInput(f"The study {study.slug} has no task “{task}”: choose from {known}.")
        self._check(of_task, f"The study {study.slug}")
        chosen = [batch for batch in of_task if self._takes(batch)]
        if not chosen:
            raise BadInput(
                f"The study {study.slug} has no batch with these shots, splits and episodes "
                "together."
            )
        for batch in chosen:
            if batch.gold_version is None:
                raise BadInput(
                    f"The study {study.slug} has not been started, and may still change: start it, "
                    "or leave --study out."
                )
            version = batch.gold_version.number
            prompts = _prompt_set(batch, batch.description, version, self.seed)
            yield replace(prompts, fields={**prompts.fields, "study": study.slug})

    def _takes(self, batch: Batch) -> bool:
        return (
            (not self.shots or shots_of(batch) in self.shots)
            and (not self.splits or batch.split in self.splits)
            and (not self.episodes or batch.test_set.episode in self.episodes)
        )

    def _check(self, possible: Collection[Batch], whose: str) -> None:
        """Raise BadInput for what none of them has, so that nothing is left out unsaid."""
        training = [batch.training_set for batch in possible]
        offered: dict[str, set[int | None]] = {
            "shots": {shots_of(batch) for batch in possible},
            "splits": {items.split for items in training if items},
            "episodes": {batch.test_set.episode for batch in possible},
        }
        for name, values in offered.items():
            if unknown := sorted(set(getattr(self, name)) - values):
                known = sorted(value for value in values if value is not None)
                if not known:
                    raise BadInput(f"{whose} has no {name}: leave them out.")
                lacking, choice = (", ".join(map(str, values)) for values in (unknown, known))
                raise BadInput(f"{whose} has no {name} {lacking}: choose from {choice}.")


def test_set_of(prompts: PromptSet) -> ItemSet:
    """The whole test set that answers to them are for."""
    benchmark = Benchmark.objects.get(name=prompts.fields["benchmark"])
    task = find_task(benchmark, prompts.fields["task"])
    return find_test_set(task, prompts.fields.get("episode"))


def _prompt_set(batch: Batch, description: str, version: int, seed: int) -> PromptSet:
    task, training_set = batch.task, batch.training_set
    training: list[PromptExample] = []
    if training_set is not None:
        draws = Draws(seed, "demonstrations", task.slug, training_set.name)
        training = draws.shuffled(_examples(training_set, version))
    episode = batch.test_set.episode
    fields = {"benchmark": task.benchmark.name, "task": task.slug, "shots": shots_of(batch)}
    fields |= {"split": batch.split} if episode is None else {"episode": episode}
    told, test = answer_kind(task.kind).described(description), tuple(_examples(batch.test_set))
    return PromptSet(task.kind, task.max_spans, told, fields, seed, tuple(training), test)


def _examples(item_set: ItemSet, version: int | None = None) -> list[PromptExample]:
    """The examples with their answers at a gold version; without one, their gold is not read."""
    task = item_set.task
    rows = Item.objects.filter(item_set=item_set).select_related("example")
    items = list(rows.order_by("position"))
    keys = [item.example_id for item in items]
    if any(item.example.images for item in items):
        raise BadInput(
            f"Items of the task {task.slug} show images, which a prompt does not hold: name the "
            "other tasks with --task, and import what a model that sees them answered."
        )
    kind = answer_kind(task.kind)
    golds = {} if version is None else gold_in_force(keys, task.pk, version)
    answers = {pk: tuple(gold.alternative_texts()[0]) for pk, gold in golds.items()}
    examples = []
    for item in items:
        shown = asked(item.example, item_set.choices)
        context, question = tuple(item.example.context), item.example.question
        options, answer = kind.options_as_read(shown), answers.get(item.example_id, ())
        labels = kind.options(shown) if shown.options else ()
        examples.append(PromptExample(item.source_id, context, question, options, answer, labels))
    return examples
