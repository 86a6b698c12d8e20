"""The rows of a comparison as tables: every column for exports, what each interval says, and
the annotators one by one."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext_lazy as _

from scoring.comparison.rows import COLUMNS, KEYS, Row, as_plain
from scoring.core.normalisation import NONE
from scoring.tables.table import Cell, Column, Line, Table, limits, lines_of

ESTIMANDS = {"new_items": _("new items"), "these_items": _("these items")}
# Of one person they say what the others of the cell say too.
OF_CELLS = {"kind", "gold_version", "coverage"}


def row_table(name: str, rows: Iterable[Row]) -> Table:
    return Table(name, "", "", COLUMNS, lines_of(map(as_plain, rows)))


def columns_table(provenance: str) -> Table:
    """What the columns mean, and what all figures rest on."""
    meanings = {column.key: str(column.meaning) for column in COLUMNS}
    told = {**meanings, "(all figures)": provenance}.items()
    return Table(
        "columns",
        "",
        "",
        (Column("column", "", is_number=False), Column("meaning", "", is_number=False)),
        lines_of({"column": key, "meaning": meaning} for key, meaning in told),
    )


def interval_table(rows: Iterable[Row]) -> Table:
    """For which items each interval is, by which method, over how many people or runs and item
    clusters, and under which reference policy."""
    return Table(
        "intervals",
        _("How each interval was computed"),
        "",
        (
            Column("who", _("Who"), is_number=False),
            Column("task", _("Task"), is_number=False),
            Column("shots", _("Shots")),
            Column("mean", _("Mean"), digits=1),
            Column("interval", _("Interval (95 %)"), digits=1),
            Column("estimand", _("For"), is_number=False),
            Column("ci_method", _("Method"), is_number=False),
            Column("n", "n"),
            Column("m", "m"),
            Column("references", _("References"), is_number=False),
            Column("gold_version", _("Gold version")),
            Column("guard", _("Guard band"), digits=1),
        ),
        tuple(_interval_line(row) for row in rows if row.ci_low is not None),
    )


def _interval_line(row: Row) -> Line:
    who = ", ".join(filter(None, (row.system, row.method, row.study)))
    return Line(
        {
            **as_plain(row),
            "who": who,
            "references": row.scored_under,
            "interval": limits(row.ci_low, row.ci_high) or None,
            "estimand": str(ESTIMANDS[row.estimand or ""]),
            "guard": limits(row.guard_low, row.guard_high) or None,
        }
    )


def annotator_table(rows: Sequence[Row]) -> Table:
    """Each person, in every column that persons fill; the figures are over their items."""
    people = [row for row in rows if row.single]
    filled = {key for key in KEYS if any(getattr(row, key) is not None for row in people)}
    shown = (filled | {"split"}) - OF_CELLS
    if {row.normalisation for row in people} <= {NONE}:
        shown -= {"normalisation"}
    return Table(
        "annotators",
        _("Annotators"),
        "",
        tuple(column for column in COLUMNS if column.key in shown),
        tuple(map(_annotator_line, people)),
    )


def _annotator_line(row: Row) -> Line:
    aside = str(_("simulated")) if row.kind == "simulated" else ""
    return Line({**as_plain(row), "system": Cell(row.system, aside=aside)})
