"""Text-to-text models (T5): a prompt in, an answer out, tuned on the shots' own answers."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from annotation.kinds import answer_kind
from scoring.prompts.material import PromptSet
from scoring.tuning.answered import Answered, cut_in_words
from scoring.tuning.fitting import Told, fit, in_batches
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings
from scoring.tuning.texts import Texts

# What a loss leaves out.
IGNORED = -100


class TextToText:
    name = "text-to-text"
    needs_shots = False

    def __init__(self, source: Source, settings: Settings, texts: Texts) -> None:
        self._source = source
        self._settings = settings
        self._texts = texts

    def problem(self, prompts: PromptSet) -> str:
        return self._texts.problem(prompts)

    def answer(
        self, prompts: PromptSet, *, validation: Sequence[PromptSet], told: Told
    ) -> Answered:
        model = self._source.model(AutoModelForSeq2SeqLM, seed=self._settings.seed)
        lines = list(self._texts.lines(prompts))
        shots = [line for line in lines if line["role"] == "training"]
        asked = [line for line in lines if line["role"] == "test"]
        fitted = None
        if shots:
            fitted = fit(
                model,
                shots,
                loss_of=lambda batch: self._loss(model, batch),
                settings=self._settings,
                told=told,
                validation=[line for held in validation for line in self._shots_of(held)],
            )
        return Answered(
            answers=dict(self._answers(model, prompts, asked)),
            fitted=fitted,
            notes=self._notes([*shots, *asked]),
        )

    def _shots_of(self, prompts: PromptSet) -> list[dict[str, Any]]:
        return [line for line in self._texts.lines(prompts) if line["role"] == "training"]

    def _loss(self, model: Any, batch: Sequence[dict[str, Any]]) -> Any:
        labels = self._encoded([line["answer"] for line in batch])["input_ids"]
        padding = self._source.tokenizer.pad_token_id
        labels = labels.masked_fill(labels == padding, IGNORED)
        return model(**self._encoded([line["prompt"] for line in batch]), labels=labels).loss

    def _answers(
        self, model: Any, prompts: PromptSet, asked: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        model.eval()
        for batch in in_batches(asked, self._settings.batch_size):
            with torch.no_grad():
                written = model.generate(
                    **self._encoded([line["prompt"] for line in batch]),
                    max_new_tokens=self._settings.longest_answer,
                    do_sample=False,
                    num_beams=1,
                )
            texts = self._source.tokenizer.batch_decode(written, skip_special_tokens=True)
            for line, text in zip(batch, texts, strict=True):
                yield line["example"], _read(line, text, prompts.kind)

    def _encoded(self, texts: list[str]) -> Any:
        return self._source.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=self._settings.max_length,
            return_tensors="pt",
        ).to(self._source.device)

    def _notes(self, lines: Sequence[dict[str, Any]]) -> tuple[str, ...]:
        whole = self._source.tokenizer([line["prompt"] for line in lines], verbose=False)
        most = self._settings.max_length
        return cut_in_words(sum(len(ids) > most for ids in whole["input_ids"]), most)


def _read(line: dict[str, Any], text: str, kind: str) -> tuple[str, ...]:
    """The labels that an answer names, whatever the prompt called them."""
    offered = line.get("options", [])
    called = dict(zip(offered, line.get("labels", offered), strict=True))
    pieces = answer_kind(kind).from_prompted(text, offered)
    return tuple(called.get(piece, piece) for piece in pieces)
