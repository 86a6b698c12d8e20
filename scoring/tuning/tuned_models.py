"""How a model is tuned, by what its folder holds and what is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from annotation.models.errors import BadInput
from scoring.models import Method
from scoring.prompts.formats import UNIFEW as UNIFEW_FORMAT
from scoring.prompts.formats import read_patterns, texts_in
from scoring.prompts.prompting import PromptSet
from scoring.tuning.examples import Classification, MissingWords, TextToText
from scoring.tuning.fitting import Source, Tuner
from scoring.tuning.pieces import SpanFinding, Tagging
from scoring.tuning.settings import BIO, CLUES, CLUES_WRITTEN, LM_BFF, UNIFEW, Settings, changed


@dataclass(frozen=True)
class TunedModel:
    """One model; the first of its tuners that can answer a task is the one for it."""

    source: Source
    settings: Settings
    tuners: Sequence[type[Tuner]]
    # What the prompts are made of, where the tuners need it, and the file that it is read from.
    wording: Any = None
    templates: Path | None = None
    # Of the texts that it is given; empty where the tuner has its own.
    format: str = ""
    # Empty where it is none of another name.
    head: str = ""

    def as_plain(self) -> dict[str, Any]:
        """All that decides what is answered, as it is stored with the runs."""
        patterns = "" if self.templates is None else sha256(self.templates.read_bytes()).hexdigest()
        return {
            "settings": asdict(self.settings),
            "format": self.format,
            "patterns": patterns,
            "weights": self.source.fingerprint,
            **({"head": self.head} if self.head else {}),
        }

    def named(self, system: str) -> str:
        """Another head than CLUES describes makes another system."""
        return f"{system}, {self.head}" if self.head else system

    @property
    def machine(self) -> dict[str, str]:
        """What the answers should not depend on."""
        return {
            "device": self.source.device,
            "torch": str(torch.__version__),
            "transformers": transformers.__version__,
        }

    def kind_for(self, prompts: PromptSet) -> type[Tuner]:
        """Raises BadInput where no tuner can answer it."""
        for tuner in self.tuners:
            if not (problem := tuner.problem(prompts, self.wording)):
                break
        else:
            raise BadInput(problem)
        if tuner.needs_shots and not prompts.training:
            raise BadInput("without shots its new head would answer at random")
        return tuner

    def tuner_for(self, prompts: PromptSet) -> Tuner:
        return self.kind_for(prompts)(self.source, self.settings, self.wording, prompts)


def tuned_model(options: Mapping[str, Any]) -> TunedModel:
    """Make a model by its architecture and the options of `finetune_model`. Raises BadInput for
    others."""
    source = Source(options["folder"], options["checkpoint"], _device(options["device"]))
    method, head = options["method"], options["head"]
    config = source.config
    writes = config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    is_encoder = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_encoder = is_encoder and not config.is_encoder_decoder
    if head and (method != Method.FT or not is_encoder):
        raise BadInput("--head is for encoders that are fine-tuned: others have no choice of it.")
    if writes and config.is_encoder_decoder:
        return _text_to_text(source, options)
    if options["format"]:
        raise BadInput("--format is for text-to-text models: an encoder has its own.")
    if not is_encoder:
        raise BadInput(
            f"{source.place} holds a model of the type {config.model_type}: text-to-text models "
            "(T5) and encoders (BERT, RoBERTa, DeBERTa) are tuned here."
        )
    templates = options["templates"]
    if method == Method.PT:
        if templates is None:
            raise BadInput(
                "--method PT needs the patterns and words of each task: --templates FILE."
            )
        patterns, settings = read_patterns(templates), changed(LM_BFF, options)
        return TunedModel(source, settings, [MissingWords], patterns, templates)
    if templates is not None:
        raise BadInput("Templates are for the format unifew, or for --method PT.")
    settings = changed(CLUES, options)
    if head == BIO:
        return TunedModel(source, settings, [Tagging], head=Tagging.name)
    return TunedModel(source, settings, [Classification, SpanFinding])


def _device(device: str) -> str:
    """The accelerator where there is one, unless another device is wanted."""
    if device == "auto":
        accelerator = torch.accelerator.current_accelerator(check_available=True)
        return accelerator.type if accelerator else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise BadInput("There is no CUDA device: leave --device out, or say cpu.")
    return device


def _text_to_text(source: Source, options: Mapping[str, Any]) -> TunedModel:
    if options["method"] == Method.PT:
        raise BadInput(
            "--method PT tunes a masked language model: a text-to-text model is asked in words "
            "already, with --method FT."
        )
    form, templates = options["format"] or "pairs", options["templates"]
    settings = changed(UNIFEW if form == UNIFEW_FORMAT else CLUES_WRITTEN, options)
    return TunedModel(source, settings, [TextToText], texts_in(form, templates), templates, form)
