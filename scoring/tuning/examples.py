"""Tuners that are given each example as one text. Labels are chosen by a new classification head on
an encoder, or as a word in the place of a masked one; text-to-text models (T5) write."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    DataCollatorForSeq2Seq,
)

from annotation.kinds import answer_kind
from annotation.models.errors import BadInput
from scoring.core.episodes import Draws
from scoring.prompts.formats import Pattern, Texts, filled, words_of
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.fitting import Answers, Tuner, in_batches


class _ChoosesLabels(Tuner):
    """Chooses by the largest of its scores, one for each label that the set offers."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.prompts.test[0].options

    def scores(self, batch: Sequence[PromptExample]) -> Any:
        raise NotImplementedError

    def mean_scores(self, batch: Sequence[PromptExample]) -> Any:
        """What a test example is answered by."""
        return self.scores(batch)

    def lessons(self, prompts: PromptSet) -> Sequence[PromptExample]:
        for shot in prompts.training:
            if shot.answer[0] not in self.labels:
                raise BadInput(
                    f"The training example {shot.id} has the label “{shot.answer[0]}”, which the "
                    f"test set does not offer ({', '.join(self.labels)})."
                )
        return prompts.training

    def loss(self, batch: Sequence[PromptExample]) -> Any:
        numbers = torch.tensor([self.labels.index(shot.answer[0]) for shot in batch])
        return torch.nn.functional.cross_entropy(self.scores(batch), numbers.to(self.source.device))

    def answers(self) -> Answers:
        for batch in in_batches(self.prompts.test, self.settings.batch_size):
            numbers = self.mean_scores(batch).argmax(dim=-1).tolist()
            for example, number in zip(batch, numbers, strict=True):
                yield example.id, (self.labels[number],)


class Classification(_ChoosesLabels):
    name = "classification"
    family = AutoModelForSequenceClassification

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        if prompts.has_labels:
            return ""
        return "it has no labels to choose from, which a classification head needs"

    def head_options(self) -> dict[str, Any]:
        return {"num_labels": len(self.labels)}

    def scores(self, batch: Sequence[PromptExample]) -> Any:
        encoded = self.encoded_pairs(batch, padding=True, return_tensors="pt")
        return self.model(**encoded.to(self.source.device)).logits

    def notes(self) -> Iterator[str]:
        """Cut are those that would have a second window."""
        examples = [*self.prompts.training, *self.prompts.test]
        windows = self.encoded_pairs(examples, return_overflowing_tokens=True)
        number_of = Counter(windows["overflow_to_sample_mapping"])
        return self.cut_in_words(sum(number > 1 for number in number_of.values()))


