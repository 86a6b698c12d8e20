"""A small real system for the demonstration's table: it learns from a shot set by the words
that examples share, and knows nothing else. Its scores differ by shots and split, as any
system's do.

- where a label or any text answers: the answer of the training example with which the text
  shares the largest part of its words.
- where an entity does: the one that is mentioned most often.
- where pieces of the text do: what was gold for the same question in training and stands
  in the text; besides, runs of capitalised words that share a word with such gold. At most the
  first few where the task limits them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.kinds import answer_kind
from annotation.kinds.base import asked, mentions
from annotation.models import Example

NAME = "Word overlap"
_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)*")


@dataclass(frozen=True)
class WordOverlap:
    """The system, trained on one shot set; `golds` by example id."""

    kind: str
    max_spans: int | None
    examples: Sequence[Example]
    golds: Mapping[int, Sequence[str]]

    def predict(self, example: Example) -> list[str]:
        kind = answer_kind(self.kind)
        if kind.takes_pieces:
            return self._remembered_spans(example)
        if kind.takes_options and not kind.takes_labels:
            return self._most_mentioned(example)
        return self._nearest_answer(example)

    def _nearest_answer(self, example: Example) -> list[str]:
        words = _words(example)
        nearest = max(self.examples, key=lambda known: _overlap(words, _words(known)))
        return list(self.golds[nearest.pk])

    def _most_mentioned(self, example: Example) -> list[str]:
        return [Counter(mentions(asked(example, ()))).most_common(1)[0][0]]

    def _remembered_spans(self, example: Example) -> list[str]:
        text = " ".join(example.context)
        golds = {
            gold
            for known in self.examples
            if known.question == example.question
            for gold in self.golds[known.pk]
        }
        words = {word for gold in golds for word in _WORD.findall(gold)}
        spans = [gold for gold in sorted(golds) if gold in text]
        spans += [run for run in _CAPITALISED.findall(text) if words & set(_WORD.findall(run))]
        return list(dict.fromkeys(spans))[: self.max_spans]


def _words(example: Example) -> frozenset[str]:
    return frozenset(word.lower() for part in example.context for word in _WORD.findall(part))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
