"""How studies are going: of one study the figures of each batch, for the pages that watch it; of
every study how far it is, what it cost and what to do next, for the front page. In a fixed number
of queries; simulated annotators enter no figure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from statistics import median
from typing import Any

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
)
from annotation.models.texts import counted
from annotation.work.finishing import CENT, elapsed_hours
from annotation.work.qualifying import screen


class BatchFigures:
    """Of a batch's people, and of whether each taken place is kept."""

    def __init__(self, batch: Batch, people: Iterable[Assignment], places: Sequence[bool]) -> None:
        everybody = list(people)
        self.batch, self.wanted = batch, batch.wanted
        self.taken, self.kept = len(places), sum(places)
        self.outcomes = Counter(assignment.outcome for assignment in everybody)
        self.excluded = sum(assignment.is_excluded for assignment in everybody)


class StudyFigures:
    """Of people that have been read already, maybe thousands."""

    def __init__(self, study: Study, people: Sequence[Assignment], *, at: datetime) -> None:
        by_batch: dict[int, list[Assignment]] = defaultdict(list)
        for assignment in people:
            by_batch[assignment.batch_id].append(assignment)
        places: dict[int, list[bool]] = defaultdict(list)
        taken = Place.objects.filter(batch__study=study, simulated=False).taken(at)
        for batch_id, kept in taken.values_list("batch_id", "kept"):
            places[batch_id].append(kept)
        self.batches = [
            BatchFigures(batch, by_batch[batch.pk], places[batch.pk]) for batch in _batches(study)
        ]
        self.wanted, self.taken, self.kept = (
            sum(getattr(one, name) for one in self.batches) for name in ("wanted", "taken", "kept")
        )
        # From consent to the end, of completed work; and what it paid an hour of that time.
        completed = [
            (a.amount or Decimal(0), hours)
            for a in people
            if a.outcome == Outcome.COMPLETED and (hours := elapsed_hours(a)) > 0
        ]
        hourly = [amount / Decimal(hours) for amount, hours in completed]
        self.median_minutes = median(60 * hours for _, hours in completed) if completed else None
        self.hourly_pay = median(hourly).quantize(CENT) if completed else None


def study_figures(study: Study, *, at: datetime) -> StudyFigures:
    return StudyFigures(study, list(people_of(study, "exclusion")), at=at)


def _batches(study: Study) -> Iterable[Batch]:
    return study.batches.select_related("task__benchmark", "training_set", "test_set", "pool")


def people_of(study: Study, *related: str) -> Iterator[Assignment]:
    """Who declined has not worked. The few batches, read with each, would take most of the time."""
    batches = {batch.pk: batch for batch in _batches(study)}
    people = Assignment.objects.of_people().filter(study=study).exclude(outcome=JoinAnswer.DECLINED)
    for assignment in people.select_related("annotator__channel", *related).order_by("id"):
        assignment.study, assignment.batch = study, batches[assignment.batch_id]
        yield assignment


def flagged_by_rule(study: Study, everybody: Sequence[Assignment]) -> list[Assignment]:
    """Who passed but would be dropped by the rule now, given those who have finished since: a flag
    for the researcher, never a reason to throw anybody out."""
    cells: dict[tuple[int, int], list[tuple[Assignment, float]]] = defaultdict(list)
    for assignment in everybody:
        score = assignment.training_score
        if score is not None and not assignment.is_simulated:
            cells[assignment.batch.task_id, assignment.batch.shots].append((assignment, score))
    flagged: list[Assignment] = []
    for cell in cells.values():
        for assignment, score in cell:
            if not assignment.screening.get("passed"):
                continue
            # Without a drop the others don't matter, and there may be many.
            group = cell if study.max_drop is not None else []
            others = [theirs for other, theirs in group if other is not assignment]
            if not screen(score, others, study)["passed"]:
                flagged.append(assignment)
    return flagged


Card = dict[str, Any]


def study_cards(user: User) -> list[Card]:
    """Of every study in which a user has a role; rehearsals belong to the study they rehearse."""
    current = studies(user).filter(is_rehearsal=False, archived_at__isnull=True)
    own = list(current.select_related("benchmark", "channel"))
    memberships = Membership.objects.filter(user=user, study__in=own)
    roles = dict(memberships.values_list("study_id", "role"))
    people = Assignment.objects.of_people().filter(study__in=own)
    kept = Place.objects.filter(batch__study__in=own, simulated=False, kept=True)
    comments = Comment.objects.filter(assignment__study__in=own)
    flagged = WorkSummary.objects.filter(assignment__in=people, is_flagged=True)
    figures = {
        "wanted": _totals(Batch.objects.filter(study__in=own), "study", Sum("wanted")),
        "kept": _totals(kept, "batch__study"),
        "working": _totals(people.open(), "study"),
        "spent": _totals(people, "study", Sum("amount")),
        "comments": _totals(comments, "assignment__study"),
        "flagged": _totals(flagged, "assignment__study"),
        "rehearsals": _totals(Study.objects.filter(rehearses__in=own), "rehearses"),
    }
    return [
        _card(
            study,
            frozenset(Right) if is_all_powerful(user) else RIGHTS[roles[study.pk]],
            {name: totals.get(study.pk) or 0 for name, totals in figures.items()},
        )
        for study in own
    ]


def _totals(rows: QuerySet[Any], study: str, figure: Count | Sum | None = None) -> dict[int, Any]:
    grouped = rows.order_by().values(study).annotate(total=figure or Count("pk"))
    return dict(grouped.values_list(study, "total"))


def _card(study: Study, rights: frozenset[Right], figures: dict[str, Any]) -> Card:
    """How many places are wanted, finished and worked in; what it cost, with the platform's fee, if
    that may be seen; sentences about what needs a look; what to do next with a draft."""
    cost = (Decimal(figures["spent"]) * (1 + study.platform_fee / 100)).quantize(CENT)
    return {
        "study": study,
        **{name: figures[name] for name in ("wanted", "kept", "working")},
        "cost": cost if Right.PAY in rights else None,
        "looks": tuple(_looks(rights, figures)),
        "step": _step(study, figures) if Right.SET_UP in rights else None,
    }


def _looks(rights: frozenset[Right], figures: dict[str, Any]) -> Iterable[str]:
    if figures["flagged"] and Right.PEOPLE in rights:
        yield f"{counted(figures['flagged'], 'person needs', 'people need')} a look."
    if figures["comments"] and Right.GOLD in rights:
        yield f"{counted(figures['comments'], 'problem was', 'problems were')} reported."


def _step(study: Study, figures: dict[str, Any]) -> str | None:
    if study.is_frozen:
        return None
    if not figures["wanted"]:
        return "batches"
    return "start" if figures["rehearsals"] else "rehearse"
