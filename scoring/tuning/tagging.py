"""Another head than CLUES describes: each token of the text begins an answer, is inside one, or is
outside (BIO tags). Systems with it have a name that says so.

A shot's answers are tagged wherever they stand in its text, the longest first. What is read back:
each token tagged as a begin with those inside that follow it; where only so many pieces may be
given, those with the surest begins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForTokenClassification

from annotation.kinds import answer_kind
from scoring.prompts.material import PromptSet
from scoring.tuning.encoders import context_of
from scoring.tuning.fitting import in_batches
from scoring.tuning.text_heads import Span, TextHead
from scoring.tuning.windows import Window, mentions, padded, windows_of

OUTSIDE, BEGIN, INSIDE = range(3)
# What a loss leaves out: the question, and what fills a row up.
IGNORED = -100


@dataclass(frozen=True)
class Lesson:
    window: Window
    tags: tuple[int, ...]


@dataclass(frozen=True)
class Tagged:
    """A piece of the text, and how much its first token is rather a begin than outside."""

    begin: int
    end: int
    surety: float


class Tagging(TextHead[Lesson]):
    name = "BIO tags"

    def problem(self, prompts: PromptSet) -> str:
        if answer_kind(prompts.kind).takes_pieces:
            return ""
        return "its answers are no pieces of the text, whose tokens are tagged"

    def _new_model(self) -> Any:
        return self._source.model(
            AutoModelForTokenClassification, seed=self._settings.seed, num_labels=3
        )

    def _spans(self, answers: Sequence[str], context: str) -> list[Span]:
        return tagged_spans(answers, context)

    def _lessons_of(self, window: Window, spans: Sequence[Span]) -> list[Lesson]:
        return [Lesson(window, tags_of(window, spans))]

    def _loss(self, model: Any, batch: Sequence[Lesson]) -> Any:
        inputs = padded(self._source, [lesson.window for lesson in batch])
        length = inputs["input_ids"].shape[1]
        on_left = self._source.tokenizer.padding_side == "left"
        rows = []
        for lesson in batch:
            filling = [IGNORED] * (length - len(lesson.tags))
            rows.append([*filling, *lesson.tags] if on_left else [*lesson.tags, *filling])
        return model(**inputs, labels=torch.tensor(rows, device=self._source.device)).loss

    def _answers(self, model: Any, prompts: PromptSet) -> Iterator[tuple[str, tuple[str, ...]]]:
        model.eval()
        for examples in in_batches(prompts.test, self._settings.batch_size):
            found: dict[int, list[Tagged]] = {number: [] for number in range(len(examples))}
            windows = windows_of(self._source, self._settings, examples)
            for batch in in_batches(windows, self._settings.batch_size):
                for window, scores in zip(batch, self._scores(model, batch), strict=True):
                    found[window.example] += pieces_in(window, scores)
            for number, example in enumerate(examples):
                context = context_of(example, self._source.tokenizer)
                yield example.id, _answer(found[number], context, prompts.max_spans)

    def _scores(self, model: Any, windows: Sequence[Window]) -> Iterator[list[list[float]]]:
        """Of the three tags, for each token of a window."""
        inputs = padded(self._source, windows)
        with torch.no_grad():
            rows = model(**inputs).logits.tolist()
        on_left = self._source.tokenizer.padding_side == "left"
        for window, row in zip(windows, rows, strict=True):
            length = len(window.places)
            yield row[-length:] if on_left else row[:length]


def tagged_spans(answers: Sequence[str], context: str) -> list[tuple[int, int]]:
    """Each place of each answer, but none within a longer one."""
    spans: list[tuple[int, int]] = []
    for text in sorted(filter(None, answers), key=len, reverse=True):
        for begin in mentions(text, context):
            end = begin + len(text)
            if all(end <= other[0] or begin >= other[1] for other in spans):
                spans.append((begin, end))
    return sorted(spans)


def tags_of(window: Window, spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    tags = [IGNORED if place is None else OUTSIDE for place in window.places]
    for span in spans:
        if tokens := window.tokens_of(*span):
            first, last = tokens
            tags[first] = BEGIN
            tags[first + 1 : last + 1] = [INSIDE] * (last - first)
    return tuple(tags)


def pieces_in(window: Window, scores: Sequence[Sequence[float]]) -> list[Tagged]:
    tags = [max(range(3), key=lambda tag: row[tag]) for row in scores]
    pieces = []
    for first, place in enumerate(window.places):
        if place is None or tags[first] != BEGIN:
            continue
        last = first
        while (
            last + 1 < len(tags)
            and tags[last + 1] == INSIDE
            and window.places[last + 1] is not None
        ):
            last += 1
        surety = scores[first][BEGIN] - scores[first][OUTSIDE]
        pieces.append(Tagged(*window.characters(first, last), surety))
    return pieces


def _answer(pieces: Sequence[Tagged], context: str, most: int | None) -> tuple[str, ...]:
    surest = sorted(pieces, key=lambda piece: piece.surety, reverse=True)
    # Windows overlap, and a name may stand twice.
    texts = dict.fromkeys(context[piece.begin : piece.end].strip() for piece in surest)
    kept = set(list(texts)[:most])
    in_order = sorted(pieces, key=lambda piece: piece.begin)
    named = (context[piece.begin : piece.end].strip() for piece in in_order)
    return tuple(dict.fromkeys(text for text in named if text in kept))
