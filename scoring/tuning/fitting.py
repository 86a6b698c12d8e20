"""A model from a folder or of a hub's name, fitted to one shot set and asked its test: the same
loop for every kind of model."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import torch
import transformers
from transformers.utils import logging

from annotation.models.errors import BadInput
from scoring.core.episodes import Draws
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.settings import OPTIMIZERS, Settings

# Its bars and warnings (a head is new: that is the purpose) would hide our own progress.
logging.set_verbosity_error()
logging.disable_progress_bar()

WEIGHTS = ("*.safetensors", "*.bin", "config.json")
CHUNK = 2**20
# What reading a model or a tokenizer raises where there is none, or what reads it is missing.
UNREADABLE = (OSError, ValueError, KeyError, ImportError)

# Called after every step: how many are done, of how many, and the loss.
Progress = Callable[[int, int, float], None]
# What is answered to each example, named by its own id.
Answers = Iterator[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Source:
    """Says where a model comes from; code that lies beside its weights is never run."""

    place: str
    # A checkpoint whose weights replace those of the place; see `load_checkpoint`.
    checkpoint: Path | None
    device: str

    @cached_property
    def config(self) -> Any:
        folder = Path(self.place)
        if folder.is_absolute() and not folder.is_dir():
            raise BadInput(f"There is no folder {self.place}.")
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise BadInput(
                f"{self.place} has no config.json: give the folder that transformers saved."
            )
        return self._read(
            transformers.AutoConfig,
            "is neither a folder with a model that transformers reads nor the name of one that "
            "can be fetched",
        )

    @cached_property
    def tokenizer(self) -> Any:
        return self._read(transformers.AutoTokenizer, "has no usable tokenizer")

    def _read(self, kind: Any, refusal: str, **options: Any) -> Any:
        try:
            return kind.from_pretrained(self.place, **options)
        except UNREADABLE as error:
            raise BadInput(f"{self.place} {refusal}: {_first_line(error)}") from error

    def model(self, family: Any, *, seed: int, **options: Any) -> Any:
        """A fresh copy of the weights, under a head of the family (an AutoModelFor…), whose new
        weights follow the seed."""
        torch.manual_seed(seed)
        model = self._read(family, "cannot be loaded", **options)
        if self.checkpoint is not None:
            load_checkpoint(model, self.checkpoint)
        return model.to(self.device)

    @cached_property
    def parameters(self) -> str:
        """Their number, such as 110M, without a head."""
        with torch.device("meta"):
            model = transformers.AutoModel.from_config(self.config)
        count = model.num_parameters()
        return f"{count / 1e6:.0f}M" if count >= 10_000_000 else f"{count / 1e6:.1f}M"

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the weights, or the commit of a hub's model: the same name may hold
        other weights."""
        folder, digest = Path(self.place), sha256()
        files = [file for pattern in WEIGHTS for file in sorted(folder.glob(pattern))]
        for path in [*files, *filter(None, [self.checkpoint])]:
            with path.open("rb") as opened:
                while chunk := opened.read(CHUNK):
                    digest.update(chunk)
        if not folder.is_dir():
            digest.update(str(getattr(self.config, "_commit_hash", "")).encode())
        return digest.hexdigest()


