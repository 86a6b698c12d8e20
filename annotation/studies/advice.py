"""What a researcher should know about a study's rule before it starts; it forbids nothing."""

from collections import defaultdict
from math import sqrt

from django.utils.translation import gettext as _

from annotation.models import DropUnit, Study

# Below this the SD of a group is mostly chance.
SMALL_GROUP = 5


def farthest_below(people: int) -> float:
    """How many sample SDs one of this many people can lie below the mean of them all."""
    return (people - 1) / sqrt(people)


def rule_advice(*, max_drop: float | None, drop_unit: str, group_size: int) -> list[str]:
    """About a drop in SDs from a group that is small, or that nobody can reach."""
    if max_drop is None or drop_unit != DropUnit.SDS:
        return []
    people = group_size + 1
    reach = farthest_below(people)
    if group_size >= SMALL_GROUP and max_drop < reach:
        return []
    return [
        _(
            "A drop of %(drop)g SD from a group of %(group)d others: among %(people)d people "
            "nobody can lie more than %(reach).3f SD below the mean of all, and the SD of so "
            "few is mostly chance. Ask for a larger group, or state the drop in points."
        )
        % {"drop": max_drop, "group": group_size, "people": people, "reach": reach}
    ]


def study_advice(study: Study) -> list[str]:
    """About the rule, the times and the batches of a study."""
    advice = rule_advice(
        max_drop=study.max_drop, drop_unit=study.drop_unit, group_size=study.drop_group_size
    )
    if study.lease_minutes * 60 < study.item_cap_s:
        advice.append(
            _(
                "A place is kept for %(lease)d minutes, but %(cap)d seconds are paid for one "
                "example: a slow reader can lose the place. Keep it for longer."
            )
            % {"lease": study.lease_minutes, "cap": study.item_cap_s}
        )
    return [*advice, *_small_cells(study)]


def _small_cells(study: Study) -> list[str]:
    """Cells with too few places for the drop ever to apply there."""
    if study.max_drop is None:
        return []
    people: dict[tuple[str, int], int] = defaultdict(int)
    batches = study.batches.select_related("task", "training_set").exclude(training_set=None)
    for batch in batches:
        people[str(batch.task), batch.shots] += batch.wanted
    small = [cell for cell, wanted in people.items() if wanted - 1 < study.drop_group_size]
    if not small:
        return []
    return [
        _(
            "The drop waits for %(group)d others with the same task and shots, but there are too "
            "few places for that in: %(cells)s. There, only the floor applies unless many are "
            "screened out."
        )
        % {
            "group": study.drop_group_size,
            "cells": ", ".join(f"{task}, {shots} shots" for task, shots in small),
        }
    ]
