"""Rows → arrays, the only meeting point: answers of people and models become vectors of S1, in the
order of a test set's items. A benchmark of episodes has thousands of sets, so those of a task are
read together. Vectors are kept, so that answers are read once for each state of their inputs."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from annotation.kinds import answer_kind
from annotation.models import GivenScore, Gold, Item, ItemSet, Judgement, Task
from annotation.models.benchmark import cluster_of
from annotation.models.texts import checksum
from scoring.core.normalisation import normalised, normalised_golds
from scoring.core.s1 import SCORER_VERSION, score_many
from scoring.models import Prediction, Run
from scoring.models.comparison import STORED, ScoreVector
from scoring.models.run import MALFORMED

Floats = NDArray[np.float64]
PORTION = 50
# An answer as the JSON that is stored.
ANSWER = Cast("answer", TextField())
# A query takes only so many values.
MOST_NAMED = 500
# The alternatives of one gold, each a set of texts.
Texts = tuple[tuple[str, ...], ...]
# The example, the id that the set's file gives it, its context, and its cluster.
ItemRow = tuple[int, str, str, str]


class ScoredItems:
    """The items of one test set, in their order, with their gold at one version."""

    def __init__(
        self, task: Task, pk: int, rows: Sequence[ItemRow], golds: Mapping[int, Texts], version: int
    ) -> None:
        self.item_set_id, self.gold_version = pk, version
        self.normalisation = task.normalisation
        self.example_ids = tuple(row[0] for row in rows)
        self.source_ids = tuple(row[1] for row in rows)
        self.clusters = tuple(row[3] for row in rows)
        self.golds = tuple(golds[pk] for pk in self.example_ids)
        self.fingerprint = checksum([[row[:3] for row in rows], self.golds, task.normalisation])

    @cached_property
    def compared(self) -> list[list[list[str]]]:
        return [normalised_golds(gold, self.normalisation) for gold in self.golds]

    def __len__(self) -> int:
        return len(self.example_ids)


# An owner's answers: by the id of the example, the texts given.
Answers = Mapping[int, Sequence[str]]
# Whose scores are wanted: by their primary key, the items of their test set, all of one task.
Owners = Mapping[int, ScoredItems]


def scored_items(
    task: Task, item_sets: Collection[ItemSet], gold_version: int, group: str = ""
) -> dict[int, ScoredItems]:
    """The items by the primary key of their set; all of one task. They are clustered by their
    context, or by their value of a group that was declared."""
    rows = _rows_of(task, {item_set.pk for item_set in item_sets}, group)
    golds = _golds_of(task, gold_version)
    return {pk: ScoredItems(task, pk, of_set, golds, gold_version) for pk, of_set in rows.items()}


def _rows_of(task: Task, pks: Collection[int], group: str) -> dict[int, list[ItemRow]]:
    rows: dict[int, list[ItemRow]] = {pk: [] for pk in pks}
    items = Item.objects.filter(item_set__task=task).order_by("item_set_id", "position")
    if len(rows) <= MOST_NAMED:
        items = items.filter(item_set__in=rows)
    columns = ("item_set_id", "example_id", "source_id", "example__context_hash", "example__groups")
    for item_set, pk, source_id, context, groups in items.values_list(*columns).iterator():
        if item_set in rows:
            cluster = cluster_of(context, groups, group)
            rows[item_set].append((pk, source_id, context, cluster))
    return rows


def _golds_of(task: Task, version: int) -> dict[int, Texts]:
    """The gold of all examples of the task; the newest if an example has several."""
    golds = Gold.objects.filter(version__task=task, version__number__lte=version)
    rows = golds.order_by("version__number").values_list("example_id", "alternatives")
    return {
        example: tuple(tuple(span["text"] for span in spans) for spans in alternatives)
        for example, alternatives in rows
    }


def assignment_scores(assignments: Owners, references: str) -> dict[int, Floats]:
    """One vector for each completed assignment; its judgements are final, so only the
    items and their gold can make it stale."""
    return _kept_scores("assignment_id", assignments, references, _scored_people)


def _scored_people(some: Collection[int], owners: Owners, references: str) -> dict[int, Floats]:
    """Score them by their answers; people from elsewhere by the scores that came without any."""
    vectors = score_answers(judged_answers(some), owners, references)
    columns = _columns({owners[pk].item_set_id: owners[pk] for pk in some}.values())
    scores = GivenScore.objects.filter(assignment__in=some)
    for pk, example, score in scores.values_list("assignment_id", "example_id", "score"):
        vectors[pk][columns[owners[pk].item_set_id][example][0]] = score
    return vectors


def run_scores(runs: Owners, references: str) -> dict[int, Floats]:
    """One vector for each run; NaN where it did not answer."""
    # A complete run is final, as a judgement is: only the items can make its vector stale.
    return _kept_scores("run_id", runs, references, _scored_runs)


def _scored_runs(some: Collection[int], owners: Owners, references: str) -> dict[int, Floats]:
    return score_answers(predicted_answers(some), owners, references)


def score_answers(
    answers: Mapping[int, Answers], owners: Owners, references: str
) -> dict[int, Floats]:
    """S1 of each owner's answers, in the order of their items; NaN where there is none."""
    sets = {owners[pk].item_set_id: owners[pk] for pk in answers}
    golds = [gold for items in sets.values() for gold in items.compared]
    columns = _columns(sets.values())
    vectors = {pk: np.full(len(owners[pk]), np.nan) for pk in answers}
    rows = [
        (owner, *place, normalised(texts, owners[owner].normalisation, golds[place[1]]))
        for owner, judged in answers.items()
        for pk, texts in judged.items()
        if (place := columns[owners[owner].item_set_id].get(pk))
    ]
    numbers = [number for _, _, number, _ in rows]
    scores = score_many([row[-1] for row in rows], numbers, golds, references=references)
    for (owner, column, _, _), score in zip(rows, scores, strict=True):
        vectors[owner][column] = score
    return vectors


