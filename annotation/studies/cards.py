"""Cards for the front page: of each study how far it is, what it cost, and what to do next.

Read in a fixed number of queries, however many studies there are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet, Sum

from annotation.access.rights import RIGHTS, Right, is_all_powerful, studies
from annotation.models import (
    Assignment,
    Batch,
    Comment,
    Membership,
    Place,
    Study,
    StudyState,
    WorkSummary,
)
from annotation.models.texts import counted
from annotation.work.paying import CENT


class Step(StrEnum):
    """What to do next with a draft."""

    BATCHES = "batches"
    REHEARSE = "rehearse"
    START = "start"


@dataclass(frozen=True)
class Card:
    study: Study
    rights: frozenset[Right]
    wanted: int
    kept: int
    working: int
    # With the platform's fee; None for those who may not see it.
    cost: Decimal | None
    # Sentences about what needs a look.
    looks: tuple[str, ...]
    step: Step | None


def study_cards(user: User) -> list[Card]:
    """Of every study in which a user has a role; rehearsals belong to the study they rehearse."""
    current = studies(user).filter(is_rehearsal=False, archived_at__isnull=True)
    own = list(current.select_related("benchmark", "channel"))
    roles = dict(
        Membership.objects.filter(user=user, study__in=own).values_list("study_id", "role")
    )
    wanted = _totals(Batch.objects.filter(study__in=own), "study", Sum("wanted"))
    kept = _totals(
        Place.objects.filter(batch__study__in=own, simulated=False, kept=True),
        "batch__study",
        Count("pk"),
    )
    people = Assignment.objects.of_people().filter(study__in=own)
    working = _totals(people.open(), "study", Count("pk"))
    spent = _totals(people, "study", Sum("amount"))
    comments = _totals(Comment.objects.filter(assignment__study__in=own), _STUDY, Count("pk"))
    noticed = WorkSummary.objects.filter(assignment__in=people, is_flagged=True)
    flagged = _totals(noticed, _STUDY, Count("pk"))
    rehearsed = set(Study.objects.filter(rehearses__in=own).values_list("rehearses_id", flat=True))
    cards = []
    for study in own:
        rights = frozenset(Right) if is_all_powerful(user) else RIGHTS[roles[study.pk]]
        cards.append(
            Card(
                study=study,
                rights=rights,
                wanted=wanted.get(study.pk, 0),
                kept=kept.get(study.pk, 0),
                working=working.get(study.pk, 0),
                cost=_cost(study, spent.get(study.pk)) if Right.PAY in rights else None,
                looks=tuple(
                    _looks(
                        flagged.get(study.pk, 0) if Right.PEOPLE in rights else 0,
                        comments.get(study.pk, 0) if Right.GOLD in rights else 0,
                    )
                ),
                step=_step(study, rights, study.pk in wanted, study.pk in rehearsed),
            )
        )
    return cards


_STUDY = "assignment__study"


def _totals(rows: QuerySet[Any], study: str, figure: Count | Sum) -> dict[int, Any]:
    return dict(rows.order_by().values(study).annotate(total=figure).values_list(study, "total"))


def _cost(study: Study, spent: Decimal | None) -> Decimal:
    return ((spent or Decimal(0)) * (1 + study.platform_fee / 100)).quantize(CENT)


def _looks(flagged: int, comments: int) -> Iterable[str]:
    if flagged:
        yield f"{counted(flagged, 'person needs', 'people need')} a look."
    if comments:
        yield f"{counted(comments, 'problem was', 'problems were')} reported."


def _step(
    study: Study, rights: frozenset[Right], has_batches: bool, is_rehearsed: bool
) -> Step | None:
    if study.state != StudyState.DRAFT or Right.SET_UP not in rights:
        return None
    if not has_batches:
        return Step.BATCHES
    return Step.START if is_rehearsed else Step.REHEARSE
