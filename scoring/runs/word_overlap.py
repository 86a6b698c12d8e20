"""A small real system for the demonstration's table: it learns from a shot set by the words
that examples share, and knows nothing else. Its scores differ by shots and split, as any
system's do.

- choice: the label of the training example with which the text shares the largest part of
  its words.
- candidate: the entity that is mentioned most often.
- spans: what was gold for the same question in training and occurs in the text; also, runs of
  capitalised words that share a word with such gold. At most the first few where the task limits
  them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Example, Kind

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
        if self.kind == Kind.CHOICE:
            return self._nearest_label(example)
        if self.kind == Kind.CANDIDATE:
            return self._most_mentioned(example)
        return self._remembered_spans(example)

    def _nearest_label(self, example: Example) -> list[str]:
        words = _words(example)
        nearest = max(self.examples, key=lambda known: _overlap(words, _words(known)))
        return list(self.golds[nearest.pk])

    def _most_mentioned(self, example: Example) -> list[str]:
        mentions = [example.context[s][start:end] for s, start, end in example.candidates]
        return [Counter(mentions).most_common(1)[0][0]]

    def _remembered_spans(self, example: Example) -> list[str]:
        text = " ".join(example.context)
        golds = {
            gold
            for known in self.examples
            if known.question == example.question
            for gold in self.golds[known.pk]
        }
        words = {word for gold in golds for word in _WORD.findall(gold)}
        found = [gold for gold in sorted(golds) if gold in text]
        found += [run for run in _CAPITALISED.findall(text) if words & set(_WORD.findall(run))]
        return list(dict.fromkeys(found))[: self.max_spans]


def _words(example: Example) -> frozenset[str]:
    return frozenset(word.lower() for part in example.context for word in _WORD.findall(part))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
