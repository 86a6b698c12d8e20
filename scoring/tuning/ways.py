"""Which way a model is tuned, by what its folder holds and what is asked for."""

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
from scoring.prompts.material import PromptSet
from scoring.tuning.answered import Way
from scoring.tuning.classification import Classification
from scoring.tuning.loading import Source, pick_device, versions
from scoring.tuning.missing_words import MissingWords
from scoring.tuning.patterns import read_patterns
from scoring.tuning.settings import BIO, CLUES, CLUES_WRITTEN, LM_BFF, UNIFEW, Settings, changed
from scoring.tuning.span_finding import SpanFinding
from scoring.tuning.tagging import Tagging
from scoring.tuning.text_to_text import TextToText
from scoring.tuning.texts import PAIRS, texts_in
from scoring.tuning.texts import UNIFEW as UNIFEW_FORMAT

# Its bars and warnings (a head is new: that is the purpose) would hide our own progress.
logging.set_verbosity_error()
logging.disable_progress_bar()


@dataclass(frozen=True)
class Ways:
    """The ways of one model; the first that can answer a task is the one for it."""

    source: Source
    settings: Settings
    # Of the texts that it is given; empty where the way has its own.
    format: str
    ways: Sequence[Way]
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

    def way_for(self, prompts: PromptSet) -> Way:
        """Raises BadInput where there is none."""
        for way in self.ways:
            if not way.problem(prompts):
                if way.needs_shots and not prompts.training:
                    raise BadInput("without shots its new head would answer at random")
                return way
        raise BadInput(self.ways[-1].problem(prompts))


def ways_of(
    folder: str,
    *,
    checkpoint: Path | None,
    device: str,
    method: str,
    form: str,
    templates: Path | None,
    head: str,
    given: Mapping[str, Any],
) -> Ways:
    """For a model, by its architecture. Raises BadInput where it has none of ours."""
    source = Source(folder, checkpoint, pick_device(device))
    if head and (method != Method.FT or not _is_encoder(source)):
        raise BadInput("--head is for encoders that are fine-tuned: others have no choice of it.")
    if _is_text_to_text(source):
        return _of_text_to_text(source, method, form, templates, given)
    if form:
        raise BadInput("--format is for text-to-text models: an encoder has its own.")
    if _is_encoder(source):
        return _of_encoder(source, method, templates, head, given)
    raise BadInput(
        f"{source.place} holds a model of the type {source.config.model_type}: text-to-text models "
        "(T5) and encoders (BERT, RoBERTa, DeBERTa) are tuned here."
    )


def _of_text_to_text(
    source: Source, method: str, form: str, templates: Path | None, given: Mapping[str, Any]
) -> Ways:
    if method == Method.PT:
        raise BadInput(
            "--method PT tunes a masked language model: a text-to-text model is asked in words "
            "already, with --method FT."
        )
    form = form or PAIRS
    settings = changed(UNIFEW if form == UNIFEW_FORMAT else CLUES_WRITTEN, given)
    way = TextToText(source, settings, texts_in(form, templates))
    return Ways(source, settings, form, [way], checksum_of(templates))


def _of_encoder(
    source: Source, method: str, templates: Path | None, head: str, given: Mapping[str, Any]
) -> Ways:
    if method == Method.FT:
        if templates is not None:
            raise BadInput("Templates are for the format unifew, or for --method PT.")
        settings = changed(CLUES, given)
        if head == BIO:
            return Ways(source, settings, "", [Tagging(source, settings)], head=Tagging.name)
        ways: list[Way] = [Classification(source, settings), SpanFinding(source, settings)]
        return Ways(source, settings, "", ways)
    if templates is None:
        raise BadInput("--method PT needs the patterns and words of each task: --templates FILE.")
    settings = changed(LM_BFF, given)
    way = MissingWords(source, settings, read_patterns(templates))
    return Ways(source, settings, "", [way], checksum_of(templates))


def checksum_of(templates: Path | None) -> str:
    return "" if templates is None else sha256(templates.read_bytes()).hexdigest()


def _is_text_to_text(source: Source) -> bool:
    config = source.config
    is_known = config.model_type in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    return bool(config.is_encoder_decoder) and is_known


def _is_encoder(source: Source) -> bool:
    config = source.config
    is_known = config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return is_known and not config.is_encoder_decoder
