"""What a tuned model gave for one shot set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from scoring.prompts.material import PromptSet
from scoring.tuning.fitting import Fitted, Told


@dataclass(frozen=True)
class Answered:
    # By the example's own id.
    answers: Mapping[str, tuple[str, ...]]
    # None without shots.
    fitted: Fitted | None
    # What those who read the figures should know: texts that were cut, and the like.
    notes: tuple[str, ...] = ()


class Way(Protocol):
    """One way to tune and to ask."""

    name: str
    # Whether it has new weights, which answer at random until there are shots.
    needs_shots: bool

    def problem(self, prompts: PromptSet) -> str:
        """Why it cannot answer such a task; empty if it can."""

    def answer(
        self, prompts: PromptSet, *, validation: Sequence[PromptSet], told: Told
    ) -> Answered: ...


def cut_in_words(count: int, most: int) -> tuple[str, ...]:
    return (f"{count} inputs were cut to {most} tokens",) if count else ()
