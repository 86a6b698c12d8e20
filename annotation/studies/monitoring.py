"""How studies are going: of one study the figures of each batch, for the pages that watch it; of
every study how far it is and what to do next, for the front page. In a fixed number of queries;
simulated annotators enter no figure but in a demonstration."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from math import inf
from statistics import median
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet, Sum

from annotation.access.rights import RIGHTS, Right, is_all_powerful, studies
from annotation.models import (
    Assignment,
    Batch,
    Comment,
    JoinAnswer,
    Membership,
    Outcome,
    Place,
    Study,
    WorkSummary,
    clock,
)
from annotation.work.finishing import elapsed_hours
from annotation.work.money import CENT
from annotation.work.qualifying import screen
from scoring.tables.words import counted


class Person(NamedTuple):
    """What is told or compared of every assignment: of thousands, models would take four times as
    long to make."""

    pk: int
    batch: Batch
    pseudonym: str
    external_id: str
    submission_id: str
    outcome: str
    state: str
    step: int
    paid_ms: int
    amount: Decimal | None
    training_score: float | None
    passed: bool | None
    consented_at: datetime | None
    finished_at: datetime | None
    seen_at: datetime
    lease_until: datetime | None
    exclusion: int | None
    status: str | None
    # From the summary of the work; None before there is one.
    median_ms: int | None
    longest_ms: int | None
    tested: int | None
    commonest_share: float | None
    answers_hash: str | None
    signs: dict[str, str] | None
    is_flagged: bool | None

    @property
    def outcome_label(self) -> str:
        return str(Outcome(self.outcome).label)

    @property
    def is_excluded(self) -> bool:
        return self.exclusion is not None


_SUMMARY = ("median_ms", "longest_ms", "tested", "commonest_share", "answers_hash", "signs")
_COLUMNS = (
    *("pk", "batch_id", "annotator__pseudonym", "annotator__external_id"),
    "latest_submission__submission_id",
    *("outcome", "state", "step", "paid_ms", "amount", "training_score", "screening__passed"),
    *("consented_at", "finished_at", "seen_at", "place__lease_until", "exclusion__pk"),
    *("latest_submission__status", *(f"summary__{name}" for name in (*_SUMMARY, "is_flagged"))),
)


class BatchFigures:
    """The figures of a batch's people, and how many taken places are kept, and how many not."""

    def __init__(self, batch: Batch, people: Sequence[Person], places: Counter[bool]) -> None:
        self.batch, self.wanted = batch, batch.wanted
        self.taken, self.kept = places.total(), places[True]
        self.outcomes = Counter(person.outcome for person in people)
        self.excluded = sum(person.is_excluded for person in people)


class StudyFigures:
    """The figures of people that have been read already, maybe thousands."""

    def __init__(self, study: Study, people: Sequence[Person], *, at: datetime) -> None:
        by_batch: dict[int, list[Person]] = defaultdict(list)
        for person in people:
            by_batch[person.batch.pk].append(person)
        places: dict[int, Counter[bool]] = defaultdict(Counter)
        taken = Place.objects.filter(batch__study=study, simulated=False).taken(at).order_by()
        for batch_id, kept, count in taken.values_list("batch_id", "kept").annotate(Count("pk")):
            places[batch_id][kept] = count
        self.batches = [
            BatchFigures(batch, by_batch[batch.pk], places[batch.pk]) for batch in _batches(study)
        ]
        self.wanted, self.taken, self.kept = (
            sum(getattr(one, name) for one in self.batches) for name in ("wanted", "taken", "kept")
        )
        # From consent to the end, of completed work; and what it paid an hour of that time.
        completed = [
            (person.amount or Decimal(0), hours)
            for person in people
            if person.outcome == Outcome.COMPLETED
            and (hours := elapsed_hours(person.consented_at, person.finished_at)) > 0
        ]
        hourly = [amount / Decimal(hours) for amount, hours in completed]
        self.median_minutes = median(60 * hours for _, hours in completed) if completed else None
        self.hourly_pay = median(hourly).quantize(CENT) if completed else None


def study_figures(study: Study, *, at: datetime) -> StudyFigures:
    return StudyFigures(study, people_of(study), at=at)


def progress_of(study: Study, figures: StudyFigures) -> dict[str, Any]:
    """How far a study and each of its batches is, in numbers that tell nobody's pay or answers."""
    numbers = ("wanted", "taken", "kept")
    return {
        **{name: getattr(study, name) for name in ("slug", "state", "started_at")},
        **{name: getattr(study, name) for name in ("closed_at", "sends_until")},
        **{name: getattr(figures, name) for name in (*numbers, "median_minutes")},
        "batches": [
            {
                "id": figure.batch.pk,
                "task": figure.batch.task.slug,
                "label": figure.batch.label,
                "pool": figure.batch.pool.slug if figure.batch.pool else None,
                **{name: getattr(figure, name) for name in (*numbers, "excluded")},
                "outcomes": {outcome or "at work": n for outcome, n in figure.outcomes.items()},
            }
            for figure in figures.batches
        ],
    }