def _columns(sets: Iterable[ScoredItems]) -> dict[int, dict[int, tuple[int, int]]]:
    """The column in its set, and the number among the items of all sets, by set and example."""
    number = count()
    return {
        items.item_set_id: {
            pk: (column, next(number)) for column, pk in enumerate(items.example_ids)
        }
        for items in sets
    }


def _kept_scores(
    owner: str,
    owners: Owners,
    references: str,
    score: Callable[[Collection[int], Owners, str], dict[int, Floats]],
) -> dict[int, Floats]:
    """The kept vectors whose fingerprint is current; the others are scored and kept."""
    fresh: dict[int, Floats] = {}
    for some in _portions(owners, MOST_NAMED):
        fresh |= _fresh_scores(owner, {pk: owners[pk] for pk in some}, references)
    # In portions: the answers of many runs would fill the memory, their vectors do not.
    for some in _portions([pk for pk in owners if pk not in fresh], PORTION):
        scored = score(some, owners, references)
        ScoreVector.objects.bulk_create(
            [
                ScoreVector(
                    **{owner: pk},
                    **_key(owners[pk], references),
                    item_set_id=owners[pk].item_set_id,
                    fingerprint=owners[pk].fingerprint,
                    scores=vector.astype(STORED).tobytes(),
                )
                for pk, vector in scored.items()
            ],
            # Two readers may score the same rows at once; they get the same vectors.
            ignore_conflicts=True,
        )
        fresh |= scored
    return fresh


def _fresh_scores(owner: str, owners: Owners, references: str) -> dict[int, Floats]:
    key = _key(next(iter(owners.values())), references)
    fresh: dict[int, Floats] = {}
    stale: list[int] = []
    for row in ScoreVector.objects.filter(**key, **{f"{owner}__in": list(owners)}):
        items = owners[getattr(row, owner)]
        if row.fingerprint == items.fingerprint and len(row.values) == len(items):
            fresh[getattr(row, owner)] = row.values
        else:
            stale.append(row.pk)
    ScoreVector.objects.filter(pk__in=stale).delete()
    return fresh


