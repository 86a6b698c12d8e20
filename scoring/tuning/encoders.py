"""What the heads on encoders have in common: question and text as CLUES gives them."""

from collections.abc import Sequence
from typing import Any

from annotation.models.errors import BadInput
from scoring.prompts.material import PromptExample
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
