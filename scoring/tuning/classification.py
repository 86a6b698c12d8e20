"""A classification head on an encoder: one label of those that the set offers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.prompts.material import PromptExample, PromptSet
from scoring.tuning.answered import Answered, cut_in_words
from scoring.tuning.encoders import encode
from scoring.tuning.fitting import Told, fit, in_batches
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings


class Classification:
    name = "classification"
    needs_shots = True

    def __init__(self, source: Source, settings: Settings) -> None:
        self._source = source
        self._settings = settings

    def problem(self, prompts: PromptSet) -> str:
        if answer_kind(prompts.kind).takes_labels:
            return ""
        return "it has no labels to choose from, which a classification head needs"

    def answer(
        self, prompts: PromptSet, *, validation: Sequence[PromptSet], told: Told
    ) -> Answered:
        labels = prompts.test[0].options
        model = self._source.model(
            AutoModelForSequenceClassification, seed=self._settings.seed, num_labels=len(labels)
        )
        held = [shot for others in validation for shot in others.training]
        check_labels([*prompts.training, *held], labels)
        fitted = fit(
            model,
            prompts.training,
            loss_of=lambda batch: self._loss(model, batch, labels),
            settings=self._settings,
            told=told,
            validation=held,
        )
        return Answered(
            answers=dict(self._answers(model, prompts.test, labels)),
            fitted=fitted,
            notes=self._notes([*prompts.training, *prompts.test]),
        )

    def _loss(self, model: Any, batch: Sequence[PromptExample], labels: Sequence[str]) -> Any:
        numbers = torch.tensor([labels.index(shot.answer[0]) for shot in batch])
        return model(**self._encoded(batch), labels=numbers.to(self._source.device)).loss

    def _answers(
        self, model: Any, examples: Sequence[PromptExample], labels: Sequence[str]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        model.eval()
        for batch in in_batches(examples, self._settings.batch_size):
            with torch.no_grad():
                numbers = model(**self._encoded(batch)).logits.argmax(dim=-1).tolist()
            for example, number in zip(batch, numbers, strict=True):
                yield example.id, (labels[number],)

    def _encoded(self, batch: Sequence[PromptExample]) -> Any:
        encoded = encode(self._source, self._settings, batch, padding=True, return_tensors="pt")
        return encoded.to(self._source.device)

    def _notes(self, examples: Sequence[PromptExample]) -> tuple[str, ...]:
        """Cut are those that would have a second window."""
        windows = encode(self._source, self._settings, examples, return_overflowing_tokens=True)
        number_of = Counter(windows["overflow_to_sample_mapping"])
        cut = sum(number > 1 for number in number_of.values())
        return cut_in_words(cut, self._settings.max_length)


def check_labels(shots: Sequence[PromptExample], labels: Sequence[str]) -> None:
    for shot in shots:
        if shot.answer[0] not in labels:
            raise BadInput(
                f"The training example {shot.id} has the label “{shot.answer[0]}”, which the test "
                f"set does not offer ({', '.join(labels)})."
            )
