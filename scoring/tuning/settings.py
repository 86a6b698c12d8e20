"""The settings of tuning: those of the papers' released code where nothing else is said.

They are shown before the work, and stored with every run.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil, isfinite
from typing import Any

from annotation.models.errors import BadInput

# As torch.optim has them; T5's own is Adafactor, with steps as large as the weights that they move.
OPTIMIZERS = {"adafactor": "Adafactor", "adam": "Adam", "adamax": "Adamax", "adamw": "AdamW"}
SCHEDULES = ("constant", "linear")
# The heads of encoders: those that CLUES describes, and others, which go under names of their own.
OF_CLUES, BIO = HEADS = ("clues", "bio")
# As options of the command.
OPTIONS: dict[str, dict[str, Any]] = {
    "optimizer": {"choices": tuple(OPTIMIZERS)},
    "learning_rate": {"type": float},
    "schedule": {"choices": SCHEDULES},
    "warmup": {"type": float, "help": "part of the steps"},
    "batch_size": {"type": int},
    "epochs": {"type": int},
    "steps": {"type": int, "help": "instead of epochs"},
    "clip": {"type": float, "help": "largest norm of a gradient; 0: no limit"},
    "max_length": {"type": int, "help": "of an input, in tokens"},
    "stride": {"type": int, "help": "overlap of a long text's windows, in tokens"},
    "longest_answer": {"type": int, "help": "in tokens"},
    "demonstrations": {"type": int, "help": "draws of demonstrations, for PT"},
    "seed": {"type": int, "default": 0, "help": "of the order and of the weights"},
}
ABOVE_ZERO = ("learning_rate", "batch_size", "max_length", "longest_answer")
FROM_ZERO = ("epochs", "clip", "stride", "demonstrations")
# Of what was added after the first recipes: what every run before did.
DEFAULTS = {"seed": 0}


@dataclass(frozen=True)
class Settings:
    """The settings of a tuning, by default those of MT-DNN as CLUES ran it for fine-tuning
    (classic_finetuning/, batch size and epochs of its script)."""

    # Whose settings these are where nothing else is said.
    recipe: str = "CLUES"
    optimizer: str = "adamax"
    learning_rate: float = 5e-5
    schedule: str = "linear"
    warmup: float = 0.1
    batch_size: int = 16
    epochs: int = 3
    steps: int | None = None
    clip: float = 1.0
    max_length: int = 384
    stride: int = 180
    longest_answer: int = 20
    # The votes of the draws are averaged; 0 is no demonstrations at all.
    demonstrations: int = 0
    seed: int = 0

    def steps_for(self, examples: int) -> int:
        return self.steps or self.epochs * ceil(examples / self.batch_size)

    def in_words(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in asdict(self).items())


CLUES = Settings()
# The same for answers that are written. Text-to-text models have no window to slide over a long
# text, and no fixed length either: theirs is UniFew's, which hardly any text reaches.
CLUES_WRITTEN = Settings(max_length=1024, stride=0, longest_answer=64)
# LM-BFF as CLUES ran it for prompt tuning: 20 epochs of the shots, with demonstrations.
LM_BFF = Settings(
    recipe="CLUES, LM-BFF",
    optimizer="adamw",
    learning_rate=1e-5,
    warmup=0.0,
    batch_size=8,
    epochs=20,
    max_length=512,
    stride=0,
    longest_answer=1,
    demonstrations=16,
)
# FLEX's released configuration for meta-testing (conf/model/, 9d09c97).
UNIFEW = Settings(
    recipe="FLEX, UniFew",
    optimizer="adam",
    learning_rate=3e-5,
    schedule="constant",
    warmup=0.0,
    batch_size=2,
    epochs=0,
    steps=400,
    clip=0.0,
    max_length=1024,
    stride=0,
)


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with what is given and not None. Raises BadInput for what cannot be."""
    said = {name: values[name] for name in OPTIONS if values.get(name) is not None}
    if said.get("epochs") and "steps" not in said:
        said["steps"] = None
    made = replace(settings, **said)
    for name, value in asdict(made).items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, float) and not isfinite(value):
            raise BadInput(f"{option} must be a number.")
        if name in ABOVE_ZERO and value <= 0:
            raise BadInput(f"{option} must be more than 0.")
        if name in FROM_ZERO and value < 0:
            raise BadInput(f"{option} must be 0 or more.")
    if made.steps is not None and made.steps < 1:
        raise BadInput("--steps must be 1 or more.")
    if made.steps is None and made.epochs < 1:
        raise BadInput("--epochs must be 1 or more where --steps is not given.")
    if not 0 <= made.warmup <= 1:
        raise BadInput("--warmup is a part of the steps: give a number from 0 to 1.")
    if made.stride >= made.max_length:
        raise BadInput("--stride must be less than --max-length.")
    return made