def _batches(study: Study) -> Iterable[Batch]:
    return study.batches.select_related("task__benchmark", "training_set", "test_set", "pool")


def people_of(
    study: Study, *, among: Collection[int] | None = None, order: Sequence[str] = ("id",)
) -> list[Person]:
    """Everybody, or those of these assignments. Who declined has not worked."""
    batches = {batch.pk: batch for batch in _batches(study)}
    people = Assignment.objects.in_places().filter(study=study).exclude(outcome=JoinAnswer.DECLINED)
    if among is not None:
        people = people.filter(pk__in=among)
    rows = people.order_by(*order).values_list(*_COLUMNS)
    return [Person(pk, batches[batch_id], *rest) for pk, batch_id, *rest in rows]


def flagged_by_rule(study: Study, everybody: Iterable[Person]) -> set[int]:
    """Who passed but would be dropped by the rule now, given those who have finished since: a flag
    for the researcher, never a reason to throw anybody out."""
    cells: dict[tuple[int, int], list[tuple[Person, float]]] = defaultdict(list)
    for person in everybody:
        if (score := person.training_score) is not None:
            cells[person.batch.task_id, person.batch.shots].append((person, score))
    flagged: set[int] = set()
    for cell in cells.values():
        lowest = _lowest_passing([score for _, score in cell], study)
        flagged |= {person.pk for person, score in cell if score < lowest and person.passed}
    return flagged


def _lowest_passing(scores: Sequence[float], study: Study) -> float:
    """Whoever has more than somebody who passes beside the others passes too: so a few are screened
    to know it of all."""

    def passes(score: float) -> bool:
        others = list(scores)
        others.remove(score)
        return bool(screen(score, others, study)["passed"])

    distinct = sorted(set(scores))
    return [*distinct, inf][bisect_left(distinct, True, key=passes)]


Card = dict[str, Any]


def study_cards(user: User) -> list[Card]:
    """A card for every study in which a user has a role; rehearsals belong to the study they
    rehearse."""
    current = studies(user).filter(is_rehearsal=False, archived_at__isnull=True)
    visible = list(current.select_related("benchmark", "channel"))
    memberships = Membership.objects.filter(user=user, study__in=visible)
    roles = dict(memberships.values_list("study_id", "role"))
    people = Assignment.objects.in_places().filter(study__in=visible)
    taken = Place.objects.filter(batch__study__in=visible, simulated=False).taken(clock.now())
    comments = Comment.objects.filter(assignment__study__in=visible)
    flagged = WorkSummary.objects.filter(assignment__in=people, is_flagged=True)
    figures = {
        "wanted": _totals(Batch.objects.filter(study__in=visible), "study", Sum("wanted")),
        # As the overview counts them: whoever was away for long holds no place.
        "kept": _totals(taken.filter(kept=True), "batch__study"),
        "working": _totals(taken.filter(kept=False), "batch__study"),
        "comments": _totals(comments, "assignment__study"),
        "flagged": _totals(flagged, "assignment__study"),
        "rehearsals": _totals(Study.objects.filter(rehearses__in=visible), "rehearses"),
    }
    return [
        _card(
            study,
            frozenset(Right) if is_all_powerful(user) else RIGHTS[roles[study.pk]],
            {name: totals.get(study.pk) or 0 for name, totals in figures.items()},
        )
        for study in visible
    ]


def _totals(rows: QuerySet[Any], study: str, figure: Count | Sum | None = None) -> dict[int, Any]:
    grouped = rows.order_by().values(study).annotate(total=figure or Count("pk"))
    return dict(grouped.values_list(study, "total"))


def _card(study: Study, rights: frozenset[Right], figures: dict[str, Any]) -> Card:
    """How many places are wanted, finished and worked in; sentences about what needs a look; what
    to do next with a draft."""
    return {
        "study": study,
        **{name: figures[name] for name in ("wanted", "kept", "working")},
        "looks": tuple(_looks(rights, figures)),
        "step": _step(study, figures) if Right.SET_UP in rights else None,
    }


def _looks(rights: frozenset[Right], figures: dict[str, Any]) -> Iterable[str]:
    if figures["flagged"] and Right.PEOPLE in rights:
        yield f"{counted(figures['flagged'], 'person needs,people need')} a look."
    if figures["comments"] and Right.GOLD in rights:
        yield f"{counted(figures['comments'], 'problem was,problems were')} reported."


def _step(study: Study, figures: dict[str, Any]) -> str | None:
    if study.is_frozen:
        return None
    if not figures["wanted"]:
        return "batches"
    return "start" if figures["rehearsals"] else "rehearse"
