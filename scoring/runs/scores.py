"""Scoring runs: S1 under each reference policy, at the newest gold."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from annotation.models import Task
from annotation.models.errors import NotReady
from scoring.comparison.matrices import run_scores
from scoring.comparison.scored_items import scored_items
from scoring.core.s1 import REFERENCE_POLICIES, SCORER_VERSION
from scoring.models import Run


@dataclass(frozen=True)
class RunScore:
    """`mean` is S1 in percent over the answered items only; `is_partial` says that there are
    others."""

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
    """One score per policy. Raises NotReady while the run is being uploaded."""
    if not run.is_complete:
        raise NotReady("This run is still being uploaded: finish it, then read its scores.")
    version = run.task.latest_gold_version().number
    items = scored_items(run.task, [run.test_set], version)[run.test_set_id]
    found = []
    for references in REFERENCE_POLICIES:
        vector = run_scores({run.pk: items}, references)[run.pk]
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


def keep_scores(runs: Iterable[Run]) -> None:
    """Score complete runs under their tasks' own policy, so that no reader has to wait."""
    by_task: dict[Task, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    for task, those in by_task.items():
        sets = {run.test_set_id: run.test_set for run in those}
        items = scored_items(task, sets.values(), task.latest_gold_version().number)
        run_scores({run.pk: items[run.test_set_id] for run in those}, task.reference_policy)
