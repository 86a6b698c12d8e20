"""What about somebody's work deserves a look. A flag decides nothing and changes no score.

Each compares a person with the others on the same task, or states what was seen.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from annotation.kinds import answer_score, gold_in_force
from annotation.models import Assignment, Judgement, Outcome, Role, SubmissionStatus, WorkSummary
from annotation.models.frozen import batch_content
from annotation.models.texts import counted

# Fewer others say little about what is usual.
ENOUGH_OTHERS = 4
FAST_SHARE = 1 / 3
# Below this many answers, all alike is chance.
ENOUGH_ANSWERS = 8
ALIKE_SHARE = 0.95
MOST_NAMES = 5
LONG_ABSENCE_MS = 10 * 60_000
_LEFT = (SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT)

NAMES = {
    "fast": "very fast",
    "alike": "answers all alike",
    "no_skill": "practice at no-skill level",
    "equal": "answers equal to another's",
    "absent": "long absence",
    "paste": "pasted",
    "problems": "reported problems",
    "platform": "the platform says otherwise",
    "rule": "now below the rule",
}


@dataclass(frozen=True)
class Flag:
    name: str
    sentence: str

    @property
    def label(self) -> str:
        return str(NAMES[self.name])


@dataclass(frozen=True)
class Work:
    """What flags look at of one person's work."""

    assignment: Assignment
    task_id: int
    summary: WorkSummary | None
    comments: int
    # The platform's word for the submission, if it gave one.
    status: str
    # Whether the study's rule would drop them now.
    below_rule: bool = False


def flags_of(everybody: Sequence[Work], *, floors: Mapping[int, float]) -> dict[int, list[Flag]]:
    """By assignment; `floors` is what no skill earns on a task, in percent."""
    by_task: dict[int, list[WorkSummary]] = defaultdict(list)
    for work in everybody:
        if work.summary is not None and work.summary.median_ms is not None:
            by_task[work.task_id].append(work.summary)
    twins = _twins(everybody)
    return {
        work.assignment.pk: [
            *_speed(work, by_task[work.task_id]),
            *_alike(work, by_task[work.task_id]),
            *_equal(work, twins),
            *_no_skill(work, floors.get(work.task_id)),
            *_seen(work),
        ]
        for work in everybody
    }


def _speed(work: Work, group: Collection[WorkSummary]) -> Iterable[Flag]:
    others = [s.median_ms for s in group if s is not work.summary and s.median_ms is not None]
    mine = work.summary.median_ms if work.summary else None
    if mine is None or len(others) < ENOUGH_OTHERS:
        return
    usual = median(others)
    if mine < FAST_SHARE * usual:
        sentence = f"answers in {mine / 1000:.1f} s, the others in {usual / 1000:.1f} s"
        yield Flag("fast", sentence)


def _alike(work: Work, group: Collection[WorkSummary]) -> Iterable[Flag]:
    """Unless the others' answers are all alike too: then the task is like that."""
    mine = work.summary
    if mine is None or mine.tested < ENOUGH_ANSWERS or mine.commonest_share < ALIKE_SHARE:
        return
    others = [s.commonest_share for s in group if s is not mine and s.tested >= ENOUGH_ANSWERS]
    if others and median(others) >= ALIKE_SHARE:
        return
    share = f"{100 * mine.commonest_share:.0f} %"
    yield Flag("alike", f"{share} of {mine.tested} answers are the same")


def _equal(work: Work, twins: Mapping[int, Sequence[Assignment]]) -> Iterable[Flag]:
    others = [other for other in twins.get(work.assignment.pk, ()) if other != work.assignment]
    if others:
        names = ", ".join(other.annotator.pseudonym for other in others[:MOST_NAMES])
        names += "…" if len(others) > MOST_NAMES else ""
        yield Flag("equal", f"every answer, the wrong ones too, as {names}")


def _twins(everybody: Sequence[Work]) -> dict[int, list[Assignment]]:
    """Who gave exactly the same answers to the same test, not all of them right."""
    groups: dict[str, list[Assignment]] = defaultdict(list)
    for work in everybody:
        if work.summary is not None and work.summary.tested >= ENOUGH_ANSWERS:
            groups[work.summary.answers_hash].append(work.assignment)
    shared = [group for group in groups.values() if len(group) > 1]
    return {
        assignment.pk: group
        for group in shared
        if not _is_all_right(group[0])
        for assignment in group
    }


def _is_all_right(assignment: Assignment) -> bool:
    content = batch_content(assignment.batch_id)
    given = Judgement.objects.filter(assignment=assignment, role=Role.TEST)
    answers = dict(given.values_list("example_id", "answer"))
    golds = gold_in_force(answers, content.task_id, content.gold_version)
    policy, how = content.reference_policy, content.normalisation
    return fmean(answer_score(texts, golds[pk], policy, how) for pk, texts in answers.items()) == 1


def _no_skill(work: Work, floor: float | None) -> Iterable[Flag]:
    score = work.assignment.training_score
    if score is None or floor is None or score > floor:
        return
    yield Flag("no_skill", f"{score:.0f} % in practice; {floor:.0f} % takes no skill")


def _seen(work: Work) -> Iterable[Flag]:
    summary = work.summary
    if summary is not None and summary.longest_ms >= LONG_ABSENCE_MS:
        minutes = summary.longest_ms // 60_000
        yield Flag("absent", f"{minutes} minutes before one answer")
    if summary is not None and summary.pastes:
        yield Flag("paste", f"pasted {counted(summary.pastes, 'time', 'times')}")
    if work.comments:
        yield Flag("problems", f"{counted(work.comments, 'problem', 'problems')} reported")
    if work.below_rule:
        yield Flag("rule", "with those who have finished since, the rule would drop them")
    yield from _platform(work)


def _platform(work: Work) -> Iterable[Flag]:
    is_done = work.assignment.outcome == Outcome.COMPLETED
    if work.status == SubmissionStatus.REJECTED or (is_done and work.status in _LEFT):
        label = SubmissionStatus(work.status).label
        yield Flag("platform", f"{label} on the platform")
