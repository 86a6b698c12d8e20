"""What every interval of a comparison says: for which items, by which method, over how many
people or runs and item clusters, and under which reference policy."""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy as _

from scoring.comparison.grid import limits, rounded
from scoring.comparison.rows import Row

TITLE = _("How each interval was computed")
HEADS = (
    _("Who"),
    _("Task"),
    _("Shots"),
    _("Mean"),
    _("Interval (95 %)"),
    _("For"),
    _("Method"),
    "n",
    "m",
    _("References"),
    _("Gold version"),
    _("Guard band"),
)
# How LaTeX sets each column: texts to the left, numbers to the right.
LETTERS = "llrrrllrrlrr"
ESTIMANDS = {"new_items": _("new items"), "these_items": _("these items")}


def interval_lines(rows: Iterable[Row]) -> list[list[str]]:
    return [_line(row) for row in rows if row.ci_low is not None]


def _line(row: Row) -> list[str]:
    who = (row.system, row.method, row.study)
    return [
        ", ".join(filter(None, who)),
        row.task,
        str(row.shots),
        rounded(row.mean),
        limits(row.ci_low, row.ci_high),
        str(ESTIMANDS[row.estimand or ""]),
        row.ci_method or "",
        str(row.n),
        str(row.m),
        row.scored_under,
        str(row.gold_version),
        limits(row.guard_low, row.guard_high) or "–",
    ]
