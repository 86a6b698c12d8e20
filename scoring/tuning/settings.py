"""The settings of tuning: those of the papers' released code where nothing else is said.

They are shown before the work, and stored with every run.
"""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from math import ceil, isfinite
from typing import Any

from annotation.models.errors import BadInput

OPTIMIZERS = ("adafactor", "adam", "adamax", "adamw")
SCHEDULES = ("constant", "linear")
# The heads of encoders: those that CLUES describes, and others, which go under names of their own.
OF_CLUES, BIO = HEADS = ("clues", "bio")


@dataclass(frozen=True)
class Settings:
    # Whose settings these are where nothing else is said.
    recipe: str
    optimizer: str
    learning_rate: float
    schedule: str
    # The part of the steps in which the learning rate rises, where it is not constant.
    warmup: float
    batch_size: int
    # Steps count if there are any; epochs otherwise.
    epochs: int
    steps: int | None
    # The largest norm of a step's gradient; 0 is no limit.
    clip: float
    # In tokens: an input; the overlap of the windows of a longer one; an answer.
    max_length: int
    stride: int
    longest_answer: int
    # How often an example is asked with other demonstrations, whose votes are averaged; 0 is no
    # demonstrations at all.
    demonstrations: int
    seed: int = 0

    def steps_for(self, examples: int) -> int:
        return self.steps or self.epochs * ceil(examples / self.batch_size)

    def as_plain(self) -> dict[str, Any]:
        return asdict(self)

    def in_words(self) -> str:
        """Every one of them, as `name=value`."""
        return ", ".join(f"{name}={value}" for name, value in self.as_plain().items())


# MT-DNN as CLUES ran it for fine-tuning (classic_finetuning/, batch size and epochs of its script).
CLUES = Settings(
    recipe="CLUES",
    optimizer="adamax",
    learning_rate=5e-5,
    schedule="linear",
    warmup=0.1,
    batch_size=16,
    epochs=3,
    steps=None,
    clip=1.0,
    max_length=384,
    stride=180,
    longest_answer=20,
    demonstrations=0,
)
# The same for answers that are written. Text-to-text models have no window to slide over a long
# text, and no fixed length either: theirs is UniFew's, which hardly any text reaches.
CLUES_WRITTEN = replace(CLUES, max_length=1024, stride=0, longest_answer=64)
# LM-BFF as CLUES ran it for prompt tuning: 20 epochs of the shots, with demonstrations.
LM_BFF = replace(
    CLUES,
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
    "FLEX, UniFew",
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
    longest_answer=20,
    demonstrations=0,
)

NAMES = tuple(field.name for field in fields(Settings) if field.name != "recipe")
ABOVE_ZERO = ("learning_rate", "batch_size", "max_length", "longest_answer")
FROM_ZERO = ("epochs", "clip", "stride", "demonstrations")
# Of what was added after the first recipes: what every run before did.
DEFAULTS = {field.name: field.default for field in fields(Settings) if field.default is not MISSING}


def changed(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """With what is given and not None. Raises BadInput for what cannot be."""
    said = {name: given[name] for name in NAMES if given.get(name) is not None}
    if said.get("epochs") and "steps" not in said:
        said["steps"] = None
    made = replace(settings, **said)
    for name, value in made.as_plain().items():
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
