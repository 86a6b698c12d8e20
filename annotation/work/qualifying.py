"""Qualification: decided once when the checks end, and once when the training ends, each with its
basis stored."""

from collections.abc import Sequence
from datetime import datetime
from statistics import fmean, stdev
from typing import Any

from annotation.kinds.gold import answer_score, gold_in_force
from annotation.models import Assignment, DropUnit, Study
from annotation.models.assignment import JudgementQuerySet
from annotation.models.frozen import TaskContent, batch_content

# The decision, as it is stored, and everything that it rests on; scores in percent.
Screening = dict[str, Any]


def screen(score: float, others: Sequence[float], study: Study) -> Screening:
    """Apply the study's rule to one training score, given everybody else's in the cell."""
    mean = fmean(others) if others else None
    sd = stdev(others) if len(others) > 1 else None
    lowest = _lowest_allowed(mean, sd, len(others), study)
    floor = study.min_training_score
    below_floor = floor is not None and score < floor
    dropped = lowest is not None and score < lowest
    return {
        "score": score,
        "passed": not (below_floor or dropped),
        "reason": "floor" if below_floor else "drop" if dropped else "",
        "floor": floor,
        "group_size": len(others),
        "group_mean": mean,
        "group_sd": sd,
        "lowest_allowed": lowest,
    }


def qualify(assignment: Assignment, *, at: datetime) -> bool:
    """Score the training of an assignment and store the decision with its basis; says whether it
    was passed."""
    score = training_score(assignment)
    screening = screen(score, others_scores(assignment), assignment.study)
    assignment.training_score, assignment.screening = score, screening
    assignment.training_ended_at = at
    assignment.save(update_fields=["training_score", "screening", "training_ended_at"])
    return bool(screening["passed"])


def qualify_by_checks(assignment: Assignment) -> bool:
    """The same for the checks, by their least share alone; nobody is compared with anybody."""
    content = batch_content(assignment.batch_id)
    assert content.check_task is not None
    score = _mean_score(assignment.judgements.of_checks(), content.check_task)
    assignment.check_screening = screen_checks(score, assignment.batch.least_check_score)
    assignment.save(update_fields=["check_screening"])
    return bool(assignment.check_screening["passed"])


def screen_checks(score: float, floor: float | None) -> Screening:
    passed = floor is None or score >= floor
    return {"score": score, "passed": passed, "floor": floor, "lowest_allowed": None}


def training_score(assignment: Assignment) -> float:
    """Mean S1 of the first answers of the training, in percent, at the frozen gold."""
    content = batch_content(assignment.batch_id)
    return _mean_score(assignment.judgements.of_training(), content)


def _mean_score(judgements: JudgementQuerySet, content: TaskContent) -> float:
    answers = dict(judgements.values_list("example_id", "answer"))
    golds = gold_in_force(answers, content.task_id, content.gold_version)
    policy = content.reference_policy
    return 100 * fmean(
        answer_score(texts, golds[pk], policy, content.normalisation)
        for pk, texts in answers.items()
    )


def others_scores(assignment: Assignment) -> list[float]:
    """Training scores of everybody else who finished the training of this cell,
    screened-out included."""
    training_set = assignment.batch.training_set
    others = Assignment.objects.filter(
        study=assignment.study,
        batch__task_id=assignment.batch.task_id,
        batch__pool=assignment.batch.pool,
        batch__training_set__shots=training_set.shots if training_set else None,
        training_score__isnull=False,
        annotator__channel__is_simulated=assignment.is_simulated,
    )
    scores = (
        others.exclude(pk=assignment.pk).order_by("id").values_list("training_score", flat=True)
    )
    return [score for score in scores if score is not None]


def _lowest_allowed(
    mean: float | None, sd: float | None, group_size: int, study: Study
) -> float | None:
    if study.max_drop is None or mean is None or group_size < study.drop_group_size:
        return None
    if study.drop_unit == DropUnit.POINTS:
        return mean - study.max_drop
    return None if sd is None else mean - study.max_drop * sd