class MissingWords(_ChoosesLabels):
    """Prompt tuning of a masked language model, as LM-BFF does it: the pattern of a task puts a
    masked word beside the text, each label has a word, and the label whose word fits best is the
    answer. No new weights are added.

    With demonstrations, an input is followed by one shot of each label with its word filled in,
    drawn anew each time; a test example is asked several times with other demonstrations, and the
    mean of the scores counts.
    """

    name = "missing word"
    family = AutoModelForMaskedLM
    needs_shots = False

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Mapping[str, Pattern]) -> str:
        if not prompts.has_labels:
            return "it has no labels, whose words prompt tuning chooses from"
        if prompts.fields["task"] not in wording:
            return "--templates has no pattern for it"
        return ""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        task = self.prompts.fields["task"]
        self._pattern = self.wording[task]
        words = words_of(self._pattern, task, self.labels)
        self._words = dict(zip(self.labels, words, strict=True))
        self._numbers = [self._number_of(word) for word in words]
        self._draws = Draws(self.settings.seed, "demonstrations")
        self._shortened: set[str] = set()

    def notes(self) -> Iterator[str]:
        if count := len(self._shortened):
            most = self.settings.max_length
            why = f"since {most} tokens hold no more"
            yield f"{count} inputs were asked with fewer demonstrations, {why}"

    def mean_scores(self, batch: Sequence[PromptExample]) -> Any:
        times = self.settings.demonstrations if self.prompts.training else 0
        return torch.stack([self.scores(batch) for _ in range(max(times, 1))]).mean(dim=0)

    def scores(self, batch: Sequence[PromptExample]) -> Any:
        """Score each label's word in the place of the mask, a row for each example."""
        encoded = self.encoded([self._text(example) for example in batch])
        masks = encoded["input_ids"] == self.source.tokenizer.mask_token_id
        if not bool(masks.any(dim=-1).all()):
            raise BadInput(
                f"A text and its masked word do not fit into {self.settings.max_length} tokens: "
                "choose a larger --max-length."
            )
        # The first: a text of the user's may hold the word for it.
        places = masks.int().argmax(dim=-1)
        rows = torch.arange(len(batch), device=places.device)
        return self.model(**encoded).logits[rows, places][:, self._numbers]

    def _text(self, example: PromptExample) -> str:
        """The text with as many of the demonstrations as fit: the last are left out first."""
        tokenizer = self.source.tokenizer
        asked = filled(self._pattern, example, word=tokenizer.mask_token)
        parts = [asked, *self._demonstrations(example)]
        while len(parts) > 1:
            text = f" {tokenizer.sep_token} ".join(parts)
            if len(tokenizer(text, verbose=False)["input_ids"]) <= self.settings.max_length:
                return text
            self._shortened.add(example.id)
            parts.pop()
        return asked

    def _demonstrations(self, example: PromptExample) -> Iterator[str]:
        """One shot of each label, but not the example itself."""
        for label, word in self._words.items() if self.settings.demonstrations else ():
            shots = self.prompts.training
            alike = [shot for shot in shots if shot.answer == (label,) and shot is not example]
            if alike:
                shot = alike[self._draws.below(len(alike))]
                yield filled(self._pattern, shot, word=word)

    def _number_of(self, word: str) -> int:
        """The number of a word as in the middle of a sentence, after a space."""
        tokens = self.source.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
        if len(tokens) != 1 or tokens[0] == self.source.tokenizer.unk_token_id:
            raise BadInput(
                f"The word “{word}” is not one piece of the model's vocabulary: choose another in "
                "--templates."
            )
        return int(tokens[0])


class TextToText(Tuner):
    """A prompt in, an answer out, tuned on the shots' own answers."""

    name = "text-to-text"
    family = AutoModelForSeq2SeqLM
    needs_shots = False

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Texts) -> str:
        return wording.problem(prompts)

    def lessons(self, prompts: PromptSet) -> list[dict[str, Any]]:
        lines = [line for line in self.wording.lines(prompts) if line["role"] == "training"]
        cut = partial(self.source.tokenizer, truncation=True, max_length=self.settings.max_length)
        return [{**cut(one["prompt"]), "labels": cut(one["answer"])["input_ids"]} for one in lines]

    def loss(self, batch: Sequence[dict[str, Any]]) -> Any:
        padded = DataCollatorForSeq2Seq(self.source.tokenizer)(batch)
        return self.model(**padded.to(self.source.device)).loss

    def answers(self) -> Answers:
        asked = [line for line in self.wording.lines(self.prompts) if line["role"] == "test"]
        kind = answer_kind(self.prompts.kind)
        for batch in in_batches(asked, self.settings.batch_size):
            written = self.model.generate(
                **self.encoded([line["prompt"] for line in batch]),
                max_new_tokens=self.settings.longest_answer,
                do_sample=False,
                num_beams=1,
            )
            texts = self.source.tokenizer.batch_decode(written, skip_special_tokens=True)
            for line, text in zip(batch, texts, strict=True):
                offered = line.get("options", [])
                answer = kind.from_prompted(text, offered, labels=line.get("labels", []))
                yield line["example"], tuple(answer)

    def notes(self) -> Iterator[str]:
        prompts = [line["prompt"] for line in self.wording.lines(self.prompts)]
        whole, most = self.source.tokenizer(prompts, verbose=False), self.settings.max_length
        return self.cut_in_words(sum(len(ids) > most for ids in whole["input_ids"]))
