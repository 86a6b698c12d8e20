"""The items whose gold people dispute: most of them gave one and the same other answer."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from scoring.cells.vectors import ScoredItems, judged_answers
from scoring.core.normalisation import normalised

# Of fewer answers nothing is said.
FEWEST_ANSWERS = 5
Answer = frozenset[str]


def disputed_items(people: Collection[tuple[int, ScoredItems, str]]) -> frozenset[int]:
    """The examples that five or more of these people, each an assignment with its items and the
    policy for the references, answered, more than half of them with one
    whole answer that is, as S1 compares them, neither an alternative of the gold in force nor,
    where the union counts, that."""
    answers: dict[int, Counter[Answer]] = defaultdict(Counter)
    right: dict[int, set[Answer]] = {}
    judged = judged_answers([assignment for assignment, _, _ in people])
    for assignment, items, references in people:
        texts = judged[assignment]
        for pk, golds in zip(items.example_ids, items.compared, strict=True):
            if pk in texts:
                right.setdefault(pk, _right(golds, references))
                answers[pk][_whole(normalised(texts[pk], items.normalisation, golds))] += 1
    return frozenset(pk for pk, counts in answers.items() if _is_disputed(counts, right[pk]))


def _is_disputed(counts: Counter[Answer], right: set[Answer]) -> bool:
    [(answer, most)] = counts.most_common(1)
    total = counts.total()
    return total >= FEWEST_ANSWERS and 2 * most > total and answer not in right


def _right(golds: Iterable[Sequence[str]], references: str) -> set[Answer]:
    alternatives = {_whole(gold) for gold in golds}
    return alternatives | ({frozenset().union(*alternatives)} if references == "set" else set())


def _whole(texts: Iterable[str]) -> Answer:
    return frozenset(filter(None, texts))
