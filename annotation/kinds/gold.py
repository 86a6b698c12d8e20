"""The gold of examples, and single answers beside it: their S1, by the core that scores people and
models alike, and how their texts compare."""

from collections.abc import Iterable, Sequence

from annotation.kinds.base import Reveal
from annotation.models import Gold, Judgement, ReferencePolicy
from annotation.models.frozen import BatchContent
from scoring.core.normalisation import as_compared, in_one_form, normalised, normalised_golds
from scoring.core.s1 import s1_score, score_one


def gold_in_force(example_ids: Iterable[int], task_id: int, version: int) -> dict[int, Gold]:
    golds = (
        Gold.objects.filter(
            example_id__in=list(example_ids), version__task_id=task_id, version__number__lte=version
        )
        .select_related("version")
        .order_by("version__number")
    )
    return {gold.example_id: gold for gold in golds}


def golds_of(content: BatchContent) -> dict[int, Gold]:
    """The frozen gold of all that a batch shows and asks."""
    shown = [example.pk for example in (*content.training, *content.test)]
    golds = gold_in_force(shown, content.task_id, content.gold_version)
    if checked := content.check_task:
        of_checks = [example.pk for example in content.checks]
        golds |= gold_in_force(of_checks, checked.task_id, checked.gold_version)
    return golds


def answer_score(texts: Sequence[str], gold: Gold, policy: str, normalisation: str) -> float:
    """S1 of one answer, in [0, 1], under a reference policy and a task's normalisation."""
    answer, golds = as_compared(texts, gold.alternative_texts(), normalisation)
    return score_one(answer, golds, references=policy)


def compare(judgement: Judgement, gold: Gold, policy: str, normalisation: str) -> Reveal:
    """The answer beside what it was scored against: under the policy `set` the union of the
    alternatives, else the nearest of them."""
    answer, alternatives = judgement.answer, gold.alternative_texts() or [[]]
    right = normalised_golds(alternatives, normalisation)

    def compared(texts: Sequence[str]) -> dict[str, str]:
        keys = normalised(texts, normalisation, right)
        return {key: text for key, text in zip(keys, texts, strict=True) if key}

    answered = compared(answer)
    if policy == ReferencePolicy.SET:
        expected, others = [text for texts in alternatives for text in texts], []
    else:
        expected = max(alternatives, key=lambda texts: s1_score(answered, compared(texts)))
        others = [texts for texts in alternatives if texts != expected]
    golds, score = compared(expected), answer_score(answer, gold, policy, normalisation)
    marks = {
        in_one_form(text): "missed" if key not in answered else "right" if key in golds else "extra"
        # The annotator's words first, and a text that both have in the annotator's wording.
        for key, text in (answered | golds | answered).items()
    }
    return Reveal(score, list(answer), expected, judgement.spans, marks, others, gold.explanation)
