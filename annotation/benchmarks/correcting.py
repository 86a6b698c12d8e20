"""Changing a benchmark that is there: gold is corrected by adding a version, so that nothing that
was measured changes, also as the benchmark's own file proposes; what nothing uses is deleted, with
its tasks, examples and gold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import PROTECT

from annotation.benchmarks.storing import IMPORT_REASON
from annotation.kinds import answer_kind
from annotation.kinds.base import asked
from annotation.kinds.gold import gold_in_force
from annotation.kinds.naming import USUAL, WAYS, Way
from annotation.models import (
    Benchmark,
    ChangeAction,
    Example,
    Gold,
    GoldVersion,
    Image,
    Item,
    ItemSet,
    Study,
    Task,
)
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal

Span = dict[str, Any]
# A text alone, or with its position as {"text": …, "segment": …, "start": …}.
Given = Sequence[Sequence[str | Span]]


def correct_gold(
    task: Task, corrections: Mapping[int | str, Given], *, author: User | None, reason: str
) -> GoldVersion:
    """A new gold version of the task, with new alternatives for some of its examples.

    An example is named by its primary key or its identity. Started studies keep showing, and
    screening by, the version that they froze. Raises BadInput and stores nothing.
    """
    if not reason.strip() or reason.strip() == IMPORT_REASON:
        raise BadInput("Say why the gold is corrected: the reason is kept with the version.")
    with transaction.atomic():
        # One correction of a task at a time: versions are numbered consecutively.
        Task.objects.select_for_update().get(pk=task.pk)
        latest = task.latest_gold_version()
        changed = propose_gold(task, corrections)
        version = GoldVersion.objects.create(
            task=task, number=latest.number + 1, reason=reason.strip(), author=author
        )
        for gold in changed:
            gold.version = version
        Gold.objects.bulk_create(changed)
        _log(version, changed)
    return version


def propose_gold(task: Task, corrections: Mapping[int | str, Given]) -> list[Gold]:
    """The golds that a correction would add, not stored. Raises BadInput."""
    examples = _find_examples(task, corrections)
    present = gold_in_force(
        [example.pk for example in examples.values()], task.pk, task.latest_gold_version().number
    )
    changed: list[Gold] = []
    for name, example in examples.items():
        before = present[example.pk].alternatives
        after = _alternatives(task, example, corrections[name])
        _check(task, example, after, before)
        if after != before:
            changed.append(Gold(example=example, alternatives=after))
    if not changed:
        raise BadInput("This is the gold already, so there is nothing to correct.")
    return changed


def _log(version: GoldVersion, changed: Sequence[Gold]) -> None:
    """Log it in the benchmark, and in the studies that this scores again: never the gold itself."""
    task = version.task
    before = {"task": task.slug, "gold version": version.number - 1}
    after = {"task": task.slug, "gold version": version.number, "examples": len(changed)}
    studies = Study.objects.filter(batches__task=task).distinct()
    things: list[Benchmark | Study] = [task.benchmark, *studies]
    for thing in things:
        record(version.author, thing, ChangeAction.GOLD_CORRECTED, before, after)


def _find_examples(task: Task, names: Mapping[int | str, Given]) -> dict[int | str, Example]:
    examples: dict[int | str, Example] = {}
    for name in names:
        field = {"identity": name} if isinstance(name, str) else {"pk": name}
        example = task.examples.filter(**field).first()
        if example is None:
            raise BadInput(f"The task {task.slug} has no example {name!r}.")
        examples[name] = example
    return examples


def _alternatives(task: Task, example: Example, given: Given) -> list[list[Span]]:
    """The alternatives as they are stored: options by their numbers. Raises BadInput."""
    alternatives = [[_as_span(span, example) for span in spans] for spans in given]
    if not example.options:
        return alternatives
    kind, shown = answer_kind(task.kind), asked(example, labels=())
    texts_of = [[span["text"] for span in spans] for spans in alternatives]
    return [[{"text": text} for text in kind.meant(texts, shown)] for texts in texts_of]


def _check(
    task: Task,
    example: Example,
    alternatives: Sequence[Sequence[Span]],
    before: Sequence[Sequence[Span]],
) -> None:
    """Raise BadInput unless these can be given as answers, or are in the gold before."""
    labels = {label for item_set in example.item_sets.all() for label in item_set.choices}
    kind, shown = answer_kind(task.kind), asked(example, sorted(labels))
    if not alternatives:
        _refuse(example, "give at least one alternative; an empty one means no answer")
    known = {span["text"] for spans in before for span in spans}
    for spans in alternatives:
        texts = [span["text"] for span in spans]
        if "" in texts or len(set(texts)) < len(texts):
            _refuse(example, "give each text of an alternative once, and no empty text")
        if problem := kind.problem_of_alternative(texts, task.max_spans):
            _refuse(example, problem)
        for text in set(texts) - known - kind.givable(texts, shown):
            _refuse(example, f"“{text}” is not among the answers that can be given")


def _as_span(span: str | Span, example: Example) -> Span:
    if isinstance(span, str):
        return {"text": span}
    text, segment, start = span.get("text"), span.get("segment", 0), span.get("start")
    if not isinstance(text, str):
        _refuse(example, "each piece needs a text")
    if start is None:
        return {"text": text}
    is_position = type(segment) is int and type(start) is int
    in_range = is_position and 0 <= segment < len(example.context) and start >= 0
    if not in_range or not example.context[segment].startswith(text, start):
        _refuse(example, f"“{text}” does not stand at {start} of part {segment} of the context")
    return {"text": text, "segment": segment, "start": start}


def _refuse(example: Example, problem: str) -> NoReturn:
    raise BadInput(f"Example {example.identity}: {problem}.")


# What belongs to a benchmark, with the path to it, in the order of deletion: what refers to other
# rows goes before them.
CONTENT: tuple[tuple[type[models.Model], str], ...] = (
    (Item, "item_set__task__benchmark"),
    (ItemSet, "task__benchmark"),
    (Gold, "example__task__benchmark"),
    (GoldVersion, "task__benchmark"),
    (Example, "task__benchmark"),
    (Image, "task__benchmark"),
    (Task, "benchmark"),
    (Benchmark, "pk"),
)


def uses_of(benchmark: Benchmark) -> list[str]:
    """The kinds of rows that refer to a benchmark and hold it: studies, runs, published figures.
    They are found by PROTECT, which each names in its own reference."""
    return sorted({str(label) for label in _holders(benchmark)})


def kept_sentence(benchmark: Benchmark, uses: list[str]) -> str:
    return f"The benchmark {benchmark.name} is kept, since there are: {', '.join(uses)}."


def delete_benchmark(benchmark: Benchmark) -> None:
    try:
        with transaction.atomic():
            Benchmark.objects.select_for_update().get(pk=benchmark.pk)
            if uses := uses_of(benchmark):
                raise Refusal(kept_sentence(benchmark, uses))
            for model, path in CONTENT:
                model._default_manager.filter(**{path: benchmark.pk}).delete()
    except IntegrityError as error:
        raise Refusal(
            f"The benchmark {benchmark.name} is kept: somebody has begun to use it."
        ) from error


def _holders(benchmark: Benchmark) -> Iterator[str]:
    for model, path in CONTENT:
        rows = model._default_manager.filter(**{path: benchmark.pk}).order_by()
        for relation in model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, models.ManyToOneRel) or relation.on_delete is not PROTECT:
                continue
            holder = relation.related_model
            if holder in dict(CONTENT):
                continue
            refers = {f"{relation.field.name}__in": rows.values("pk")}
            if holder._default_manager.filter(**refers).exists():
                yield str(holder._meta.verbose_name_plural)


# Between the options that a proposal names.
BETWEEN = ","


# The alternatives that an example's proposal names; none where it cannot be read.
Reading = list[list[str]]


@dataclass(frozen=True)
class Proposals:
    # By example: the alternatives that differ from its gold.
    takeable: dict[Example, Reading]
    # What names no options of theirs, or different ones by different ways.
    unread: list[Example]


def proposals_of(task: Task) -> Proposals:
    """Read the proposals of a task: by the ways of naming an option that read most of them. What
    they read differently is not taken."""
    examples = list(task.examples.exclude(proposed="").select_related("task").order_by("pk"))
    version = task.latest_gold_version().number
    golds = gold_in_force([example.pk for example in examples], task.pk, version)
    readings = _best_readings(examples)
    takeable, unread = dict[Example, Reading](), list[Example]()
    for number, example in enumerate(examples):
        alternatives = _agreed([reading[number] for reading in readings])
        if not alternatives:
            unread.append(example)
        elif alternatives != golds[example.pk].alternative_texts():
            takeable[example] = alternatives
    return Proposals(takeable, unread)


def _best_readings(examples: Sequence[Example]) -> list[list[Reading]]:
    """The readings of all examples by each way that reads all that any of the ways reads, such as
    by letter; by every way where none does."""
    readings = [[_read(example, WAYS[way]) for example in examples] for way in USUAL]
    readable = [any(of_example) for of_example in zip(*readings, strict=True)]
    best = [reading for reading in readings if [bool(one) for one in reading] == readable]
    return best or readings


def _agreed(readings: Sequence[Reading]) -> Reading:
    """What all readings of one example say that say anything; nothing where two differ."""
    different = [one for n, one in enumerate(readings) if one and one not in readings[:n]]
    return different[0] if len(different) == 1 else []


def _read(example: Example, number_of: Way) -> Reading:
    names: Sequence[str] = [name.strip() for name in example.proposed.split(BETWEEN)]
    numbers = [number_of(name, example.options) for name in names]
    if None in numbers:
        return []
    texts = [str(number) for number in numbers]
    return [texts] if answer_kind(example.task.kind).takes_sets else [[text] for text in texts]
