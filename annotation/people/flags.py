"""Flags: what of somebody's work deserves a look. A flag compares a person with the others on the
same task, or states what was seen; it decides nothing and changes no score."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from annotation import models
from annotation.kinds import answer_score, gold_in_force
from annotation.models.frozen import batch_content
from annotation.models.texts import counted
from annotation.people import signs

# Fewer others say little about what is usual.
ENOUGH_OTHERS = 4
FAST_SHARE = 1 / 3
# Below this many answers, all alike is chance.
ENOUGH_ANSWERS = 8
ALIKE_SHARE = 0.95
MOST_NAMES = 5
LONG_ABSENCE_MS = 10 * 60_000
_LEFT = (models.SubmissionStatus.RETURNED, models.SubmissionStatus.TIMED_OUT)

NAMES = {
    "fast": "very fast",
    "alike": "answers all alike",
    "no_skill": "practice at no-skill level",
    "equal": "answers equal to another's",
    "absent": "long absence",
    "problems": "reported problems",
    "platform": "the platform says otherwise",
    "rule": "now below the rule",
}


def labels() -> dict[str, str]:
    """Of all flags; those of signs come first."""
    return signs.labels() | NAMES


@dataclass(frozen=True)
class Flag:
    name: str
    sentence: str

    @property
    def label(self) -> str:
        return labels()[self.name]


def flags_of(
    everybody: Sequence[models.Assignment],
    *,
    floors: Mapping[int, float],
    comments: Mapping[int, int],
    below_rule: Collection[int],
) -> dict[int, list[Flag]]:
    """By assignment. `floors` is what no skill earns on a task, in percent; `comments` are how many
    each has written, and `below_rule` those whom the study's rule would drop now."""
    by_task: dict[int, list[models.WorkSummary]] = defaultdict(list)
    for assignment in everybody:
        summary = _summary(assignment)
        if summary is not None and summary.median_ms is not None:
            by_task[assignment.batch.task_id].append(summary)
    twins = _twins(everybody)
    return {
        assignment.pk: [
            *(Flag(name, evidence) for name, evidence in _signs(assignment).items()),
            *_compared(assignment, by_task[assignment.batch.task_id]),
            *_equal(assignment, twins.get(assignment.pk, ())),
            *_seen(
                assignment,
                floors.get(assignment.batch.task_id),
                comments.get(assignment.pk, 0),
                assignment.pk in below_rule,
            ),
        ]
        for assignment in everybody
    }


def _summary(assignment: models.Assignment) -> models.WorkSummary | None:
    return getattr(assignment, "summary", None)


def _signs(assignment: models.Assignment) -> dict[str, str]:
    summary = _summary(assignment)
    return (summary.signs or {}) if summary else {}


def _compared(
    assignment: models.Assignment, group: Collection[models.WorkSummary]
) -> Iterable[Flag]:
    mine = _summary(assignment)
    if mine is None:
        return
    others = [one for one in group if one is not mine]
    times = [one.median_ms for one in others if one.median_ms is not None]
    if mine.median_ms is not None and len(times) >= ENOUGH_OTHERS:
        own, usual = mine.median_ms, median(times)
        if own < FAST_SHARE * usual:
            yield Flag("fast", f"answers in {own / 1000:.1f} s, the others in {usual / 1000:.1f} s")
    # Unless the others' answers are all alike too: then the task is like that.
    shares = [one.commonest_share for one in others if one.tested >= ENOUGH_ANSWERS]
    is_usual = shares and median(shares) >= ALIKE_SHARE
    if mine.tested >= ENOUGH_ANSWERS and mine.commonest_share >= ALIKE_SHARE and not is_usual:
        share = f"{100 * mine.commonest_share:.0f} %"
        yield Flag("alike", f"{share} of {mine.tested} answers are the same")


def _equal(assignment: models.Assignment, twins: Iterable[models.Assignment]) -> Iterable[Flag]:
    others = [other for other in twins if other != assignment]
    if others:
        names = ", ".join(other.annotator.pseudonym for other in others[:MOST_NAMES])
        names += "…" if len(others) > MOST_NAMES else ""
        yield Flag("equal", f"every answer, the wrong ones too, as {names}")


def _twins(everybody: Iterable[models.Assignment]) -> dict[int, list[models.Assignment]]:
    """Who gave exactly the same answers to the same test, not all of them right."""
    groups: dict[str, list[models.Assignment]] = defaultdict(list)
    for assignment in everybody:
        summary = _summary(assignment)
        if summary is not None and summary.tested >= ENOUGH_ANSWERS:
            groups[summary.answers_hash].append(assignment)
    return {
        assignment.pk: group
        for group in groups.values()
        if len(group) > 1 and not _is_all_right(group[0])
        for assignment in group
    }


def _is_all_right(assignment: models.Assignment) -> bool:
    content = batch_content(assignment.batch_id)
    given = models.Judgement.objects.filter(assignment=assignment, role=models.Role.TEST)
    answers = dict(given.values_list("example_id", "answer"))
    golds = gold_in_force(answers, content.task_id, content.gold_version)
    policy, how = content.reference_policy, content.normalisation
    return fmean(answer_score(texts, golds[pk], policy, how) for pk, texts in answers.items()) == 1


def _seen(
    assignment: models.Assignment, floor: float | None, comments: int, is_below_rule: bool
) -> Iterable[Flag]:
    summary, score = _summary(assignment), assignment.training_score
    if score is not None and floor is not None and score <= floor:
        yield Flag("no_skill", f"{score:.0f} % in practice; {floor:.0f} % takes no skill")
    if summary is not None and summary.longest_ms >= LONG_ABSENCE_MS:
        yield Flag("absent", f"{summary.longest_ms // 60_000} minutes before one answer")
    if comments:
        yield Flag("problems", f"{counted(comments, 'problem', 'problems')} reported")
    if is_below_rule:
        yield Flag("rule", "with those who have finished since, the rule would drop them")
    status = getattr(getattr(assignment, "submission", None), "status", "")
    is_left = assignment.outcome == models.Outcome.COMPLETED and status in _LEFT
    if status == models.SubmissionStatus.REJECTED or is_left:
        yield Flag("platform", f"{models.SubmissionStatus(status).label} on the platform")
