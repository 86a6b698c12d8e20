"""Tuners that find pieces of a text. Shots become lessons, one or more for each window of their
text."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForQuestionAnswering, AutoModelForTokenClassification

from annotation.kinds import answer_kind
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.encoders import Window, context_of, mentions, padded, windows_of
from scoring.tuning.fitting import IGNORED, Tuner, in_batches

NOT_FOUND = "{} answers of the shots do not stand in their text, and could not be learned"
OUTSIDE, BEGIN, INSIDE = range(3)
# Where a piece of a text begins and ends, in characters.
Span = tuple[int, int]


class _FindsPieces(Tuner):
    def lessons(self, prompts: PromptSet) -> list[Any]:
        lessons: list[Any] = []
        for shot in prompts.training:
            spans = self.spans(shot.answer, context_of(shot, self.source.tokenizer))
            if spans or not shot.answer:
                for window in windows_of(self.source, self.settings, [shot]):
                    lessons += self.lessons_of(window, spans)
        return lessons

    def notes(self) -> Iterator[str]:
        contexts = [
            (shot, context_of(shot, self.source.tokenizer)) for shot in self.prompts.training
        ]
        count = sum(text not in context for shot, context in contexts for text in shot.answer)
        if count:
            yield NOT_FOUND.format(count)

    def answers(self, examples: Sequence[PromptExample]) -> Iterator[tuple[str, tuple[str, ...]]]:
        size = self.settings.batch_size
        for some in in_batches(examples, size):
            windows = windows_of(self.source, self.settings, some)
            scored: list[list[Any]] = [[] for _ in some]
            for batch in in_batches(windows, size):
                output = self.model(**padded(self.source, batch))
                for window, found in zip(batch, self.scored(batch, output), strict=True):
                    scored[window.example].append(found)
            for example, those in zip(some, scored, strict=True):
                context = context_of(example, self.source.tokenizer)
                yield example.id, self.answer_of(those, example, context)

    @abstractmethod
    def spans(self, answers: Sequence[str], context: str) -> list[Span]:
        """Which places of the text a shot's answers teach."""

    @abstractmethod
    def lessons_of(self, window: Window, spans: Sequence[Span]) -> list[Any]: ...

    @abstractmethod
    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[Any]:
        """What the model says of each window."""

    @abstractmethod
    def answer_of(
        self, scored: Sequence[Any], example: PromptExample, context: str
    ) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Scored:
    """The scores of a window's tokens, as plain numbers."""

    window: Window
    begins: list[float]
    ends: list[float]

    @property
    def nothing(self) -> float:
        return self.begins[self.window.nothing] + self.ends[self.window.nothing]


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

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        kind = answer_kind(prompts.kind)
        if kind.takes_pieces or (kind.takes_options and not kind.takes_labels):
            return ""
        return "its answers are no pieces of the text, which begins and ends are found for"

    def spans(self, answers: Sequence[str], context: str) -> list[Span]:
        """Where each first stands."""
        places = ((context.find(text), len(text)) for text in answers)
        return [(begin, begin + length) for begin, length in places if begin >= 0]

    def lessons_of(self, window: Window, spans: Sequence[Span]) -> list[tuple[Window, int, int]]:
        """The first and last token of each answer in the window; where none is, those of no
        answer."""
        tokens = [place for span in spans if (place := window.tokens_of(*span))]
        return [(window, *place) for place in tokens or [(window.nothing, window.nothing)]]

    def loss(self, batch: Sequence[tuple[Window, int, int]]) -> Any:
        windows, begins, ends = zip(*batch, strict=True)
        return self.model(
            **padded(self.source, windows),
            start_positions=torch.tensor(begins, device=self.source.device),
            end_positions=torch.tensor(ends, device=self.source.device),
        ).loss

    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[Scored]:
        scores = (output.start_logits.tolist(), output.end_logits.tolist())
        return map(Scored, windows, *scores)

    def answer_of(
        self, scored: Sequence[Scored], example: PromptExample, context: str
    ) -> tuple[str, ...]:
        longest, most = self.settings.longest_answer, self.prompts.max_spans
        if answer_kind(self.prompts.kind).takes_options:
            return (_best_option(scored, example.options, context),)
        if most == 1:
            found = _best_span(scored, longest)
        else:
            found = [span for window in scored for span in _all_spans(window, longest)]
        # Some tokenizers count the space before a word to it.
        pieces = (context[begin:end].strip() for begin, end in found)
        return tuple(dict.fromkeys(pieces))[:most]


