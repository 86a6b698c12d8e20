"""What the heads on encoders have in common: question and text as CLUES gives them, and the parts
of a text that fit into an encoder, each beside the question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models.errors import BadInput
from scoring.prompts.prompting import PromptExample
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings


def context_of(example: PromptExample, tokenizer: Any) -> str:
    """The texts of a pair with a separator between them."""
    return f" {tokenizer.sep_token} ".join(example.context)


def encode(
    source: Source, settings: Settings, examples: Sequence[PromptExample], **options: Any
) -> Any:
    """Each question with its text, of which what is too long is cut, or goes into more windows."""
    tokenizer = source.tokenizer
    questions = [example.question for example in examples]
    longest = max(map(len, tokenizer(questions, add_special_tokens=False)["input_ids"]))
    room = settings.max_length - longest - tokenizer.num_special_tokens_to_add(pair=True)
    # Asked before: the tokenizers' own way to say it ends the process.
    if room <= options.get("stride", 0):
        raise BadInput(
            f"A question and a part of its text do not fit into {settings.max_length} tokens: "
            "choose a larger --max-length, or a smaller --stride."
        )
    return tokenizer(
        questions,
        [context_of(example, tokenizer) for example in examples],
        truncation="only_second",
        max_length=settings.max_length,
        verbose=False,
        **options,
    )


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
            (number, *place)
            for number, place in enumerate(self.places)
            if place is not None and place[0] < end and place[1] > begin
        ]
        if not inside or inside[0][1] > begin or inside[-1][2] < end:
            return None
        return inside[0][0], inside[-1][0]

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
