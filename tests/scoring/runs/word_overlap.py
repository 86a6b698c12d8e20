"""The rule among the demonstration's systems, whose answers are stored with it; test_load_demo.py
holds them to this."""

import re
from collections import Counter

from annotation.kinds import answer_kind
from annotation.kinds.base import asked, mentions
from annotation.kinds.gold import gold_in_force
from annotation.models import Example, ItemSet, Task

_WORD = re.compile(r"\w+")
_CAPITALISED = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)*")


class WordOverlap:
    """A small real system: it learns from a shot set by the words that examples share, and knows
    nothing else, so its scores differ by shots and split as any system's do.

    - where a label or any text answers: the answer of the training example with which the text
      shares the largest part of its words.
    - where an entity does: the one that is mentioned most often.
    - where pieces of the text do: what was gold for the same question in training and stands in the
      text; besides, runs of capitalised words that share a word with such gold. At most the first
      few where the task limits them.
    """

    def __init__(self, task: Task, shot_set: ItemSet) -> None:
        self.task = task
        self.examples: list[Example] = list(shot_set.examples.order_by("items__position"))
        version = task.latest_gold_version().number
        golds = gold_in_force([example.pk for example in self.examples], task.pk, version)
        self.golds = {pk: gold.alternative_texts()[0] for pk, gold in golds.items()}

    def predict(self, example: Example) -> list[str]:
        kind = answer_kind(self.task.kind)
        if kind.takes_pieces:
            return self._remembered_spans(example)
        if kind.takes_options and not kind.takes_labels:
            return [Counter(mentions(asked(example, ()))).most_common(1)[0][0]]
        words = _words(example)
        nearest = max(self.examples, key=lambda known: _overlap(words, _words(known)))
        return self.golds[nearest.pk]

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
        return list(dict.fromkeys(spans))[: self.task.max_spans]


def _words(example: Example) -> frozenset[str]:
    return frozenset(word.lower() for part in example.context for word in _WORD.findall(part))


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
