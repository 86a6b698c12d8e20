"""How a model is tuned, by what its folder holds and what is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)
from transformers.utils import logging

from annotation.models.errors import BadInput
from scoring.models import Method
from scoring.prompts.prompting import PromptSet
from scoring.prompts.templates import read_patterns
from scoring.tuning.fitting import Tuner
from scoring.tuning.labels import Classification, MissingWords
from scoring.tuning.loading import Source, pick_device, versions
from scoring.tuning.pieces import SpanFinding, Tagging
from scoring.tuning.settings import BIO, CLUES, CLUES_WRITTEN, LM_BFF, UNIFEW, Settings, changed
from scoring.tuning.text_to_text import TextToText
from scoring.tuning.texts import PAIRS, texts_in
from scoring.tuning.texts import UNIFEW as UNIFEW_FORMAT

# Its bars and warnings (a head is new: that is the purpose) would hide our own progress.
logging.set_verbosity_error()
logging.disable_progress_bar()


@dataclass(frozen=True)
class TunedModel:
    """One model; the first of its tuners that can answer a task is the one for it."""

    source: Source
    settings: Settings
    tuners: Sequence[type[Tuner]]
    # What the prompts are made of, where the tuners need it.
    wording: Any = None
    # Of the texts that it is given; empty where the tuner has its own.
    format: str = ""
    # A checksum of the file of templates; empty without one.
    patterns: str = ""
    # Empty where it is none of another name.
    head: str = ""

    def as_plain(self) -> dict[str, Any]:
        """All that decides what is answered, as it is stored with the runs."""
        return {
            "settings": self.settings.as_plain(),
            "format": self.format,
            "patterns": self.patterns,
            "weights": self.source.fingerprint,
            **({"head": self.head} if self.head else {}),
        }

    def named(self, system: str) -> str:
        """Another head than CLUES describes makes another system."""
        return f"{system}, {self.head}" if self.head else system

    @property
    def machine(self) -> dict[str, str]:
        """What the answers should not depend on."""
        return {"device": self.source.device, **versions()}

    def check(self, prompts: PromptSet) -> None:
        """Raises BadInput where no tuner can answer it."""
        if self._kind_for(prompts).needs_shots and not prompts.training:
            raise BadInput("without shots its new head would answer at random")

    def tuner_for(self, prompts: PromptSet) -> Tuner:
        self.check(prompts)
        return self._kind_for(prompts)(self.source, self.settings, self.wording, prompts)

    def _kind_for(self, prompts: PromptSet) -> type[Tuner]:
        for tuner in self.tuners:
            if not (problem := tuner.problem(prompts, self.wording)):
                return tuner
        raise BadInput(problem)


def tuned_model(
    folder: str,
    *,
    checkpoint: Path | None,
    device: str,
    method: str,
    form: str,
    templates: Path | None,
    head: str,
    given: Mapping[str, Any],
) -> TunedModel:
    """For a model, by its architecture. Raises BadInput where it has none of ours."""
    source = Source(folder, checkpoint, pick_device(device))
    config = source.config
    is_encoder = (
        config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not config.is_encoder_decoder
    )
    if head and (method != Method.FT or not is_encoder):
        raise BadInput("--head is for encoders that are fine-tuned: others have no choice of it.")
    if config.is_encoder_decoder and (
        config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    ):
        return _text_to_text(source, method, form or PAIRS, templates, given)
    if form:
        raise BadInput("--format is for text-to-text models: an encoder has its own.")
    if not is_encoder:
        raise BadInput(
            f"{source.place} holds a model of the type {config.model_type}: text-to-text models "
            "(T5) and encoders (BERT, RoBERTa, DeBERTa) are tuned here."
        )
    if method == Method.PT:
        return _with_patterns(source, templates, given)
    if templates is not None:
        raise BadInput("Templates are for the format unifew, or for --method PT.")
    settings = changed(CLUES, given)
    if head == BIO:
        return TunedModel(source, settings, [Tagging], head=Tagging.name)
    return TunedModel(source, settings, [Classification, SpanFinding])


def _text_to_text(
    source: Source, method: str, form: str, templates: Path | None, given: Mapping[str, Any]
) -> TunedModel:
    if method == Method.PT:
        raise BadInput(
            "--method PT tunes a masked language model: a text-to-text model is asked in words "
            "already, with --method FT."
        )
    settings = changed(UNIFEW if form == UNIFEW_FORMAT else CLUES_WRITTEN, given)
    texts = texts_in(form, templates)
    return TunedModel(source, settings, [TextToText], texts, form, _checksum_of(templates))


def _with_patterns(source: Source, templates: Path | None, given: Mapping[str, Any]) -> TunedModel:
    if templates is None:
        raise BadInput("--method PT needs the patterns and words of each task: --templates FILE.")
    settings, patterns = changed(LM_BFF, given), read_patterns(templates)
    checksum = _checksum_of(templates)
    return TunedModel(source, settings, [MissingWords], patterns, patterns=checksum)


def _checksum_of(templates: Path | None) -> str:
    return "" if templates is None else sha256(templates.read_bytes()).hexdigest()