def load_checkpoint(model: Any, path: Path) -> None:
    """Weights as PyTorch Lightning saves them, such as UniFewMeta's: `state_dict`, with `model.`
    before every name. Nothing but tensors and plain values is unpickled."""
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a bad file
        raise BadInput(
            f"{path} cannot be read as weights alone ({_first_line(error)}): save its state_dict "
            "by itself, as docs/how-to/models.md shows."
        ) from error
    state = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else {}
    state = {str(name).removeprefix("model."): value for name, value in state.items()}
    unknown = set(state) - set(model.state_dict())
    missing = {name for name, _ in model.named_parameters()} - set(state)
    if unknown or missing:
        name = min(unknown or missing)
        raise BadInput(f"{path} does not fit the model: {name} is in one of the two only.")
    model.load_state_dict(state, strict=False)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class Tuner(ABC):
    """One way to tune a model on a shot set and to ask it the test, for one such set."""

    name: ClassVar[str]
    # An AutoModelFor….
    family: ClassVar[Any]
    # Whether it has new weights, which answer at random until there are shots.
    needs_shots: ClassVar[bool] = True

    def __init__(
        self, source: Source, settings: Settings, wording: Any, prompts: PromptSet
    ) -> None:
        self.source, self.settings = source, settings
        self.wording, self.prompts = wording, prompts
        self.model: Any = None

    @classmethod
    @abstractmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        """Why it cannot answer such a task; empty if it can."""

    def answer(
        self, *, validation: Sequence[PromptSet], progress: Progress
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, Any], list[str]]:
        """The answers, how it was fitted, and what those who read the figures should know: texts
        that were cut, and the like."""
        lessons = self.lessons(self.prompts)
        held_out = [lesson for some in validation for lesson in self.lessons(some)]
        self.model = self.source.model(self.family, seed=self.settings.seed, **self.head_options())
        fitted = fit(self, lessons, held_out, progress) if self.prompts.training else {"steps": 0}
        self.model.eval()
        with torch.no_grad():
            answers = dict(self.answers())
        return answers, fitted, list(self.notes())

    def head_options(self) -> dict[str, Any]:
        return {}

    @abstractmethod
    def lessons(self, prompts: PromptSet) -> Sequence[Any]:
        """What the shots of a set teach, in batches of which the loss is taken."""

    @abstractmethod
    def loss(self, batch: Sequence[Any]) -> Any: ...

    @abstractmethod
    def answers(self) -> Answers: ...

    def notes(self) -> Iterator[str]:
        return iter(())

    def cut_in_words(self, count: int) -> Iterator[str]:
        if count:
            yield f"{count} inputs were cut to {self.settings.max_length} tokens"

    def encoded(self, texts: Sequence[str]) -> Any:
        most = self.settings.max_length
        encoded = self.source.tokenizer(
            texts,
            padding=True,
            truncation=True,
            max_length=most,
            return_tensors="pt",
            verbose=False,
        )
        return encoded.to(self.source.device)

    def context_of(self, example: PromptExample) -> str:
        """The context as encoders take it: the texts of a pair with a separator between them."""
        return f" {self.source.tokenizer.sep_token} ".join(example.context)

    def encoded_pairs(self, examples: Sequence[PromptExample], **options: Any) -> Any:
        """Encode each question with its text as CLUES gives them to encoders, of which what is too
        long is cut, or goes into more windows."""
        tokenizer, most = self.source.tokenizer, self.settings.max_length
        questions = [example.question for example in examples]
        longest = max(map(len, tokenizer(questions, add_special_tokens=False)["input_ids"]))
        room = most - longest - tokenizer.num_special_tokens_to_add(pair=True)
        # Asked before: the tokenizers' own way to say it ends the process.
        if room <= options.get("stride", 0):
            raise BadInput(
                f"A question and a part of its text do not fit into {most} tokens: "
                "choose a larger --max-length, or a smaller --stride."
            )
        options |= {"truncation": "only_second", "max_length": most, "verbose": False}
        return tokenizer(questions, list(map(self.context_of, examples)), **options)


def fit(
    tuner: Tuner, lessons: Sequence[Any], held_out: Sequence[Any], progress: Progress
) -> dict[str, Any]:
    """Fit all weights of the model: how many steps, and the last loss. With lessons held for
    validation it keeps the weights of the epoch after which their loss was least, and says so."""
    if not lessons:
        raise BadInput("None of the shots can be learned from: no answer stands in its text.")
    model, settings = tuner.model, tuner.settings
    torch.manual_seed(settings.seed)
    total = settings.steps_for(len(lessons))
    # Decay is 0 in all recipes; AdamW has another default.
    optimizer = getattr(torch.optim, OPTIMIZERS[settings.optimizer])(
        model.parameters(), lr=settings.learning_rate, weight_decay=0.0
    )
    schedule = transformers.get_scheduler(
        settings.schedule,
        optimizer,
        num_warmup_steps=round(settings.warmup * total),
        num_training_steps=total,
    )
    done, epoch, loss = 0, 0, math.nan
    best: dict[str, Any] = {}
    weights: dict[str, Any] = {}
    draws = Draws(settings.seed, "batches")
    while done < total:
        # Every example once, in an order that the seed gives, again and again.
        epoch += 1
        model.train()
        for batch in in_batches(draws.shuffled(lessons), settings.batch_size)[: total - done]:
            loss = _step(tuner, batch, optimizer)
            schedule.step()
            done += 1
            progress(done, total, loss)
        if held_out:
            held_loss = _mean_loss(tuner, held_out)
            if not best or held_loss < best["validation_loss"]:
                best = {"best_epoch": epoch, "validation_loss": held_loss}
                state = model.state_dict().items()
                weights = {name: value.detach().cpu().clone() for name, value in state}
    if best:
        model.load_state_dict(weights)
    return {"steps": done, "loss": loss, **best}


def in_batches(examples: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [examples[start : start + size] for start in range(0, len(examples), size)]


def _step(tuner: Tuner, batch: Sequence[Any], optimizer: Any) -> float:
    loss = tuner.loss(batch)
    value = float(loss.detach())
    if not math.isfinite(value):
        raise BadInput("The loss is no longer a number: choose a smaller --learning-rate.")
    loss.backward()
    if clip := tuner.settings.clip:
        torch.nn.utils.clip_grad_norm_(tuner.model.parameters(), clip)
    optimizer.step()
    optimizer.zero_grad()
    return value


def _mean_loss(tuner: Tuner, lessons: Sequence[Any]) -> float:
    tuner.model.eval()
    batches = in_batches(lessons, tuner.settings.batch_size)
    with torch.no_grad():
        return sum(float(tuner.loss(batch)) * len(batch) for batch in batches) / len(lessons)
