"""Choice: exactly one of the labels that the item set offers."""

import re
from collections.abc import Sequence

from annotation.kinds.base import EMPTY, Asked, Context, FileRow, Floor, Revealed, Tested
from annotation.kinds.marking import marked
from annotation.kinds.options import OneOption
from annotation.models.frozen import FrozenExample
from scoring.core import floors as core

# Gold strings are labels where there are few of them and the context rarely holds them.
MOST_LABELS = 20


def label_of(row: FileRow) -> str | None:
    texts = row.gold_texts
    return texts[0][0] if len(texts) == 1 and len(texts[0]) == 1 else None


def are_labels(rows: Sequence[FileRow]) -> bool:
    """Whether the gold of all rows is a few labels that the contexts rarely name."""
    labels = [label for row in rows if (label := label_of(row)) is not None]
    if len(labels) < len(rows) or len(set(labels)) > MOST_LABELS:
        return False
    named = sum(_names(row.context, label) for row, label in zip(rows, labels, strict=True))
    return 2 * named <= len(rows)


def _names(context: Sequence[str], label: str) -> bool:
    """Whether the context holds the label as a word: the label "no" is not in "know"."""
    # ASCII: letters of scripts without spaces do not hide a word between them.
    word = re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.ASCII)
    return any(word.search(segment) for segment in context)


def _best_label(tested: Tested, policy: str) -> float:
    labels = sorted({label for asked in tested.asked for label in asked.labels}) or [""]
    return core.best_constant_label(tested.golds, labels, references=policy)[1]


def _every_label(tested: Tested, policy: str) -> float:
    offered = [asked.labels for asked in tested.asked]
    return core.every_candidate_score(tested.golds, offered, references=policy)


FLOORS = (
    EMPTY,
    Floor(
        "best_label",
        "the best single label everywhere",
        "No skill: the best single label everywhere",
        _best_label,
    ),
    Floor(
        "every_label",
        "every label at once",
        "No skill: every label at once",
        _every_label,
        is_allowed=False,
    ),
)


class Choice(OneOption):
    name = "choice"
    in_words = "one label is chosen"
    floors = FLOORS
    takes_labels = True

    def fits(self, rows: Sequence[FileRow]) -> bool:
        return not any(row.candidates for row in rows) and are_labels(rows)

    def problem_of_row(self, row: FileRow) -> str:
        return "" if label_of(row) is not None else "“answer” must be one label"

    def options(self, asked: Asked) -> tuple[str, ...]:
        return tuple(asked.labels)

    def shown(self, example: FrozenExample) -> Context:
        return {"segments": marked(example.context), "options": self.options(example)}

    def revealed(self, revealed: Revealed) -> Context:
        return {**super().revealed(revealed), "segments": marked(revealed.example.context)}


KIND = Choice()
