"""Scoring runs: S1 under each reference policy, at the newest gold."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from annotation.models import Task
from annotation.models.errors import NotReady, Refusal
from scoring.cells.rows import released
from scoring.cells.vectors import is_well_formed, run_scores, scored_items
from scoring.core.s1 import REFERENCE_POLICIES, SCORER_VERSION
from scoring.models import Run


@dataclass(frozen=True)
class RunScore:
    """`mean` is S1 in percent over the answered items only; `is_partial` says that there are
    others."""

    references: str
    normalisation: str
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
    return _scores(run, REFERENCE_POLICIES)


def released_score(run: Run) -> RunScore:
    """All that a run shows to whoever may not see the gold: one mean, rounded, and that only where
    it rests on an answer to every item, each in the form of the task. Raises Refusal otherwise."""
    [score] = _scores(run, [run.task.reference_policy])
    if run.episode is not None:
        raise Refusal(
            "A run on one episode shows no score of its own: the board of episodes shows the mean "
            "of a system that answered every episode."
        )
    if score.is_partial:
        raise Refusal(
            f"This run answers {score.answered} of {score.items} items, and only a run that "
            "answers all of them shows its score."
        )
    if not is_well_formed(run):
        raise Refusal(
            "An answer of this run has more pieces than a right answer could have, and such a run "
            "does not show its score."
        )
    return replace(score, mean=released(score.mean))


def _scores(run: Run, policies: Iterable[str]) -> list[RunScore]:
    if not run.is_complete:
        raise NotReady("This run is still being uploaded: finish it, then read its scores.")
    version = run.task.latest_gold_version().number
    items = scored_items(run.task, [run.test_set], version)[run.test_set_id]
    scores = []
    for references in policies:
        vector = run_scores({run.pk: items}, references)[run.pk]
        scores.append(
            RunScore(
                references=references,
                normalisation=run.task.normalisation,
                gold_version=version,
                scorer_version=SCORER_VERSION,
                mean=100 * float(np.nanmean(vector)),
                answered=int((~np.isnan(vector)).sum()),
                items=len(items),
            )
        )
    return scores


def keep_scores(runs: Iterable[Run]) -> None:
    """Score complete runs under their tasks' own policy, so that no reader has to wait."""
    by_task: dict[Task, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    for task, those in by_task.items():
        sets = {run.test_set_id: run.test_set for run in those}
        items = scored_items(task, sets.values(), task.latest_gold_version().number)
        run_scores({run.pk: items[run.test_set_id] for run in those}, task.reference_policy)
