"""S1, the score of one answer, for people and models alike.

Source: CLUES (Mukherjee et al. 2021), equation 1: 1 if prediction and gold are both empty, 0 if
only one of them is or if they share nothing, else the harmonic mean of precision and recall over
the distinct strings. Matching is exact; empty strings are dropped from both sides. A task of typed
answers may name a normalisation, which is applied to both sides before: see normalisation.py.

Then what no skill earns on a task, and the most that an answer form allows. These functions take
`golds`: for each item, its alternatives, each a collection of strings; and return the mean S1 over
the items, in [0, 1], NaN when there are no items.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

SCORER_VERSION = 2
"""Goes up whenever the same answer and gold would get a different score."""

REFERENCE_POLICIES = ("set", "any")
"""How several alternatives count: their union as one gold set, or the best of them."""

Spans = Collection[str]


def s1_score(predicted: Spans, gold: Spans) -> float:
    """S1 in [0, 1] of a predicted set of strings against one gold set."""
    predicted, gold = span_set(predicted), span_set(gold)
    if not predicted and not gold:
        return 1.0
    return 2 * len(predicted & gold) / (len(predicted) + len(gold))


def s1_best(predicted: Spans, alternatives: Sequence[Spans]) -> float:
    """The best S1 over the alternatives (policy `any`); no alternatives are one empty gold set."""
    return max(s1_score(predicted, gold) for gold in alternatives or [()])


def s1_union(predicted: Spans, alternatives: Sequence[Spans]) -> float:
    """S1 against the union of the alternatives (policy `set`)."""
    return s1_score(predicted, set().union(*map(span_set, alternatives)))


def score_one(predicted: Spans, alternatives: Sequence[Spans], *, references: str) -> float:
    """S1 under the named reference policy, `set` or `any`."""
    check_references(references)
    return (s1_best if references == "any" else s1_union)(predicted, alternatives)


def score_many(
    predictions: Sequence[Spans],
    items: ArrayLike,
    golds: Sequence[Sequence[Spans]],
    *,
    references: str = "any",
) -> Floats:
    """S1 of many answers at once; the same figures as `score_one`, for millions of them.

    predictions: one collection of strings for each answer. items: for each answer, the index of its
    item in `golds`. golds: for each item, its alternatives. Raises ValueError on an unknown policy,
    an index outside `golds`, or a string in place of a collection of strings."""
    check_references(references)
    index = _item_index(items, len(predictions), len(golds))
    groups = [_alternatives(gold, references) for gold in golds]
    number: Callable[[str], int] = defaultdict(count(1).__next__, {"": 0}).__getitem__
    gold_rows, gold_strings = _distinct(list(chain.from_iterable(groups)), number)
    choices = np.fromiter(map(len, groups), np.int64, len(groups))
    rows, strings = _distinct(predictions, number)
    return _GoldTable(gold_rows, gold_strings, choices).best_scores(index, rows, strings)


def check_references(references: str) -> None:
    if references not in REFERENCE_POLICIES:
        raise ValueError(f"The reference policy is {references!r}; it must be 'set' or 'any'.")


def span_set(spans: Spans) -> set[str]:
    """The distinct non-empty strings; ValueError for one string in place of a collection."""
    _refuse_string(spans)
    return set(spans) - {""}


class _GoldTable:
    """The golds as sorted (alternative, string) keys, to look up many answers by one binary search;
    `choices` counts the alternatives of each item: alternative a of item i is row `first[i] + a`.
    """

    def __init__(self, rows: Integers, strings: Integers, choices: Integers) -> None:
        self.choices = choices
        self.first = np.cumsum(choices) - choices
        self.sizes = np.bincount(rows, minlength=int(choices.sum()))
        self.width = int(strings.max(initial=0)) + 1
        # The last key is met by no answer: it keeps the table from being empty.
        self.keys = np.append(np.sort(rows * self.width + strings), np.iinfo(np.int64).max)

    def best_scores(self, items: Integers, rows: Integers, strings: Integers) -> Floats:
        sizes = np.bincount(rows, minlength=len(items))
        best = np.zeros(len(items))
        for alternative in range(self.choices.max(initial=0)):
            # Most items have one alternative: look again only at the others.
            has_it = self.choices[items] > alternative
            part = has_it[rows]
            gold = self.first[items] + alternative
            shared = self._shared(gold, rows[part], strings[part])
            total = sizes + self.sizes[np.where(has_it, gold, 0)]
            scores = np.where(total == 0, 1.0, 2 * shared / np.maximum(total, 1))
            np.maximum(best, scores, out=best, where=has_it)
        return best

    def _shared(self, gold: Integers, rows: Integers, strings: Integers) -> Integers:
        """How many of its strings each answer shares with its gold."""
        keys = gold[rows] * self.width + strings
        shared = self.keys[np.searchsorted(self.keys, keys)] == keys
        # A string that no gold holds has a number past the table's width.
        return np.bincount(rows[shared & (strings < self.width)], minlength=len(gold))


def _refuse_string(spans: object) -> None:
    if isinstance(spans, str):
        raise ValueError(f"The answer {spans!r} is one string; give a list of strings.")


def _alternatives(gold: Sequence[Spans], references: str) -> list[Spans]:
    _refuse_string(gold)
    if references == "set" or not gold:
        return [set().union(*map(span_set, gold))]
    return list(gold)


def _item_index(items: ArrayLike, answers: int, golds: int) -> Integers:
    index = np.asarray(items, np.int64)
    if index.shape != (answers,):
        raise ValueError(f"There are {answers} answers but item indices of shape {index.shape}.")
    if answers and not 0 <= index.min() <= index.max() < golds:
        raise ValueError(f"An item index lies outside the {golds} items that have a gold.")
    return index


def _distinct(
    collections: Sequence[Spans], number: Callable[[str], int]
) -> tuple[Integers, Integers]:
    """The distinct non-empty strings of each collection: parallel arrays (row, string number)."""
    if any(issubclass(kind, str) for kind in set(map(type, collections))):
        _refuse_string(next(spans for spans in collections if isinstance(spans, str)))
    sizes = np.fromiter(map(len, collections), np.int64, len(collections))
    strings = np.fromiter(map(number, chain.from_iterable(collections)), np.int64, sizes.sum())
    rows = np.repeat(np.arange(len(collections)), sizes)
    rows, strings = rows[strings > 0], strings[strings > 0]
    width = strings.max(initial=0) + 1
    keys = np.sort(rows * width + strings)  # sort and compare: np.unique takes ten times as long
    return np.divmod(keys[np.diff(keys, prepend=-1) > 0], width)


def consensus(answers: Sequence[Spans | None]) -> list[str]:
    """What more than half of those who answered chose, in order of first appearance."""
    replies = [answer for answer in answers if answer is not None]
    votes = Counter(s for answer in replies for s in dict.fromkeys(answer) if s in span_set(answer))
    return [string for string, count in votes.items() if 2 * count > len(replies)]


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
    # Empty where there is none to name.
    most_named = [[name for name, _ in Counter(names).most_common(1)] for names in candidates]
    return _mean_score(most_named, golds, references)


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
    spans one answer may hold (None: any number); the ceiling of 1 is under 1 for several golds.
    """
    check_references(references)
    if most is not None and most < 1:
        raise ValueError(f"An answer of at most {most} spans cannot be given; allow one or more.")
    if offered is not None:
        _check_candidates(golds, offered)
    reach = [None] * len(golds) if offered is None else [set(strings) for strings in offered]
    best = [
        max(_ceiling(span_set(texts), strings, most) for texts in _alternatives(gold, references))
        for gold, strings in zip(golds, reach, strict=True)
    ]
    return float(np.mean(best)) if best else float("nan")


def _ceiling(gold: set[str], offered: set[str] | None, most: int | None) -> float:
    if not gold:
        return 1.0
    reachable = len(gold if offered is None else gold & offered)
    chosen = reachable if most is None else min(reachable, most)
    return 2 * chosen / (chosen + len(gold))


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
