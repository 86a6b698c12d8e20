"""S1 of single judgements: the same core that scores people and models alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.models import Gold, ReferencePolicy
from scoring.core.normalisation import normalised, normalised_golds
from scoring.core.s1 import s1_score, score_one


def gold_in_force(example_ids: Iterable[int], task_id: int, version: int) -> dict[int, Gold]:
    """The gold of each example as it stood at a gold version of the task."""
    golds = (
        Gold.objects.filter(
            example_id__in=list(example_ids), version__task_id=task_id, version__number__lte=version
        )
        .select_related("version")
        .order_by("version__number")
    )
    return {gold.example_id: gold for gold in golds}


def answer_score(texts: Sequence[str], gold: Gold, policy: str, normalisation: str) -> float:
    """S1 of one answer, in [0, 1], under a reference policy and a task's normalisation."""
    return score_one(
        normalised(texts, normalisation),
        normalised_golds(gold.alternative_texts(), normalisation),
        references=policy,
    )


@dataclass(frozen=True)
class ComparedText:
    """One text of the answer or the gold, and how they compare."""

    text: str
    own: bool
    gold: bool

    @property
    def mark(self) -> str:
        """`right`, `missed` or `extra`."""
        if self.own:
            return "right" if self.gold else "extra"
        return "missed"


@dataclass(frozen=True)
class Reveal:
    score: float
    # As they were given and written.
    own: list[str]
    expected: list[str]
    texts: list[ComparedText]
    other_alternatives: list[list[str]]
    explanation: str

    @property
    def marks(self) -> dict[str, str]:
        return {text.text: text.mark for text in self.texts}

    @property
    def nothing_to_find(self) -> bool:
        return not any(text.gold for text in self.texts)

    @property
    def found_nothing(self) -> bool:
        return not any(text.own for text in self.texts)

    @property
    def is_right(self) -> bool:
        return self.score == 1

    @property
    def is_wrong(self) -> bool:
        return self.score == 0


def compare(answer: Sequence[str], gold: Gold, policy: str, normalisation: str) -> Reveal:
    """The answer beside what it was scored against: under the policy `set` the union of the
    alternatives, else the nearest of them."""
    alternatives = gold.alternative_texts() or [[]]

    def compared(texts: Sequence[str]) -> dict[str, str]:
        """Each counted text by what S1 compares of it."""
        keys = normalised(texts, normalisation)
        return {key: text for key, text in zip(keys, texts, strict=True) if key}

    own = compared(answer)
    if policy == ReferencePolicy.SET:
        expected, others = [text for texts in alternatives for text in texts], []
    else:
        expected = max(alternatives, key=lambda texts: s1_score(own, compared(texts)))
        others = [texts for texts in alternatives if texts != expected]
    golds = compared(expected)
    return Reveal(
        score=answer_score(answer, gold, policy, normalisation),
        own=list(answer),
        expected=expected,
        texts=[
            ComparedText(text, own=key in own, gold=key in golds)
            # The annotator's words first, and a text that both have in the annotator's wording.
            for key, text in (own | golds | own).items()
        ],
        other_alternatives=others,
        explanation=gold.explanation,
    )
