"""Cards for the front page: of each study how far it is, what it cost, and what to do next.

Read in a fixed number of queries, however many studies there are.
"""

from collections.abc import Iterable
from decimal import Decimal
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
    WorkSummary,
)
from annotation.models.texts import counted
from annotation.work.paying import CENT

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
    """By study a figure, or how many rows there are."""
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
