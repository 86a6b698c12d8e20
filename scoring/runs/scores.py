"""Scoring runs: S1 under each reference policy, at the newest gold; and how many runs somebody who
may not see the gold may open and finish.

Every whole run shows one mean, and a mean of so many items tells a little about their gold. So
finished runs are counted for a day, by person and test items: other shots, splits, systems and
benchmarks make no difference, nor does deleting a run. Episodes are counted one by one, since only
all of a data set's episodes together show a mean.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.access.rights import may_see_gold
from annotation.models import Task
from annotation.models.errors import BadInput, NotReady, Refusal
from scoring.cells.rows import released
from scoring.cells.vectors import (
    is_well_formed,
    predicted_answers,
    run_scores,
    score_answers,
    scored_items,
)
from scoring.core.s1 import REFERENCE_POLICIES, SCORER_VERSION
from scoring.models import FinishedRun, Run, RunState
from scoring.runs.storing import finish_run, missing_answers


@dataclass(frozen=True)
class RunScore:
    """`mean` is S1 in percent over the answered items only."""

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


def released_score(run: Run) -> RunScore:
    """All that a run shows to whoever may not see the gold: one mean, rounded, and that only where
    it rests on an answer to every item, each in the form of the task. Raises Refusal otherwise."""
    [score] = scores_of_run(run, [run.task.reference_policy])
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


def scores_of_run(run: Run, policies: Iterable[str] = REFERENCE_POLICIES) -> list[RunScore]:
    """One score per policy. Raises NotReady while the run is being uploaded."""
    if not run.is_complete:
        raise NotReady("This run is still being uploaded: finish it, then read its scores.")
    version = run.task.latest_gold_version().number
    items = scored_items(run.task, [run.test_set], version)[run.test_set_id]
    scores = []
    for references in policies:
        vector = run_scores({run.pk: items}, references)[run.pk]
        mean, answered = 100 * float(np.nanmean(vector)), int((~np.isnan(vector)).sum())
        by = (references, run.task.normalisation, version, SCORER_VERSION)
        scores.append(RunScore(*by, mean, answered, len(items)))
    return scores


def keep_scores(runs: Iterable[Run]) -> None:
    """Score complete runs under their tasks' own policy, so that no reader has to wait."""
    by_task: dict[Task, list[Run]] = defaultdict(list)
    for run in runs:
        by_task[run.task].append(run)
    for task, of_task in by_task.items():
        sets = {run.test_set_id: run.test_set for run in of_task}
        items = scored_items(task, sets.values(), task.latest_gold_version().number)
        run_scores({run.pk: items[run.test_set_id] for run in of_task}, task.reference_policy)


def different_verdicts(run: Run, verdicts: Mapping[int, bool]) -> list[str]:
    """The items whose answer is wholly right here and not by `verdicts`, or the other way round, by
    their examples: in words, with the gold."""
    items = scored_items(run.task, [run.test_set], run.task.latest_gold_version().number)
    asked = items[run.test_set_id]
    answers = predicted_answers([run.pk])
    vector = score_answers(answers, {run.pk: asked}, run.task.reference_policy)[run.pk]
    differing = []
    for place, example in enumerate(asked.example_ids):
        is_right = bool(vector[place] >= 1)
        if example in verdicts and verdicts[example] != is_right:
            said = " / ".join(answers[run.pk][example]) or "nothing"
            gold = " | ".join(" / ".join(texts) for texts in asked.golds[place])
            ours, theirs = ("right", "wrong") if is_right else ("wrong", "right")
            differing.append(
                f"{asked.source_ids[place]}: “{said[:60]}” is {ours} here (gold “{gold[:60]}”) and "
                f"{theirs} there"
            )
    return differing


A_DAY = timedelta(days=1)


class TooMany(Refusal):
    """More runs than one person may have open, or finish in a day."""


def check_open_runs(user: User) -> None:
    """Call it in the transaction that opens the run. Raises TooMany."""
    _lock(user)
    still_open = Run.objects.filter(owner=user, state=RunState.UPLOADING)
    if still_open.count() >= settings.OPEN_RUNS:
        raise TooMany(
            f"You have {settings.OPEN_RUNS} runs that are not finished, and no more may be open "
            "at once: finish one, or delete one."
        )


def finish_uploaded(
    run: Run, user: User, *, report: Mapping[str, Any], at: datetime, partial: bool = False
) -> None:
    """Make it complete, as `finish_run` does, if it is whole; or in part, for whoever says so and
    may see the gold. Raises TooMany if the others finished as many as a day allows."""
    with transaction.atomic():
        # Locked: a second request must find it complete, and not count it again.
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if not locked.is_complete:
            sees_gold = may_see_gold(user, run.benchmark)
            if not (partial and sees_gold) and (missing := missing_answers(run)):
                other = ', or send {"partial": true}' if sees_gold else ""
                raise BadInput(
                    f"{missing} of the {run.test_set.items.count()} items have no prediction: "
                    f"upload the rest, then finish the run{other}."
                )
            if not sees_gold:
                _count(run, user, at)
        finish_run(run, report=report, at=at)


def _count(run: Run, user: User, at: datetime) -> None:
    _lock(user)
    FinishedRun.objects.filter(owner=user, finished_at__lte=at - A_DAY).delete()
    key = run.task.exposure_key if run.episode is None else run.test_set.checksum
    finished = FinishedRun.objects.filter(owner=user, items_key=key).order_by("finished_at")
    most = settings.RUNS_A_DAY
    if (count := finished.count()) >= most:
        # The one whose end makes room again.
        again = timezone.localtime(finished[count - most].finished_at + A_DAY)
        where = run.task.slug + ("" if run.episode is None else f", episode {run.episode},")
        raise TooMany(
            f"You finished {most} runs on the test items of {where} within a day, and no more are "
            f"allowed: finish this one after {again.strftime('%Y-%m-%d %H:%M %Z')}."
        )
    FinishedRun.objects.create(owner=user, items_key=key, finished_at=at)


def _lock(user: User) -> None:
    """Lock the user: of two requests of one person, the second waits, then counts the first."""
    assert transaction.get_connection().in_atomic_block, "the lock lasts as long as a transaction"
    User.objects.select_for_update().get(pk=user.pk)
