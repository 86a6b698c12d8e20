"""Tuners that find pieces of a text. Shots become lessons, one or more for each window of their
text."""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForTokenClassification,
    DataCollatorForTokenClassification,
)

from annotation.kinds import answer_kind
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.fitting import Answers, Tuner, in_batches

# The tags of a text's tokens, and that of all others, which a loss leaves out.
OUTSIDE, BEGIN, INSIDE = range(3)
IGNORED = -100
# Where a piece of a text begins and ends, in characters.
Span = tuple[int, int]
# A piece of the text, and how much its first token is rather a begin than outside.
Tagged = tuple[int, int, float]


@dataclass(frozen=True)
class Window:
    """A part of an example's text that fits into the model, beside its question."""

    example: int
    inputs: dict[str, list[int]]
    # For each token of the text where it begins and ends there; None for the others.
    places: tuple[Any, ...]
    # The token that stands for no answer.
    nothing: int

    def tokens_of(self, begin: int, end: int) -> tuple[int, int] | None:
        """The first and last token of a piece of the text; None if it is not all here."""
        places = self.places
        inside = [n for n, at in enumerate(places) if at and at[0] < end and at[1] > begin]
        if inside and places[inside[0]][0] <= begin and places[inside[-1]][1] >= end:
            return inside[0], inside[-1]
        return None

    def characters(self, first: int, last: int) -> Span:
        """The characters where a piece of the text begins and ends that goes from one token to
        another."""
        return self.places[first][0], self.places[last][1]


# A window with the scores of its tokens as a begin and as an end, as plain numbers.
Scored = tuple[Window, list[float], list[float]]


class _FindsPieces(Tuner):
    """A lesson is what the model takes of a window, with what is right there."""

    # Which places of a text a shot's answers teach.
    spans: "staticmethod[[Sequence[str], str], list[Span]]"

    def lessons(self, prompts: PromptSet) -> list[dict[str, Any]]:
        lessons: list[dict[str, Any]] = []
        for shot in prompts.training:
            spans = self.spans(shot.answer, self.context_of(shot))
            if spans or not shot.answer:
                for window in self._windows([shot]):
                    lessons += [{**window.inputs, **gold} for gold in self.right_in(window, spans)]
        return lessons

    def notes(self) -> Iterator[str]:
        contexts = [(shot.answer, self.context_of(shot)) for shot in self.prompts.training]
        if count := sum(text not in context for answer, context in contexts for text in answer):
            where = "do not stand in their text"
            yield f"{count} answers of the shots {where}, and could not be learned"

    def loss(self, batch: Sequence[dict[str, Any]]) -> Any:
        return self._output(batch).loss

    def answers(self) -> Answers:
        size = self.settings.batch_size
        for some in in_batches(self.prompts.test, size):
            windows = self._windows(some)
            scored: list[list[Any]] = [[] for _ in some]
            for batch in in_batches(windows, size):
                output = self._output([window.inputs for window in batch])
                for window, scores in zip(batch, self.scored(batch, output), strict=True):
                    scored[window.example].append(scores)
            for example, pieces in zip(some, scored, strict=True):
                context = self.context_of(example)
                yield example.id, self.answer_of(pieces, example, context)

    def _windows(self, examples: Sequence[PromptExample]) -> list[Window]:
        returned = {"return_overflowing_tokens": True, "return_offsets_mapping": True}
        encoded = self.encoded_pairs(examples, stride=self.settings.stride, **returned)
        tokenizer = self.source.tokenizer
        names = [name for name in tokenizer.model_input_names if name in encoded]
        windows = []
        for number, example in enumerate(encoded["overflow_to_sample_mapping"]):
            inputs = {name: encoded[name][number] for name in names}
            offsets, parts = encoded["offset_mapping"][number], encoded.sequence_ids(number)
            pairs = zip(offsets, parts, strict=True)
            places = tuple(place if part == 1 else None for place, part in pairs)
            nothing = inputs["input_ids"].index(tokenizer.cls_token_id)
            windows.append(Window(example, inputs, places, nothing))
        return windows

    def _output(self, inputs: Sequence[dict[str, Any]]) -> Any:
        padded = DataCollatorForTokenClassification(self.source.tokenizer)(inputs)
        return self.model(**padded.to(self.source.device))

    @abstractmethod
    def right_in(self, window: Window, spans: Sequence[Span]) -> list[dict[str, Any]]:
        """What the model takes to be right, for each lesson of a window."""

    @abstractmethod
    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[Any]:
        """What the model says of each window."""

    @abstractmethod
    def answer_of(
        self, scored: Sequence[Any], example: PromptExample, context: str
    ) -> tuple[str, ...]: ...


