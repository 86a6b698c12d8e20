"""The rows of a comparison as tables: every column for exports, what each interval says, and
the annotators one by one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scoring.comparison.rows import BY_KEY, COLUMNS, KEYS, Row, as_plain
from scoring.core.normalisation import NONE
from scoring.models import method_label
from scoring.tables.table import Cell, Column, Line, Table, limits, lines_of

ESTIMANDS = {"new_items": "new items", "these_items": "these items"}
# In sight on a page; the rest is behind a click on a line.
USUAL_OF_INTERVALS = ("task", "shots", "mean", "interval", "guard", "n", "m", "without")
USUAL_OF_ANNOTATORS = ("study", "system", "task", "shots", "split", "mean", "sd", "median_item_s")
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
        "How each interval was computed",
        "",
        (
            Column("who", "Who", "People of a study, or a system.", is_number=False, is_name=True),
            BY_KEY["task"],
            BY_KEY["shots"],
            replace(BY_KEY["mean"], heading="Mean"),
            Column("interval", "Interval (95 %)", "Its limits, in percent.", digits=1),
            replace(BY_KEY["estimand"], heading="For"),
            BY_KEY["ci_method"],
            replace(BY_KEY["n"], heading="n"),
            BY_KEY["m"],
            BY_KEY["references"],
            BY_KEY["gold_version"],
            Column(
                "guard",
                "Guard band",
                "For three or four: read it alone. Two have nothing else.",
                digits=1,
            ),
            BY_KEY["shot_sets"],
            Column(
                "without",
                "Without one",
                "The range of the mean when any one annotator is left out, in percent.",
                digits=1,
            ),
            BY_KEY["flagged"],
            BY_KEY["notes"],
        ),
        tuple(
            _interval_line(row)
            for row in rows
            if row.ci_low is not None or (row.notes and not row.single)
        ),
    )


def _interval_line(row: Row) -> Line:
    who = ", ".join(filter(None, (row.system, method_label(row.method), row.study)))
    return Line(
        {
            **as_plain(row),
            "who": who,
            "references": row.scored_under,
            "interval": limits(row.ci_low, row.ci_high) or None,
            "estimand": str(ESTIMANDS[row.estimand]) if row.estimand else None,
            "guard": limits(row.guard_low, row.guard_high) or None,
            "without": limits(row.without_low, row.without_high) or None,
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
        "Annotators",
        "",
        tuple(column for column in COLUMNS if column.key in shown),
        tuple(map(_annotator_line, people)),
    )


def _annotator_line(row: Row) -> Line:
    aside = "simulated" if row.kind == "simulated" else ""
    return Line({**as_plain(row), "system": Cell(row.system, aside=aside)})
