"""Everybody in a study, one row each: where they are, how fast, what they earned, what was noticed;
in a fixed number of queries. A flag tells what deserves a look: it compares a person with the
others on the same task, or states what was seen; it decides nothing and changes no score."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from statistics import fmean, median
from typing import Any

from django.db.models import Count, F, Q

from annotation.jobs.queue import write
from annotation.kinds import answer_kind, answer_score, gold_in_force
from annotation.models import (
    Assignment,
    Comment,
    Item,
    Judgement,
    Outcome,
    Role,
    Study,
    SubmissionStatus,
    Task,
    WorkState,
    WorkSummary,
)
from annotation.models.frozen import batch_content
from annotation.models.texts import counted
from annotation.studies.exported_judgements import column, csv_lines
from annotation.studies.monitoring import flagged_by_rule, people_of
from annotation.work.finishing import earned
from scoring.tables.table import values_of

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


def flags_of(
    everybody: Sequence[Assignment],
    *,
    floors: Mapping[int, float],
    comments: Mapping[int, int],
    below_rule: Collection[int],
) -> dict[int, list[Flag]]:
    """By assignment. `floors` is what no skill earns on a task, in percent; `comments` are how many
    each has written, and `below_rule` those whom the study's rule would drop now."""
    by_task: dict[int, list[WorkSummary]] = defaultdict(list)
    for assignment in everybody:
        summary = _summary(assignment)
        if summary is not None and summary.median_ms is not None:
            by_task[assignment.batch.task_id].append(summary)
    twins = _twins(everybody)
    return {
        assignment.pk: [
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


def _summary(assignment: Assignment) -> WorkSummary | None:
    return getattr(assignment, "summary", None)


def _compared(assignment: Assignment, group: Collection[WorkSummary]) -> Iterable[Flag]:
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


def _equal(assignment: Assignment, twins: Iterable[Assignment]) -> Iterable[Flag]:
    others = [other for other in twins if other != assignment]
    if others:
        names = ", ".join(other.annotator.pseudonym for other in others[:MOST_NAMES])
        names += "…" if len(others) > MOST_NAMES else ""
        yield Flag("equal", f"every answer, the wrong ones too, as {names}")


def _twins(everybody: Iterable[Assignment]) -> dict[int, list[Assignment]]:
    """Who gave exactly the same answers to the same test, not all of them right."""
    groups: dict[str, list[Assignment]] = defaultdict(list)
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


def _is_all_right(assignment: Assignment) -> bool:
    content = batch_content(assignment.batch_id)
    given = Judgement.objects.filter(assignment=assignment, role=Role.TEST)
    answers = dict(given.values_list("example_id", "answer"))
    golds = gold_in_force(answers, content.task_id, content.gold_version)
    policy, how = content.reference_policy, content.normalisation
    return fmean(answer_score(texts, golds[pk], policy, how) for pk, texts in answers.items()) == 1


def _seen(
    assignment: Assignment, floor: float | None, comments: int, is_below_rule: bool
) -> Iterable[Flag]:
    summary, score = _summary(assignment), assignment.training_score
    if score is not None and floor is not None and score <= floor:
        yield Flag("no_skill", f"{score:.0f} % in practice; {floor:.0f} % takes no skill")
    if summary is not None and summary.longest_ms >= LONG_ABSENCE_MS:
        yield Flag("absent", f"{summary.longest_ms // 60_000} minutes before one answer")
    if summary is not None and summary.pastes:
        yield Flag("paste", f"pasted {counted(summary.pastes, 'time', 'times')}")
    if comments:
        yield Flag("problems", f"{counted(comments, 'problem', 'problems')} reported")
    if is_below_rule:
        yield Flag("rule", "with those who have finished since, the rule would drop them")
    status = getattr(getattr(assignment, "submission", None), "status", "")
    is_left = assignment.outcome == Outcome.COMPLETED and status in _LEFT
    if status == SubmissionStatus.REJECTED or is_left:
        yield Flag("platform", f"{SubmissionStatus(status).label} on the platform")


class Row:
    """Paces: by cell the median milliseconds an item took those who completed it."""

    def __init__(
        self,
        study: Study,
        assignment: Assignment,
        items: int,
        paces: Mapping[tuple[int, int], float],
        flags: Sequence[Flag],
    ) -> None:
        self.assignment, self.items, self.flags = assignment, items, flags
        self.done = assignment.step + (assignment.state == WorkState.REVEALED)
        if assignment.outcome == Outcome.COMPLETED:
            self.done = items
        # Paid time so far, and beside the median of those who finished the cell, for as many items.
        usual = paces.get(_cell(assignment), 0) * self.done
        self.minutes = assignment.paid_ms / 60_000
        self.pace = assignment.paid_ms / usual if usual else None
        so_far, amount = earned(assignment.paid_ms, study.hourly_rate), assignment.amount
        self.pay = so_far if amount is None else amount

    @property
    def needs_a_look(self) -> bool:
        """Problems are listed by item."""
        return any(flag.name != "problems" for flag in self.flags)

    @property
    def is_below_rule(self) -> bool:
        return any(flag.name == "rule" for flag in self.flags)

    @property
    def batch(self) -> str:
        return str(self.assignment.batch)

    @property
    def flag_names(self) -> str:
        return " ".join(flag.name for flag in self.flags)

    @property
    def is_at_work(self) -> bool:
        return not self.assignment.outcome

    @property
    def state(self) -> str:
        return self.assignment.outcome or "working"


def rows(study: Study) -> list[Row]:
    """People only; who declined has not worked."""
    refresh(study, most=MOST_FOR_A_PAGE)
    everybody = list(people_of(study, "summary", "submission", "exclusion"))
    sets = {pk for batch in study.batches.all() for pk in batch.set_ids}
    counted = Item.objects.filter(item_set__in=sets).order_by().values_list("item_set")
    sizes = dict(counted.annotate(Count("pk")))
    items = {one.pk: sum(sizes.get(pk, 0) for pk in one.batch.set_ids) for one in everybody}
    paces = _paces(everybody, items)
    flags = _flags(study, everybody)
    found = [Row(study, one, items[one.pk], paces, flags[one.pk]) for one in everybody]
    _keep_flagged(found)
    return found


def _keep_flagged(found: Iterable[Row]) -> None:
    """Write down who needs a look, for the page about all studies, which compares nobody."""
    changed: dict[bool, list[int]] = defaultdict(list)
    for row in found:
        summary = getattr(row.assignment, "summary", None)
        if summary is not None and summary.is_flagged != row.needs_a_look:
            changed[row.needs_a_look].append(row.assignment.pk)
    for is_flagged, pks in changed.items():
        write(partial(WorkSummary.objects.filter(pk__in=pks).update, is_flagged=is_flagged))


def row_of(study: Study, assignment_id: int) -> Row | None:
    return next((row for row in rows(study) if row.assignment.pk == assignment_id), None)


def _cell(assignment: Assignment) -> tuple[int, int]:
    return assignment.batch.task_id, assignment.batch.shots


def _paces(
    everybody: Iterable[Assignment], items: Mapping[int, int]
) -> dict[tuple[int, int], float]:
    """For each cell the median milliseconds an item took those who completed it."""
    taken: dict[tuple[int, int], list[float]] = defaultdict(list)
    for assignment in everybody:
        if assignment.outcome == Outcome.COMPLETED and items[assignment.pk]:
            taken[_cell(assignment)].append(assignment.paid_ms / items[assignment.pk])
    return {cell: median(paces) for cell, paces in taken.items()}


def _flags(study: Study, everybody: Sequence[Assignment]) -> dict[int, list[Flag]]:
    written = Comment.objects.filter(assignment__study=study).order_by()
    floors = {task.pk: _floor(task) for task in {one.batch.task for one in everybody}}
    return flags_of(
        everybody,
        floors={pk: floor for pk, floor in floors.items() if floor is not None},
        comments=dict(written.values_list("assignment").annotate(Count("pk"))),
        below_rule={assignment.pk for assignment in flagged_by_rule(study, everybody)},
    )


def _floor(task: Task) -> float | None:
    """What the audit at the import found that no skill earns, in percent."""
    audited = [found for found in task.audit if found["code"] == "floors"]
    if not audited:
        return None
    allowed = {floor.rule for floor in answer_kind(task.kind).floors if floor.is_allowed}
    scores = audited[0]["figures"][task.reference_policy]
    return max((score for rule, score in scores.items() if rule in allowed), default=None)


# Filtering and sorting

# Of one sort, whatever can be ordered.
Key = Callable[[Row], Any]
SORTS: dict[str, Key] = {
    "joined": lambda row: -row.assignment.pk,
    "seen": lambda row: -row.assignment.seen_at.timestamp(),
    "progress": lambda row: -(row.done / row.items if row.items else 0),
    "minutes": lambda row: -row.minutes,
    "pace": lambda row: (row.pace is None, row.pace),
    "pay": lambda row: -row.pay,
    "score": lambda row: (row.assignment.training_score is None, row.assignment.training_score),
    "flags": lambda row: -len(row.flags),
}


def chosen(
    everybody: Sequence[Row], *, state: str = "", flag: str = "", batch: str = "", sort: str = ""
) -> list[Row]:
    """What a page's filters leave, in its order. What they don't know changes nothing."""
    states = {"working", *Outcome.values}
    return sorted(
        (
            row
            for row in everybody
            if (state not in states or row.state == state)
            and (not flag or (flag in ("any", *(f.name for f in row.flags)) and row.flags))
            and (not batch or str(row.assignment.batch_id) == batch)
        ),
        key=SORTS.get(sort, SORTS["joined"]),
    )


# As a file: pseudonyms alone, as on the page.

COLUMNS = (
    column("annotator", "pseudonym", "assignment.annotator.pseudonym"),
    column("batch", "its task, and its episode or its shots and split"),
    column("state", "how the work ended, or working"),
    column("items_done", "items answered", "done"),
    column("items", "all items of the batch"),
    column("last_sign_of_life", "UTC", "assignment.seen_at"),
    column("paid_minutes", "time that is paid so far", "minutes", digits=2),
    column("time_against_median", "of those who have finished", "pace", digits=2),
    column("pay", "what was earned so far, or is due"),
    column(
        "practice_score", "mean S1 of the first answers, in percent", "assignment.training_score"
    ),
    column("excluded", "whether a researcher excluded the work", "assignment.is_excluded"),
    column("flags", "what deserves a look", "flag_names"),
)


def people_csv(people: Iterable[Row], *, with_pay: bool) -> Iterator[str]:
    columns = [one for one in COLUMNS if with_pay or one.key != "pay"]
    return csv_lines(columns, (values_of(columns, row) for row in people))


# What the judgements of each assignment come to is kept, so that pages about many people are fast.
# A summary follows from judgements alone, and those never change: it is made again only when the
# assignment has moved on since. Making it twice at the same time gives the same row.
ASSIGNMENTS_AT_ONCE = 20
# A page waits for no more than this; the rest is left to the worker, or to the next look.
MOST_FOR_A_PAGE = 200
_FIELDS = (
    *("state", "step", "median_ms", "tested", "commonest_share"),
    *("distinct", "answers_hash", "longest_ms", "pastes"),
)
_COLUMNS = ("assignment_id", "role", "example_id", "answer", "shown_at", "submitted_at", "pastes")


def refresh(study: Study, *, most: int | None = None) -> int:
    """Summarise whoever has moved on since their last summary; returns how many."""
    moved = ~Q(summary__state=F("state")) | ~Q(summary__step=F("step"))
    late = Assignment.objects.filter(Q(summary__isnull=True) | moved, study=study).order_by("pk")
    behind = list(late.values_list("pk", "state", "step")[:most])
    for start in range(0, len(behind), ASSIGNMENTS_AT_ONCE):
        some = _summaries(behind[start : start + ASSIGNMENTS_AT_ONCE])
        store = partial(WorkSummary.objects.bulk_create, some, update_conflicts=True)
        write(partial(store, unique_fields=["assignment"], update_fields=_FIELDS))
    return len(behind)


def _summaries(positions: Sequence[tuple[int, str, int]]) -> list[WorkSummary]:
    """Of these assignments, read after where they stood: what came since makes them late again."""
    rows: dict[int, list[Any]] = defaultdict(list)
    judgements = Judgement.objects.filter(assignment__in=[pk for pk, *_rest in positions])
    for assignment_id, *row in judgements.order_by().values_list(*_COLUMNS):
        rows[assignment_id].append(row)
    return [
        WorkSummary(assignment_id=pk, state=state, step=step, **_figures(rows[pk]))
        for pk, state, step in positions
    ]


def _figures(rows: Sequence[Any]) -> dict[str, Any]:
    elapsed = [
        round(1000 * (submitted - shown).total_seconds())
        for _role, _example, _answer, shown, submitted, _pastes in rows
    ]
    answers = {example: answer for role, example, answer, *_rest in rows if role == Role.TEST}
    texts = Counter(json.dumps(sorted(answer)) for answer in answers.values())
    return {
        "median_ms": round(median(elapsed)) if elapsed else None,
        "longest_ms": max(elapsed, default=0),
        "tested": len(answers),
        "distinct": len(texts),
        "commonest_share": max(texts.values()) / len(answers) if answers else 0,
        "answers_hash": answers_hash(answers) if answers else "",
        "pastes": sum(row[-1] or 0 for row in rows),
    }


def answers_hash(answers: dict[int, list[str]]) -> str:
    """The same for two people who gave the same answers to the same examples."""
    ordered = [[example, sorted(answers[example])] for example in sorted(answers)]
    return sha256(json.dumps(ordered).encode()).hexdigest()
