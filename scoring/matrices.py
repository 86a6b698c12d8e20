"""Rows → arrays, the only meeting point: answers of people and models become vectors of S1.

Vectors are kept (ScoreVector), so that judgements and predictions are read once for each
state of what they follow from, and not again.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from annotation.marking import gold_in_force
from annotation.models import Assignment, Item, ItemSet, Judgement
from scoring.core.s1 import SCORER_VERSION, score_many
from scoring.models import Prediction, Run
from scoring.models.comparison import STORED, ScoreVector

Floats = NDArray[np.float64]
PORTION = 50
# An owner's answers: by the id of the example, the texts given.
Answers = Mapping[int, Collection[str]]


@dataclass(frozen=True)
class ScoredItems:
    """The items of a test set in their order, with their gold at one version."""

    item_set_id: int
    task_id: int
    gold_version: int
    example_ids: tuple[int, ...]
    source_ids: tuple[str, ...]
    # Items that share a context are one cluster.
    clusters: tuple[str, ...]
    golds: tuple[tuple[tuple[str, ...], ...], ...]
    fingerprint: str

    def __len__(self) -> int:
        return len(self.example_ids)


def scored_items(item_set: ItemSet, gold_version: int) -> ScoredItems:
    """The items of a set, with the gold in force at a version of its task."""
    rows = list(
        Item.objects.filter(item_set=item_set)
        .order_by("position")
        .values_list("example_id", "source_id", "example__context_hash")
    )
    ids = tuple(row[0] for row in rows)
    in_force = gold_in_force(ids, item_set.task_id, gold_version)
    golds = tuple(tuple(map(tuple, in_force[pk].alternative_texts())) for pk in ids)
    return ScoredItems(
        item_set_id=item_set.pk,
        task_id=item_set.task_id,
        gold_version=gold_version,
        example_ids=ids,
        source_ids=tuple(row[1] for row in rows),
        clusters=tuple(row[2] for row in rows),
        golds=golds,
        fingerprint=digest(rows, golds),
    )


def assignment_scores(
    assignments: Iterable[Assignment], items: ScoredItems, references: str
) -> dict[int, Floats]:
    """One vector for each completed assignment; its judgements are final, so only the
    items and their gold can make it stale."""
    marks = {assignment.pk: items.fingerprint for assignment in assignments}
    return _kept_scores("assignment_id", marks, items, references, judged_answers)


def run_scores(runs: Iterable[Run], items: ScoredItems, references: str) -> dict[int, Floats]:
    """One vector for each run; what it did not answer is NaN."""
    # A complete run is final, as a judgement is: only the items can make its vector stale.
    marks = {run.pk: items.fingerprint for run in runs}
    return _kept_scores("run_id", marks, items, references, predicted_answers)


def score_answers(
    answers: Mapping[int, Answers], items: ScoredItems, references: str
) -> dict[int, Floats]:
    """S1 of each owner's answers, in the order of the items; NaN where there is none."""
    column = {pk: number for number, pk in enumerate(items.example_ids)}
    vectors = {owner: np.full(len(items), np.nan) for owner in answers}
    rows = [
        (owner, column[pk], texts)
        for owner, given in answers.items()
        for pk, texts in given.items()
        if pk in column
    ]
    columns = [row[1] for row in rows]
    scores = score_many([row[2] for row in rows], columns, items.golds, references=references)
    for (owner, number, _), score in zip(rows, scores, strict=True):
        vectors[owner][number] = score
    return vectors


def digest(*parts: object) -> str:
    """A checksum of plain values, the same on every machine."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), default=str)
    return sha256(text.encode()).hexdigest()


def _kept_scores(
    owner: str,
    marks: Mapping[int, str],
    items: ScoredItems,
    references: str,
    read: Callable[[Collection[int]], Mapping[int, Answers]],
) -> dict[int, Floats]:
    """The vectors of these owners: the kept ones whose mark is the present one, and the
    others scored anew and kept."""
    key = {
        "item_set_id": items.item_set_id,
        "references": references,
        "gold_version": items.gold_version,
        "scorer_version": SCORER_VERSION,
    }
    found = list(ScoreVector.objects.filter(**key, **{f"{owner}__in": list(marks)}))
    fresh = {
        getattr(row, owner): row.values
        for row in found
        if row.fingerprint == marks[getattr(row, owner)] and len(row.values) == len(items)
    }
    stale = [row.pk for row in found if getattr(row, owner) not in fresh]
    ScoreVector.objects.filter(pk__in=stale).delete()
    wanted = [pk for pk in marks if pk not in fresh]
    # In portions: the answers of many runs would fill the memory, their vectors do not.
    for start in range(0, len(wanted), PORTION):
        scored = score_answers(read(wanted[start : start + PORTION]), items, references)
        ScoreVector.objects.bulk_create(
            [
                ScoreVector(
                    **key,
                    **{owner: pk},
                    fingerprint=marks[pk],
                    scores=vector.astype(STORED).tobytes(),
                )
                for pk, vector in scored.items()
            ],
            # Two readers may score the same rows at once; they get the same vectors.
            ignore_conflicts=True,
        )
        fresh |= scored
    return fresh


def judged_answers(owners: Collection[int], example: int | None = None) -> dict[int, Answers]:
    """Test answers by assignment; of all examples or of one."""
    rows = Judgement.objects.of_test().filter(assignment_id__in=owners)
    rows = rows if example is None else rows.filter(example_id=example)
    return _by_owner(owners, rows.values_list("assignment_id", "example_id", "answer"))


def predicted_answers(owners: Collection[int], example: int | None = None) -> dict[int, Answers]:
    """Answers by run; of all examples or of one."""
    rows = Prediction.objects.filter(run_id__in=owners)
    rows = rows if example is None else rows.filter(example_id=example)
    return _by_owner(owners, rows.values_list("run_id", "example_id", "answer"))


def _by_owner(
    owners: Collection[int], rows: Iterable[tuple[int, int, list[str]]]
) -> dict[int, Answers]:
    answers: dict[int, dict[int, list[str]]] = defaultdict(dict)
    for pk in owners:
        answers[pk] = {}
    for owner, example, texts in rows:
        answers[owner][example] = texts
    return answers


def side_by_side(
    vectors: Sequence[tuple[ScoredItems, Floats]],
) -> tuple[Floats, tuple[int, ...], tuple[str, ...]]:
    """Vectors over one or several test sets as one matrix, with the example and the cluster
    of each column. A column that is not in an owner's test set is NaN in their row."""
    # Most cells have one test set, read once.
    sets = {id(items): items for items, _ in vectors}.values()
    examples = {
        pk: cluster
        for items in sets
        for pk, cluster in zip(items.example_ids, items.clusters, strict=True)
    }
    if len(sets) == 1:
        matrix = np.array([vector for _, vector in vectors])
        return matrix, tuple(examples), tuple(examples.values())
    column = {pk: number for number, pk in enumerate(examples)}
    matrix = np.full((len(vectors), len(column)), np.nan)
    for row, (items, vector) in enumerate(vectors):
        matrix[row, [column[pk] for pk in items.example_ids]] = vector
    return matrix, tuple(examples), tuple(examples.values())
