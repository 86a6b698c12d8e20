"""The parts of a text that fit into an encoder, each beside the question, and which characters the
tokens of a part stand for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.prompts.material import PromptExample
from scoring.tuning.encoders import encode
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings


@dataclass(frozen=True)
class Window:
    """A part of an example's text that fits into the model, beside its question."""

    example: int
    inputs: dict[str, list[int]]
    # For each token of the text where it begins and ends there; None for the others.
    places: tuple[tuple[int, int] | None, ...]
    # The token that stands for no answer.
    nothing: int

    def tokens_of(self, begin: int, end: int) -> tuple[int, int] | None:
        """The first and last token of a piece of the text; None if it is not all here."""
        inside = [
            number
            for number, place in enumerate(self.places)
            if place is not None and place[0] < end and place[1] > begin
        ]
        if not inside:
            return None
        first, last = self.places[inside[0]], self.places[inside[-1]]
        is_whole = first is not None and last is not None and first[0] <= begin and last[1] >= end
        return (inside[0], inside[-1]) if is_whole else None

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Where a piece of the text begins and ends that goes from one token to another."""
        begin, end = self.places[first], self.places[last]
        assert begin is not None
        assert end is not None
        return begin[0], end[1]


def windows_of(
    source: Source, settings: Settings, examples: Sequence[PromptExample]
) -> list[Window]:
    encoded = encode(
        source,
        settings,
        examples,
        stride=settings.stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    names = [name for name in source.tokenizer.model_input_names if name in encoded]
    return [
        Window(
            example=example,
            inputs={name: encoded[name][number] for name in names},
            places=tuple(
                place if part == 1 else None
                for place, part in zip(
                    encoded["offset_mapping"][number], encoded.sequence_ids(number), strict=True
                )
            ),
            nothing=encoded["input_ids"][number].index(source.tokenizer.cls_token_id),
        )
        for number, example in enumerate(encoded["overflow_to_sample_mapping"])
    ]


def padded(source: Source, windows: Sequence[Window]) -> Any:
    inputs = [window.inputs for window in windows]
    return source.tokenizer.pad(inputs, return_tensors="pt").to(source.device)


def mentions(text: str, context: str) -> Iterator[int]:
    """Where the text begins in the context, each time."""
    begin = context.find(text)
    while begin >= 0:
        yield begin
        begin = context.find(text, begin + 1)
