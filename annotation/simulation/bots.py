"""How a simulated annotator answers: right or wrong by a stated skill, all from one seed.

The model, in words: an annotator's ability is the logit of the stated skill plus a personal
deviation; an example has a difficulty of its own, the same for everybody; training adds a
little for each doubling of the examples seen. The chance of the right answer is the logistic
of ability minus difficulty. A wrong answer is one that a person could give: another option, a
missed piece, one neighbouring word too many, or nothing where there was something to find.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, log2
from random import Random

from annotation.kinds import answer_kind
from annotation.kinds.base import Form
from annotation.models.frozen import BatchContent, FrozenExample

PERSONAL_SD = 0.35
DIFFICULTY_SD = 0.9
GAIN_PER_DOUBLING = 0.08
SECONDS_PER_ANSWER = (3.0, 14.0)
# Of those who can't do the task: about a third right.
WEAK_SKILL = 0.35


@dataclass(frozen=True)
class Crowd:
    """Whom a simulation lets in: the usual skill, the share of weak ones, and the share of those
    who stop somewhere on the way."""

    skill: float
    weak: float = 0.0
    dropout: float = 0.0

    def person(self, seed: int, number: int) -> "SimulatedPerson":
        is_weak = Random(f"weak:{seed}:{number}").random() < self.weak
        return SimulatedPerson(seed, number, WEAK_SKILL if is_weak else self.skill)

    def leaves_at(self, seed: int, number: int, steps: int) -> int | None:
        """The step that this person leaves unanswered; None for those who go to the end."""
        chance = Random(f"dropout:{seed}:{number}")
        return chance.randrange(steps) if chance.random() < self.dropout else None


@dataclass(frozen=True)
class SimulatedPerson:
    """One simulated annotator; everything follows from the seed and the person's number."""

    seed: int
    number: int
    skill: float

    def ability(self) -> float:
        chance = Random(f"person:{self.seed}:{self.number}")
        return log(self.skill / (1 - self.skill)) + chance.gauss(0, PERSONAL_SD)

    def answer(
        self,
        example: FrozenExample,
        gold: Sequence[str],
        content: BatchContent,
        *,
        examples_seen: int,
    ) -> tuple[Form, float]:
        """The answer to an example, and the seconds that it took."""
        chance = Random(f"answer:{self.seed}:{self.number}:{example.pk}")
        gain = GAIN_PER_DOUBLING * log2(1 + examples_seen)
        logit = self.ability() + gain - difficulty(self.seed, example.pk)
        knows = chance.random() < 1 / (1 + exp(-logit))
        seconds = chance.uniform(*SECONDS_PER_ANSWER)
        kind = answer_kind(content.kind)
        if knows:
            return kind.right_form(example, gold, content), seconds
        return kind.wrong_form(example, gold, content, chance), seconds


def difficulty(seed: int, example_pk: int) -> float:
    return Random(f"example:{seed}:{example_pk}").gauss(0, DIFFICULTY_SD)
