"""Which figures may share a column: those under one reference policy.

A figure published without its policy goes beside either, with a mark.
"""

from collections.abc import Collection, Iterable, Mapping

from annotation.models import ReferencePolicy
from scoring.comparison.floors import Bound
from scoring.comparison.rows import Row


def first_policies(rows: Collection[Row], bounds: Iterable[Bound] = ()) -> dict[str, str]:
    """By task, the policy of its first column: that of the figures scored here, else that of its
    floors, else that of the published figures; "" if none is known."""
    scored = [row for row in rows if row.kind != "reported"]
    first = {row.task: "" for row in rows}
    figures: list[Row | Bound] = [*scored, *bounds, *rows]
    for figure in figures:
        if figure.references in ReferencePolicy.values and not first.get(figure.task):
            first[figure.task] = figure.references
    return first


def policy_of(row: Row, first: Mapping[str, str]) -> str:
    """The policy whose column a figure goes in; the first if its policy is unknown."""
    return row.references if row.references in ReferencePolicy.values else first.get(row.task, "")


def policies_of(rows: Iterable[Row], task: str, first: Mapping[str, str]) -> list[str]:
    """The policies of a task's columns, in order."""
    policies = {policy_of(row, first) for row in rows if row.task == task}
    return sorted(policies, key=lambda policy: (policy != first[task], policy))
