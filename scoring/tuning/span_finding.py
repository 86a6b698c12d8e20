"""The head that CLUES describes: two weights vectors score each token as the begin and the end of
an answer, and no answer is the first token (section 4, “classic fine-tuning”).

Each answer of a shot is one example to learn from. What is read back: where at most one piece may
be given, the best pair of begin and end, unless no answer scores more; where any number may, each
token that scores more as a begin than no answer does, with its best end before the next begin;
where an entity is asked for, the marked one with the best score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForQuestionAnswering

from annotation.kinds import answer_kind
from scoring.prompts.material import PromptExample, PromptSet
from scoring.tuning.encoders import context_of
from scoring.tuning.fitting import in_batches
from scoring.tuning.text_heads import Span, TextHead
from scoring.tuning.windows import Window, mentions, padded, windows_of


@dataclass(frozen=True)
class Lesson:
    window: Window
    begin: int
    end: int


@dataclass(frozen=True)
class Scored:
    """The scores of a window's tokens, as plain numbers."""

    window: Window
    begins: list[float]
    ends: list[float]

    @property
    def nothing(self) -> float:
        return self.begins[self.window.nothing] + self.ends[self.window.nothing]


class SpanFinding(TextHead[Lesson]):
    name = "begin and end"

    def problem(self, prompts: PromptSet) -> str:
        kind = answer_kind(prompts.kind)
        if kind.takes_pieces or (kind.takes_options and not kind.takes_labels):
            return ""
        return "its answers are no pieces of the text, which begins and ends are found for"

    def _new_model(self) -> Any:
        return self._source.model(AutoModelForQuestionAnswering, seed=self._settings.seed)

    def _spans(self, answers: Sequence[str], context: str) -> list[Span]:
        """Where each first stands."""
        places = ((context.find(text), len(text)) for text in answers)
        return [(begin, begin + length) for begin, length in places if begin >= 0]

    def _lessons_of(self, window: Window, spans: Sequence[Span]) -> list[Lesson]:
        """One for each answer in the window; where none is, the one of no answer."""
        tokens = [place for span in spans if (place := window.tokens_of(*span))]
        found = [Lesson(window, first, last) for first, last in tokens]
        return found or [Lesson(window, window.nothing, window.nothing)]

    def _loss(self, model: Any, batch: Sequence[Lesson]) -> Any:
        device = self._source.device
        return model(
            **padded(self._source, [lesson.window for lesson in batch]),
            start_positions=torch.tensor([lesson.begin for lesson in batch], device=device),
            end_positions=torch.tensor([lesson.end for lesson in batch], device=device),
        ).loss

    def _answers(self, model: Any, prompts: PromptSet) -> Iterator[tuple[str, tuple[str, ...]]]:
        model.eval()
        for examples in in_batches(prompts.test, self._settings.batch_size):
            windows = windows_of(self._source, self._settings, examples)
            scored = [
                each
                for batch in in_batches(windows, self._settings.batch_size)
                for each in self._scored(model, batch)
            ]
            for number, example in enumerate(examples):
                own = [each for each in scored if each.window.example == number]
                context = context_of(example, self._source.tokenizer)
                yield example.id, self._answer(own, example, context, prompts)

    def _scored(self, model: Any, windows: Sequence[Window]) -> Iterator[Scored]:
        with torch.no_grad():
            output = model(**padded(self._source, windows))
        rows = zip(windows, output.start_logits.tolist(), output.end_logits.tolist(), strict=True)
        for window, begins, ends in rows:
            yield Scored(window, begins, ends)

    def _answer(
        self, windows: Sequence[Scored], example: PromptExample, context: str, prompts: PromptSet
    ) -> tuple[str, ...]:
        if answer_kind(prompts.kind).takes_options:
            return (_best_option(windows, example.options, context),)
        if prompts.max_spans == 1:
            found = _best_span(windows, self._settings.longest_answer)
        else:
            found = [
                span
                for window in windows
                for span in _all_spans(window, self._settings.longest_answer)
            ]
        # Some tokenizers count the space before a word to it.
        pieces = (context[begin:end].strip() for begin, end in found)
        return tuple(dict.fromkeys(pieces))[: prompts.max_spans]


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