def _key(items: ScoredItems, references: str) -> dict[str, object]:
    """What the vectors of one task are looked up by."""
    return {
        "references": references,
        "gold_version": items.gold_version,
        "scorer_version": SCORER_VERSION,
    }


def _portions(owners: Iterable[int], size: int) -> Iterator[list[int]]:
    pks = list(owners)
    return (pks[start : start + size] for start in range(0, len(pks), size))


def judged_answers(owners: Collection[int], example: int | None = None) -> Mapping[int, Answers]:
    """Test answers by assignment; of all examples or of one."""
    return _by_owner(Judgement.objects.of_test(), "assignment_id", owners, example)


def judged_seconds(
    owners: Collection[int], only: Collection[int] | None = None
) -> dict[int, list[float]]:
    """How long each test answer took (on these examples) by the server's clock, by assignment."""
    seconds: dict[int, list[float]] = {pk: [] for pk in owners}
    rows = Judgement.objects.of_test().filter(assignment_id__in=owners).order_by()
    columns = ("assignment_id", "example_id", "shown_at", "submitted_at")
    for owner, example, shown, submitted in rows.values_list(*columns):
        if only is None or example in only:
            seconds[owner].append((submitted - shown).total_seconds())
    return seconds


def told_seconds(
    owners: Collection[int], only: Collection[int] | None = None
) -> dict[int, list[float]]:
    """The same of people from elsewhere, where somebody says it."""
    seconds = judged_seconds(owners, only)
    scores = GivenScore.objects.filter(assignment__in=owners)
    for owner, example, took in scores.values_list("assignment_id", "example_id", "seconds"):
        if only is None or example in only:
            seconds[owner].append(took)
    return {owner: [*filter(None, of_owner)] for owner, of_owner in seconds.items()}


def answer_orders(owners: Collection[int]) -> dict[int, list[int]]:
    """The examples of each assignment's test, as they were answered."""
    orders: dict[int, list[int]] = {pk: [] for pk in owners}
    rows = Judgement.objects.of_test().filter(assignment_id__in=owners).order_by("step")
    for owner, example in rows.values_list("assignment_id", "example_id"):
        orders[owner].append(example)
    return orders


def predicted_answers(owners: Collection[int], example: int | None = None) -> Mapping[int, Answers]:
    """Answers by run; of all examples or of one."""
    return _by_owner(Prediction.objects.all(), "run_id", owners, example)


def _by_owner(
    stored: QuerySet[Any], owner_id: str, owners: Collection[int], example: int | None
) -> Mapping[int, Answers]:
    answers: dict[int, dict[int, list[str]]] = {pk: {} for pk in owners}
    rows = stored.filter(**{f"{owner_id}__in": owners})
    rows = rows if example is None else rows.filter(example_id=example)
    fetched = list(rows.values_list(owner_id, "example_id", ANSWER))
    # Decoded together: one by one takes as long as all the rest.
    decoded = json.loads(f"[{','.join(answer for _, _, answer in fetched)}]")
    for (owner, example, _), texts in zip(fetched, decoded, strict=True):
        answers[owner][example] = texts
    return answers


def is_well_formed(run: Run) -> bool:
    """Whoever could tune an answer's number of pieces could read golds from a score, so those with
    too many withhold it. Runs stored by an older version are looked through."""
    counted = run.report.get(MALFORMED)
    return not (malformed_answers(run) if counted is None else counted)


def malformed_answers(run: Run) -> int:
    task = run.task
    kind = answer_kind(task.kind)
    several = Prediction.objects.filter(run=run, answer__1__isnull=False).order_by()
    rows = several.values_list("answer", "example__context").iterator()
    return sum(len(answer) > kind.most_pieces(context, task.max_spans) for answer, context in rows)
