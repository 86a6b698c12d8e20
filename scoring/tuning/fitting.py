"""One model fitted to one shot set and asked its test: the same loop for every kind of model."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from transformers import get_scheduler

from annotation.models.errors import BadInput
from scoring.core.episodes import Draws
from scoring.prompts.prompting import PromptExample, PromptSet
from scoring.tuning.loading import Source
from scoring.tuning.settings import Settings

OPTIMIZERS = {
    # T5's own: a step is as large as the weights that it moves.
    "adafactor": torch.optim.Adafactor,
    "adam": torch.optim.Adam,
    "adamax": torch.optim.Adamax,
    "adamw": torch.optim.AdamW,
}
# What a loss leaves out.
IGNORED = -100

# Called after every step: how many are done, of how many, and the loss.
Progress = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Fitted:
    steps: int
    loss: float
    # Where a validation set chose the epoch, from 1; and the loss there.
    best_epoch: int | None = None
    validation_loss: float | None = None


@dataclass(frozen=True)
class Answered:
    """What a tuned model gave for one shot set."""

    # By the example's own id.
    answers: Mapping[str, tuple[str, ...]]
    # None without shots.
    fitted: Fitted | None
    # What those who read the figures should know: texts that were cut, and the like.
    notes: tuple[str, ...] = ()


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
        self.source = source
        self.settings = settings
        self.wording = wording
        self.prompts = prompts
        self.model: Any = None

    @classmethod
    @abstractmethod
    def problem(cls, prompts: PromptSet, wording: Any) -> str:
        """Why it cannot answer such a task; empty if it can."""

    def answer(self, *, validation: Sequence[PromptSet], progress: Progress) -> Answered:
        lessons = self.lessons(self.prompts)
        held = [lesson for others in validation for lesson in self.lessons(others)]
        self.model = self.source.model(self.family, seed=self.settings.seed, **self.head_options())
        fitted = None
        if self.prompts.training:
            fitted = fit(
                self.model,
                lessons,
                loss_of=self.loss,
                settings=self.settings,
                progress=progress,
                validation=held,
            )
        self.model.eval()
        with torch.no_grad():
            answers = dict(self.answers(self.prompts.test))
        return Answered(answers, fitted, tuple(self.notes()))

    def head_options(self) -> dict[str, Any]:
        return {}

    def lessons(self, prompts: PromptSet) -> Sequence[Any]:
        """What the shots of a set teach, in batches of which the loss is taken."""
        return prompts.training

    @abstractmethod
    def loss(self, batch: Sequence[Any]) -> Any: ...

    @abstractmethod
    def answers(
        self, examples: Sequence[PromptExample]
    ) -> Iterator[tuple[str, tuple[str, ...]]]: ...

    def notes(self) -> Iterator[str]:
        return iter(())


def cut_in_words(count: int, most: int) -> Iterator[str]:
    if count:
        yield f"{count} inputs were cut to {most} tokens"


def fit(
    model: Any,
    examples: Sequence[Any],
    *,
    loss_of: Callable[[Sequence[Any]], Any],
    settings: Settings,
    progress: Progress,
    validation: Sequence[Any] = (),
) -> Fitted:
    """Fit all weights of the model. With a validation set it keeps the weights of the epoch after
    which the loss on that set was least."""
    if not examples:
        raise BadInput("None of the shots can be learned from: no answer stands in its text.")
    torch.manual_seed(settings.seed)
    total = settings.steps_for(len(examples))
    # Decay is 0 in all recipes; AdamW has another default.
    optimizer = OPTIMIZERS[settings.optimizer](
        model.parameters(), lr=settings.learning_rate, weight_decay=0.0
    )
    schedule = get_scheduler(
        settings.schedule,
        optimizer,
        num_warmup_steps=round(settings.warmup * total),
        num_training_steps=total,
    )
    done, epoch, loss = 0, 0, math.nan
    best: tuple[float, int, dict[str, Any]] | None = None
    draws = Draws(settings.seed, "batches")
    while done < total:
        # Every example once, in an order that the seed gives, again and again.
        epoch += 1
        model.train()
        for batch in in_batches(draws.shuffled(examples), settings.batch_size)[: total - done]:
            loss = _step(model, loss_of(batch), optimizer, settings)
            schedule.step()
            done += 1
            progress(done, total, loss)
        if validation:
            held_loss = _mean_loss(model, validation, loss_of, settings)
            if best is None or held_loss < best[0]:
                state = model.state_dict().items()
                best = held_loss, epoch, {name: v.detach().cpu().clone() for name, v in state}
    if best is None:
        return Fitted(done, loss)
    validation_loss, best_epoch, weights = best
    model.load_state_dict(weights)
    return Fitted(done, loss, best_epoch, validation_loss)


def in_batches(examples: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [examples[start : start + size] for start in range(0, len(examples), size)]


def _step(model: Any, loss: Any, optimizer: Any, settings: Settings) -> float:
    value = float(loss.detach())
    if not math.isfinite(value):
        raise BadInput("The loss is no longer a number: choose a smaller --learning-rate.")
    loss.backward()
    if settings.clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimizer.step()
    optimizer.zero_grad()
    return value


def _mean_loss(
    model: Any, examples: Sequence[Any], loss_of: Callable[..., Any], settings: Settings
) -> float:
    model.eval()
    batches = in_batches(examples, settings.batch_size)
    with torch.no_grad():
        return sum(float(loss_of(batch)) * len(batch) for batch in batches) / len(examples)
