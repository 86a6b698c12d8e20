"""Whether somebody's wrong answers are a system's: more of them than others share with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import scipy

FEWEST_MISTAKES = 5
LEAST_SHARE = 0.8
LEVEL = 0.001

# By item, an answer as it compares.
Answers = Mapping[int, frozenset[str]]


@dataclass(frozen=True)
class SharedMistakes:
    """What a person and a system got wrong alike, of the system's wrong answers to items on which
    the others differ: how many the person gave too, and which share of the others' answers were the
    same."""

    shared: int
    items: int
    usual: float
    p: float

    @property
    def is_beyond_chance(self) -> bool:
        """Whether it is beyond chance for one person and one system: with many, compare p with a
        smaller level."""
        return self.items >= FEWEST_MISTAKES and self.shared >= LEAST_SHARE * self.items


def shared_mistakes(own: Answers, mistakes: Answers, others: Sequence[Answers]) -> SharedMistakes:
    """How far a person's answers are the wrong answers of a system, beside other people's.

    own, and each of others: a person's answers by item. mistakes: the system's wrong answers. An
    item counts if the person and two or more of the others answered it, and these did not all
    answer as the system did: what everybody gets wrong alike tells of nobody. p is the binomial
    probability of so many shared mistakes or more at the share of the others' answers that are the
    system's, with one more answer of each kind (the K-index of Holland 1996, with a share that is
    observed); 1 where no item counts. Right answers that agree are no evidence, and do not enter.
    """
    shared = items = same = answers = 0
    for item, wrong in mistakes.items():
        theirs = [other[item] == wrong for other in others if item in other]
        if item not in own or len(theirs) < 2 or all(theirs):
            continue
        items += 1
        shared += own[item] == wrong
        same += sum(theirs)
        answers += len(theirs)
    usual = (same + 1) / (answers + 2)
    p = float(scipy.stats.binom.sf(shared - 1, items, usual)) if items else 1.0
    return SharedMistakes(shared, items, same / answers if answers else 0.0, p)
