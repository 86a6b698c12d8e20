"""Text-to-text models (T5): a prompt in, an answer out, tuned on the shots' own answers."""

from collections.abc import Iterator, Sequence
from typing import Any

from transformers import AutoModelForSeq2SeqLM

from annotation.kinds import answer_kind
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.fitting import IGNORED, Tuner, cut_in_words, in_batches
from scoring.tuning.texts import Texts


class TextToText(Tuner):
    name = "text-to-text"
    family = AutoModelForSeq2SeqLM
    needs_shots = False

    @classmethod
    def problem(cls, prompts: PromptSet, wording: Texts) -> str:
        return wording.problem(prompts)

    def lessons(self, prompts: PromptSet) -> list[dict[str, Any]]:
        return [line for line in self.wording.lines(prompts) if line["role"] == "training"]

    def loss(self, batch: Sequence[dict[str, Any]]) -> Any:
        labels = self._encoded([line["answer"] for line in batch])["input_ids"]
        labels = labels.masked_fill(labels == self.source.tokenizer.pad_token_id, IGNORED)
        return self.model(**self._encoded([line["prompt"] for line in batch]), labels=labels).loss

    def answers(self, examples: Sequence[PromptExample]) -> Iterator[tuple[str, tuple[str, ...]]]:
        asked = [line for line in self.wording.lines(self.prompts) if line["role"] == "test"]
        for batch in in_batches(asked, self.settings.batch_size):
            written = self.model.generate(
                **self._encoded([line["prompt"] for line in batch]),
                max_new_tokens=self.settings.longest_answer,
                do_sample=False,
                num_beams=1,
            )
            texts = self.source.tokenizer.batch_decode(written, skip_special_tokens=True)
            for line, text in zip(batch, texts, strict=True):
                yield line["example"], _read(line, text, self.prompts.kind)

    def _encoded(self, texts: list[str]) -> Any:
        return self.source.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=self.settings.max_length,
            return_tensors="pt",
        ).to(self.source.device)

    def notes(self) -> Iterator[str]:
        prompts = [line["prompt"] for line in self.wording.lines(self.prompts)]
        whole, most = self.source.tokenizer(prompts, verbose=False), self.settings.max_length
        return cut_in_words(sum(len(ids) > most for ids in whole["input_ids"]), most)


def _read(line: dict[str, Any], text: str, kind: str) -> tuple[str, ...]:
    """The labels that an answer names, whatever the prompt called them."""
    offered = line.get("options", [])
    called = dict(zip(offered, line.get("labels", offered), strict=True))
    return tuple(
        called.get(piece, piece) for piece in answer_kind(kind).from_prompted(text, offered)
    )
