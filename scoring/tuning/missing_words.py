"""Prompt tuning of a masked language model, as LM-BFF does it: the pattern of a task puts a masked
word beside the text, each label has a word, and the label whose word fits best is the answer. No
new weights are added.

With demonstrations, an input is followed by one shot of each label with its word filled in, drawn
anew each time; a test example is asked several times with other demonstrations, and the mean of the
scores counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.core.draws import Draws
from scoring.prompts.material import PromptExample, PromptSet
from scoring.tuning.answered import Answered
from scoring.tuning.classification import check_labels
from scoring.tuning.fitting import Told, fit, in_batches
from scoring.tuning.loading import Source
from scoring.tuning.patterns import Pattern, filled, words_of
from scoring.tuning.settings import Settings

SHORTENED = "{} inputs were asked with fewer demonstrations, since {} tokens hold no more"


class MissingWords:
    name = "missing word"
    needs_shots = False

    def __init__(self, source: Source, settings: Settings, patterns: Mapping[str, Pattern]) -> None:
        self._source = source
        self._settings = settings
        self._patterns = patterns

    def problem(self, prompts: PromptSet) -> str:
        if not answer_kind(prompts.kind).takes_labels:
            return "it has no labels, whose words prompt tuning chooses from"
        if prompts.fields["task"] not in self._patterns:
            return "--templates has no pattern for it"
        return ""

    def answer(
        self, prompts: PromptSet, *, validation: Sequence[PromptSet], told: Told
    ) -> Answered:
        asking = _Asking(self._source, self._settings, self._pattern(prompts), prompts)
        model = self._source.model(AutoModelForMaskedLM, seed=self._settings.seed)
        held = [shot for others in validation for shot in others.training]
        check_labels([*prompts.training, *held], asking.labels)
        fitted = None
        if prompts.training:
            fitted = fit(
                model,
                prompts.training,
                loss_of=lambda batch: asking.loss(model, batch),
                settings=self._settings,
                told=told,
                validation=held,
            )
        return Answered(
            answers=dict(asking.answers(model, prompts.test)),
            fitted=fitted,
            notes=asking.notes,
        )

    def _pattern(self, prompts: PromptSet) -> Pattern:
        return self._patterns[prompts.fields["task"]]


class _Asking:
    """The questions about one shot set."""

    def __init__(
        self, source: Source, settings: Settings, pattern: Pattern, prompts: PromptSet
    ) -> None:
        self._source = source
        self._settings = settings
        self._pattern = pattern
        self._shots = prompts.training
        self.labels = prompts.test[0].options
        task = prompts.fields["task"]
        self._words = dict(zip(self.labels, words_of(pattern, task, self.labels), strict=True))
        self._numbers = [self._number_of(self._words[label]) for label in self.labels]
        self._draws = Draws(settings.seed, "demonstrations")
        self._shortened: set[str] = set()

    @property
    def notes(self) -> tuple[str, ...]:
        count = len(self._shortened)
        return (SHORTENED.format(count, self._settings.max_length),) if count else ()

    def loss(self, model: Any, batch: Sequence[PromptExample]) -> Any:
        numbers = torch.tensor([self.labels.index(shot.answer[0]) for shot in batch])
        scores = self._scores(model, batch)
        return torch.nn.functional.cross_entropy(scores, numbers.to(self._source.device))

    def answers(
        self, model: Any, examples: Sequence[PromptExample]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        model.eval()
        times = self._settings.demonstrations if self._shots else 0
        for batch in in_batches(examples, self._settings.batch_size):
            with torch.no_grad():
                asked = [self._scores(model, batch) for _ in range(max(times, 1))]
            numbers = torch.stack(asked).mean(dim=0).argmax(dim=-1).tolist()
            for example, number in zip(batch, numbers, strict=True):
                yield example.id, (self.labels[number],)

    def _scores(self, model: Any, batch: Sequence[PromptExample]) -> Any:
        """Of each label's word in the place of the mask, a row for each example."""
        tokenizer = self._source.tokenizer
        encoded = tokenizer(
            [self._text(example) for example in batch],
            padding=True,
            truncation=True,
            max_length=self._settings.max_length,
            return_tensors="pt",
            verbose=False,
        ).to(self._source.device)
        masks = encoded["input_ids"] == tokenizer.mask_token_id
        if not bool(masks.any(dim=-1).all()):
            raise BadInput(
                f"A text and its masked word do not fit into {self._settings.max_length} tokens: "
                "choose a larger --max-length."
            )
        # The first: a text of the user's may hold the word for it.
        places = masks.int().argmax(dim=-1)
        rows = torch.arange(len(batch), device=places.device)
        return model(**encoded).logits[rows, places][:, self._numbers]

    def _text(self, example: PromptExample) -> str:
        """With as many of the demonstrations as fit: the last are left out first."""
        tokenizer = self._source.tokenizer
        asked = filled(self._pattern, example, word=tokenizer.mask_token)
        parts = [asked, *self._demonstrations(example)]
        while len(parts) > 1:
            text = f" {tokenizer.sep_token} ".join(parts)
            if len(tokenizer(text, verbose=False)["input_ids"]) <= self._settings.max_length:
                return text
            self._shortened.add(example.id)
            parts.pop()
        return asked

    def _demonstrations(self, example: PromptExample) -> list[str]:
        """One shot of each label, but not the example itself."""
        if not self._settings.demonstrations:
            return []
        shown = []
        for label, word in self._words.items():
            others = [
                shot for shot in self._shots if shot.answer == (label,) and shot is not example
            ]
            if others:
                shot = others[self._draws.below(len(others))]
                shown.append(filled(self._pattern, shot, word=word))
        return shown

    def _number_of(self, word: str) -> int:
        """As in the middle of a sentence, after a space."""
        tokens = self._source.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        if len(tokens) != 1 or tokens[0] == self._source.tokenizer.unk_token_id:
            raise BadInput(
                f"The word “{word}” is not one piece of the model's vocabulary: choose another in "
                "--templates."
            )
        return int(tokens[0])