def mentions(text: str, context: str) -> Iterator[int]:
    """Find where the text begins in the context, each time."""
    return (match.start() for match in re.finditer(f"(?={re.escape(text)})", context))


def first_spans(answers: Sequence[str], context: str) -> list[Span]:
    places = ((context.find(text), len(text)) for text in answers)
    return [(begin, begin + length) for begin, length in places if begin >= 0]


def tagged_spans(answers: Sequence[str], context: str) -> list[Span]:
    """Each place of each answer, but none within a longer one."""
    spans: list[Span] = []
    for text in sorted(filter(None, answers), key=len, reverse=True):
        for begin in mentions(text, context):
            end = begin + len(text)
            if all(end <= other[0] or begin >= other[1] for other in spans):
                spans.append((begin, end))
    return sorted(spans)


class SpanFinding(_FindsPieces):
    """The head that CLUES describes: two weights vectors score each token as the begin and the end
    of an answer, and no answer is the first token (section 4, “classic fine-tuning”).

    Each answer of a shot is one example to learn from. What is read back: where at most one piece
    may be given, the best pair of begin and end, unless no answer scores more; where any number
    may, each token that scores more as a begin than no answer does, with its best end before the
    next begin; where an entity is asked for, the marked one with the best score.
    """

    name = "begin and end"
    family = AutoModelForQuestionAnswering
    spans = staticmethod(first_spans)

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        kind = answer_kind(prompts.kind)
        if kind.takes_pieces or (kind.takes_options and not kind.takes_labels):
            return ""
        return "its answers are no pieces of the text, which begins and ends are found for"

    def right_in(self, window: Window, spans: Sequence[Span]) -> list[dict[str, Any]]:
        """The first and last token of each answer there; where none is, those of no answer."""
        tokens = [place for span in spans if (place := window.tokens_of(*span))]
        return [
            {"start_positions": begin, "end_positions": end}
            for begin, end in tokens or [(window.nothing, window.nothing)]
        ]

    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[Scored]:
        return zip(windows, output.start_logits.tolist(), output.end_logits.tolist(), strict=True)

    def answer_of(
        self, scored: Sequence[Scored], example: PromptExample, context: str
    ) -> tuple[str, ...]:
        longest, most = self.settings.longest_answer, self.prompts.max_spans
        if answer_kind(self.prompts.kind).takes_options:
            return (_best_option(scored, example.options, context),)
        if most == 1:
            spans = _best_span(scored, longest)
        else:
            spans = [span for scores in scored for span in _all_spans(*scores, longest)]
        return _texts_of(spans, context)[:most]


def _texts_of(spans: Sequence[Span], context: str) -> tuple[str, ...]:
    """Each once. Some tokenizers count the space before a word to it."""
    return tuple(dict.fromkeys(context[begin:end].strip() for begin, end in spans))


def _all_spans(
    window: Window, begin_scores: list[float], end_scores: list[float], longest: int
) -> Iterator[Span]:
    places, nothing = window.places, window.nothing
    begins = [
        token
        for token, place in enumerate(places)
        if place is not None and begin_scores[token] > begin_scores[nothing]
    ]
    for begin, following in pairwise([*begins, len(places)]):
        tokens = range(begin, min(begin + longest, following))
        end = max((t for t in tokens if places[t] is not None), key=lambda t: end_scores[t])
        if begin_scores[begin] + end_scores[end] > begin_scores[nothing] + end_scores[nothing]:
            yield window.characters(begin, end)


