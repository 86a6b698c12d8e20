"""S1 of single judgements: the same core that scores people and models alike."""

from collections.abc import Iterable, Sequence

from annotation.models import Gold
from scoring.core.normalisation import normalised, normalised_golds
from scoring.core.s1 import score_one


def gold_in_force(example_ids: Iterable[int], task_id: int, version: int) -> dict[int, Gold]:
    """The gold of each example as it stood at a gold version of the task."""
    golds = (
        Gold.objects.filter(
            example_id__in=list(example_ids),
            version__task_id=task_id,
            version__number__lte=version,
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
