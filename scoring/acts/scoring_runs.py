"""What a run scored: S1 under each reference policy, at the newest gold."""

from dataclasses import dataclass

import numpy as np

from annotation.errors import NotReady
from scoring.core.s1 import REFERENCE_POLICIES, SCORER_VERSION
from scoring.matrices import run_scores, scored_items
from scoring.models import Run


@dataclass(frozen=True)
class RunScore:
    """`mean` is S1 in percent over the answered items alone; `is_partial` says that there
    are others."""

    references: str
    gold_version: int
    scorer_version: int
    mean: float
    answered: int
    items: int

    @property
    def coverage(self) -> float:
        return self.answered / self.items

    @property
    def is_partial(self) -> bool:
        return self.answered < self.items


def scores_of_run(run: Run) -> list[RunScore]:
    """One score for each policy. Raises NotReady while the run is being uploaded."""
    if not run.is_complete:
        raise NotReady("This run is still being uploaded: finish it, then read its scores.")
    version = run.task.latest_gold_version().number
    items = scored_items(run.test_set, version)
    found = []
    for references in REFERENCE_POLICIES:
        vector = run_scores([run], items, references)[run.pk]
        found.append(
            RunScore(
                references=references,
                gold_version=version,
                scorer_version=SCORER_VERSION,
                mean=100 * float(np.nanmean(vector)),
                answered=int((~np.isnan(vector)).sum()),
                items=len(items),
            )
        )
    return found