def _best_span(scored: Sequence[Scored], longest: int) -> list[Span]:
    """The best of all windows; none if no answer scores more in that window where it does least."""
    best = min(begins[window.nothing] + ends[window.nothing] for window, begins, ends in scored)
    spans: list[Span] = []
    for window, begins, ends in scored:
        tokens = [token for token, place in enumerate(window.places) if place is not None]
        for number, begin in enumerate(tokens):
            for end in tokens[number : number + longest]:
                score = begins[begin] + ends[end]
                if end < begin + longest and score > best:
                    best, spans = score, [window.characters(begin, end)]
    return spans


def _best_option(scored: Sequence[Scored], options: Sequence[str], context: str) -> str:
    def score_of(option: str) -> float:
        return max(
            (
                begins[tokens[0]] + ends[tokens[1]]
                for window, begins, ends in scored
                for begin in mentions(option, context)
                if (tokens := window.tokens_of(begin, begin + len(option)))
            ),
            default=float("-inf"),
        )

    return max(options, key=score_of)


class Tagging(_FindsPieces):
    """Another head than CLUES describes: each token of the text begins an answer, is inside one, or
    is outside (BIO tags). Systems with it have a name that says so.

    A shot's answers are tagged wherever they stand in its text, the longest first. What is read
    back: each token tagged as a begin with those inside that follow it; where only so many pieces
    may be given, those with the surest begins.
    """

    name = "BIO tags"
    family = AutoModelForTokenClassification
    spans = staticmethod(tagged_spans)

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        if answer_kind(prompts.kind).takes_pieces:
            return ""
        return "its answers are no pieces of the text, whose tokens are tagged"

    def head_options(self) -> dict[str, Any]:
        return {"num_labels": 3}

    def right_in(self, window: Window, spans: Sequence[Span]) -> list[dict[str, Any]]:
        return [{"labels": tags_of(window, spans)}]

    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[list[Tagged]]:
        """Yields, for each token of a window, the scores of its three tags."""
        pads_left = self.source.tokenizer.padding_side == "left"
        for window, row in zip(windows, output.logits.tolist(), strict=True):
            length = len(window.places)
            yield pieces_in(window, row[-length:] if pads_left else row[:length])

    def answer_of(
        self, scored: Sequence[list[Tagged]], example: PromptExample, context: str
    ) -> tuple[str, ...]:
        return surest([one for window in scored for one in window], context, self.prompts.max_spans)


def tags_of(window: Window, spans: Sequence[Span]) -> tuple[int, ...]:
    tags = [IGNORED if place is None else OUTSIDE for place in window.places]
    for span in spans:
        if tokens := window.tokens_of(*span):
            first, last = tokens
            tags[first] = BEGIN
            tags[first + 1 : last + 1] = [INSIDE] * (last - first)
    return tuple(tags)


def pieces_in(window: Window, scores: Sequence[Sequence[float]]) -> list[Tagged]:
    tags = [
        IGNORED if place is None else max(range(3), key=lambda tag: row[tag])
        for place, row in zip(window.places, scores, strict=True)
    ]
    pieces = []
    for first in (token for token, tag in enumerate(tags) if tag == BEGIN):
        last = first
        while tags[last + 1 : last + 2] == [INSIDE]:
            last += 1
        surety = scores[first][BEGIN] - scores[first][OUTSIDE]
        pieces.append((*window.characters(first, last), surety))
    return pieces


def surest(pieces: Sequence[Tagged], context: str, most: int | None) -> tuple[str, ...]:
    # Windows overlap, and a name may stand twice.
    by_surety = sorted(pieces, key=lambda piece: piece[2], reverse=True)
    kept = _texts_of([(begin, end) for begin, end, _ in by_surety], context)[:most]
    in_order = sorted(pieces, key=lambda piece: piece[0])
    named = _texts_of([(begin, end) for begin, end, _ in in_order], context)
    return tuple(text for text in named if text in kept)
