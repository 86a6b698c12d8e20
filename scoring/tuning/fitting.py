"""One model fitted to one shot set: the same loop for every kind of model."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import get_scheduler

from annotation.models.errors import BadInput
from scoring.core.draws import Draws
from scoring.tuning.settings import Settings

OPTIMIZERS = {
    # T5's own: a step is as large as the weights that it moves.
    "adafactor": torch.optim.Adafactor,
    "adam": torch.optim.Adam,
    "adamax": torch.optim.Adamax,
    "adamw": torch.optim.AdamW,
}

# The loss of a batch of whatever a kind of model learns from.
LossOf = Callable[[Sequence[Any]], Any]
# Told after every step: how many are done, of how many, and the loss.
Told = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Fitted:
    steps: int
    loss: float
    # Where a validation set chose the epoch, from 1; and the loss there.
    best_epoch: int | None = None
    validation_loss: float | None = None


def fit(
    model: Any,
    examples: Sequence[Any],
    *,
    loss_of: LossOf,
    settings: Settings,
    told: Told,
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
    done, loss, best = 0, math.nan, None
    for epoch, batches in enumerate(_epochs(examples, settings), start=1):
        model.train()
        for batch in batches[: total - done]:
            loss = _step(model, loss_of(batch), optimizer, settings)
            schedule.step()
            done += 1
            told(done, total, loss)
        if validation:
            best = _better(best, model, epoch, _mean_loss(model, validation, loss_of, settings))
        if done == total:
            break
    if best is None:
        return Fitted(done, loss)
    model.load_state_dict(best.weights)
    return Fitted(done, loss, best.epoch, best.loss)


@dataclass(frozen=True)
class _Best:
    epoch: int
    loss: float
    weights: dict[str, Any]


def in_batches(examples: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [examples[start : start + size] for start in range(0, len(examples), size)]


def _epochs(examples: Sequence[Any], settings: Settings) -> Iterator[list[Sequence[Any]]]:
    """Every example once, in an order that the seed gives, again and again."""
    draws = Draws(settings.seed, "batches")
    while True:
        yield in_batches(draws.shuffled(examples), settings.batch_size)


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


def _mean_loss(model: Any, examples: Sequence[Any], loss_of: LossOf, settings: Settings) -> float:
    model.eval()
    with torch.no_grad():
        losses = [
            float(loss_of(batch)) * len(batch)
            for batch in in_batches(examples, settings.batch_size)
        ]
    return sum(losses) / len(examples)


def _better(best: _Best | None, model: Any, epoch: int, loss: float) -> _Best:
    if best is not None and best.loss <= loss:
        return best
    weights = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
    return _Best(epoch, loss, weights)