def _all_spans(scored: Scored, longest: int) -> list[tuple[int, int]]:
    places = scored.window.places
    least = scored.begins[scored.window.nothing]
    begins = [
        token
        for token, place in enumerate(places)
        if place is not None and scored.begins[token] > least
    ]
    spans = []
    for begin, following in zip(begins, [*begins[1:], len(places)], strict=True):
        ends = [
            token
            for token in range(begin, min(begin + longest, following))
            if places[token] is not None
        ]
        end = max(ends, key=lambda token: scored.ends[token])
        if scored.begins[begin] + scored.ends[end] > scored.nothing:
            spans.append(scored.window.characters(begin, end))
    return spans


def _best_span(windows: Sequence[Scored], longest: int) -> list[tuple[int, int]]:
    """The best of all windows; none if no answer scores more in that window where it does least."""
    best, found = min(scored.nothing for scored in windows), []
    for scored in windows:
        places = scored.window.places
        for begin, place in enumerate(places):
            if place is None:
                continue
            for end in range(begin, min(begin + longest, len(places))):
                score = scored.begins[begin] + scored.ends[end]
                if places[end] is not None and score > best:
                    best, found = score, [scored.window.characters(begin, end)]
    return found


def _best_option(windows: Sequence[Scored], options: Sequence[str], context: str) -> str:
    """By the best of its mentions."""
    scores = {
        option: max(
            (
                scored.begins[tokens[0]] + scored.ends[tokens[1]]
                for scored in windows
                for begin in mentions(option, context)
                if (tokens := scored.window.tokens_of(begin, begin + len(option)))
            ),
            default=float("-inf"),
        )
        for option in options
    }
    return max(options, key=lambda option: scores[option])


@dataclass(frozen=True)
class Tagged:
    """A piece of the text, and how much its first token is rather a begin than outside."""

    begin: int
    end: int
    surety: float


class Tagging(_FindsPieces):
    """Another head than CLUES describes: each token of the text begins an answer, is inside one, or
    is outside (BIO tags). Systems with it have a name that says so.

    A shot's answers are tagged wherever they stand in its text, the longest first. What is read
    back: each token tagged as a begin with those inside that follow it; where only so many pieces
    may be given, those with the surest begins.
    """

    name = "BIO tags"
    family = AutoModelForTokenClassification

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        if answer_kind(prompts.kind).takes_pieces:
            return ""
        return "its answers are no pieces of the text, whose tokens are tagged"

    def head_options(self) -> dict[str, Any]:
        return {"num_labels": 3}

    def spans(self, answers: Sequence[str], context: str) -> list[Span]:
        return tagged_spans(answers, context)

    def lessons_of(
        self, window: Window, spans: Sequence[Span]
    ) -> list[tuple[Window, tuple[int, ...]]]:
        return [(window, tags_of(window, spans))]

    def loss(self, batch: Sequence[tuple[Window, tuple[int, ...]]]) -> Any:
        inputs = padded(self.source, [window for window, _ in batch])
        length = inputs["input_ids"].shape[1]
        rows = []
        for _, tags in batch:
            filling = [IGNORED] * (length - len(tags))
            rows.append([*filling, *tags] if self._pads_left else [*tags, *filling])
        return self.model(**inputs, labels=torch.tensor(rows, device=self.source.device)).loss

    def scored(self, windows: Sequence[Window], output: Any) -> Iterator[list[Tagged]]:
        """By the scores of the three tags, for each token of a window."""
        for window, row in zip(windows, output.logits.tolist(), strict=True):
            length = len(window.places)
            yield pieces_in(window, row[-length:] if self._pads_left else row[:length])

    def answer_of(
        self, scored: Sequence[list[Tagged]], example: PromptExample, context: str
    ) -> tuple[str, ...]:
        return surest([one for those in scored for one in those], context, self.prompts.max_spans)

    @property
    def _pads_left(self) -> bool:
        return bool(self.source.tokenizer.padding_side == "left")


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


def surest(pieces: Sequence[Tagged], context: str, most: int | None) -> tuple[str, ...]:
    # Windows overlap, and a name may stand twice.
    by_surety = sorted(pieces, key=lambda piece: piece.surety, reverse=True)
    texts = dict.fromkeys(context[piece.begin : piece.end].strip() for piece in by_surety)
    kept = set(list(texts)[:most])
    in_order = sorted(pieces, key=lambda piece: piece.begin)
    named = (context[piece.begin : piece.end].strip() for piece in in_order)
    return tuple(dict.fromkeys(text for text in named if text in kept))
