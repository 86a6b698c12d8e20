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

from annotation.kinds.answers import RawAnswer
from annotation.models.frozen import FrozenExample
from scoring.core.spans import tokens_of

PERSONAL_SD = 0.35
DIFFICULTY_SD = 0.9
GAIN_PER_DOUBLING = 0.08
SECONDS_PER_ANSWER = (3.0, 14.0)


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
        *,
        max_spans: int | None,
        examples_seen: int,
    ) -> tuple[RawAnswer, float]:
        """The answer to an example, and the seconds that it took."""
        chance = Random(f"answer:{self.seed}:{self.number}:{example.pk}")
        gain = GAIN_PER_DOUBLING * log2(1 + examples_seen)
        logit = self.ability() + gain - difficulty(self.seed, example.pk)
        knows = chance.random() < 1 / (1 + exp(-logit))
        seconds = chance.uniform(*SECONDS_PER_ANSWER)
        raw = right_answer(example, gold) if knows else wrong_answer(example, gold, chance)
        return _within(raw, max_spans), seconds


def difficulty(seed: int, example_pk: int) -> float:
    return Random(f"example:{seed}:{example_pk}").gauss(0, DIFFICULTY_SD)


def right_answer(example: FrozenExample, gold: Sequence[str]) -> RawAnswer:
    if example.options:
        return RawAnswer(option=example.options.index(gold[0]) if gold[0] in example.options else 0)
    return _selection(example, gold)


def wrong_answer(example: FrozenExample, gold: Sequence[str], chance: Random) -> RawAnswer:
    if example.options:
        others = [n for n, option in enumerate(example.options) if option not in gold]
        return RawAnswer(option=chance.choice(others or [0]))
    slips = [_with_a_word_too_much]
    if gold:
        slips.append(_with_a_piece_missed)
    return chance.choice(slips)(example, list(gold), chance)


def _with_a_piece_missed(example: FrozenExample, gold: list[str], chance: Random) -> RawAnswer:
    gold.pop(chance.randrange(len(gold)))
    return _selection(example, gold)


def _with_a_word_too_much(example: FrozenExample, gold: list[str], chance: Random) -> RawAnswer:
    segment = chance.randrange(len(example.context))
    words = [t for t in tokens_of(example.context[segment]) if not t.is_punctuation]
    if not words:
        return RawAnswer(none=True)
    word = chance.choice(words)
    spans = [[segment, word.start, word.end]]
    if gold and chance.random() < 0.5:
        spans = [*(_selection(example, gold).spans or []), *spans]
    return RawAnswer(spans=spans)


def _within(raw: RawAnswer, max_spans: int | None) -> RawAnswer:
    """As many pieces as the task allows: if there are too many, the last."""
    if max_spans is None or not raw.spans:
        return raw
    return RawAnswer(spans=list(raw.spans)[-max_spans:])


def _selection(example: FrozenExample, texts: Sequence[str]) -> RawAnswer:
    """The first place of each text; a text that the context does not hold is left out."""
    spans: list[object] = []
    for text in texts:
        for segment, whole in enumerate(example.context):
            start = whole.find(text)
            if start >= 0:
                spans.append([segment, start, start + len(text)])
                break
    return RawAnswer(spans=spans, none=not spans)
