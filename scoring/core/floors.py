"""What no skill earns on a task, and the most that an answer form allows, in S1.

Every function takes `golds`: for each item, its alternatives, each a collection of strings; and
returns the mean S1 over the items, in [0, 1], NaN when there are no items.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from scoring.core.s1 import Spans, check_references, score_many, score_one, span_set

Golds = Sequence[Sequence[Spans]]


def empty_score(golds: Golds, *, references: str = "any") -> float:
    """All empty: every answer is the empty set."""
    return _mean_score([()] * len(golds), golds, references)


def best_constant_label(
    golds: Golds, labels: Sequence[str], *, references: str = "any"
) -> tuple[str, float]:
    """The one label that scores most when it is given to every item; ties go to the first."""
    if not labels:
        raise ValueError("There are no labels to choose a constant answer from.")
    scores = [_mean_score([(label,)] * len(golds), golds, references) for label in labels]
    best = max(range(len(labels)), key=scores.__getitem__)
    return labels[best], scores[best]


def best_constant_text(golds: Golds, *, references: str = "any") -> tuple[str, float]:
    """The one text that scores most when it is given to every item, of all that any gold holds;
    ties go to the first in the alphabet. Without any, the empty answer: "" and its score."""
    check_references(references)
    totals: defaultdict[str, float] = defaultdict(float)
    for alternatives in golds:
        for text in set().union(*map(span_set, alternatives)):
            totals[text] += score_one((text,), alternatives, references=references)
    if not totals:
        return "", empty_score(golds, references=references)
    text = min(totals, key=lambda text: (-totals[text], text))
    return text, totals[text] / len(golds)


def every_candidate_score(
    golds: Golds, candidates: Sequence[Sequence[str]], *, references: str = "any"
) -> float:
    """Every label or candidate at once; `candidates` lists those of each item."""
    _check_candidates(golds, candidates)
    return _mean_score(candidates, golds, references)


def most_frequent_candidate_score(
    golds: Golds, candidates: Sequence[Sequence[str]], *, references: str = "any"
) -> float:
    """The candidate that an item's context names most often; ties go to the first named."""
    _check_candidates(golds, candidates)
    return _mean_score([_most_frequent(names) for names in candidates], golds, references)


def first_candidate_score(
    golds: Golds, candidates: Sequence[Sequence[str]], *, references: str = "any"
) -> float:
    """The candidate that an item's context names first."""
    _check_candidates(golds, candidates)
    return _mean_score([names[:1] for names in candidates], golds, references)


def ceiling_score(
    golds: Golds,
    *,
    offered: Sequence[Spans] | None = None,
    most: int | None = None,
    references: str = "any",
) -> float:
    """The best that an answer form allows.

    offered: for each item, the strings that can be given at all (None: any string). most: how many
    spans one answer may hold (None: any number); 1 gives the ceiling of a single span, which lies
    under 1 wherever a gold set holds several.
    """
    check_references(references)
    if most is not None and most < 1:
        raise ValueError(f"An answer of at most {most} spans cannot be given; allow one or more.")
    if offered is not None:
        _check_candidates(golds, offered)
    reach = [None] * len(golds) if offered is None else [set(strings) for strings in offered]
    best = [
        max(_ceiling(gold, strings, most) for gold in _gold_sets(gold_of_item, references))
        for gold_of_item, strings in zip(golds, reach, strict=True)
    ]
    return float(np.mean(best)) if best else float("nan")


def _ceiling(gold: set[str], offered: set[str] | None, most: int | None) -> float:
    if not gold:
        return 1.0
    reachable = len(gold if offered is None else gold & offered)
    given = reachable if most is None else min(reachable, most)
    return 2 * given / (given + len(gold))


def _gold_sets(alternatives: Sequence[Spans], references: str) -> list[set[str]]:
    sets = [span_set(gold) for gold in alternatives] or [set()]
    return [set().union(*sets)] if references == "set" else sets


def _most_frequent(names: Sequence[str]) -> list[str]:
    return [name for name, _ in Counter(names).most_common(1)]


def _check_candidates(golds: Golds, candidates: Sequence[Spans]) -> None:
    if len(candidates) != len(golds):
        raise ValueError(
            f"There are {len(golds)} items but candidates for {len(candidates)}; "
            "give one list for each item."
        )


def _mean_score(predictions: Sequence[Spans], golds: Golds, references: str) -> float:
    if not len(golds):
        return float("nan")
    scores = score_many(predictions, np.arange(len(golds)), golds, references=references)
    return float(scores.mean())
