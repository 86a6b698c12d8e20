"""The verdicts of a comparison as tables: in words for reading, as values for computing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scoring.comparison.analysis_columns import DIFFERENCE, OF_PEOPLE, SYSTEM, VERDICT, WHERE, text
from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.row_tables import row_table
from scoring.comparison.verdicts import AverageVerdict, CellVerdict, Finding, Verdicts, first_of
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED, UNTESTED
from scoring.tables.table import Line, Table, Text, lines_of

# From the side of people, as the sign of the table says it of systems.
WORDS: dict[str, Text] = {
    AHEAD: "people ahead",
    BEHIND: "people behind",
    SAME: "as good",
    UNDECIDED: "not decided",
    EXPLORATORY: "exploratory",
    UNTESTED: "not tested",
}
_COLUMNS = {column.key: column for column in (*WHERE, *SYSTEM, *DIFFERENCE, *VERDICT, *OF_PEOPLE)}
KEYS = ("outcome", "difference", "low", "high", "p_holm", "family", "margin", "detectable", "above",
        "falls")  # fmt: skip
# Of a system's row in the export of all rows: what its sign in the table says.
OF_ROWS = (
    text("against", "Against", "The study with whose people this system is compared."),
    replace(
        _COLUMNS["outcome"],
        meaning="What may be said of those people beside this system, with the margin and "
        "after Holm: "
        "ahead, behind, same, undecided, exploratory; untested for a published figure.",
    ),
    replace(_COLUMNS["difference"], meaning="Those people less this system, in percent points."),
    replace(_COLUMNS["low"], key="difference_low"),
    replace(_COLUMNS["high"], key="difference_high"),
    _COLUMNS["p_holm"],
    _COLUMNS["detectable"],
)
READ = ("study", "task", "shots", "system", "method", "parameters", "outcome", "difference", "low",
        "high", "p_holm", "margin", "detectable")  # fmt: skip


def verdict_table(table: ComparisonTable) -> Table:
    """Who is ahead, in words: every verdict, of averages over tasks and of cells."""
    lines = (
        {
            **{key: getattr(finding, key, None) for key in READ},
            "task": getattr(finding, "task", "average"),
            "outcome": str(_in_words(finding)),
        }
        for finding in _findings(table.verdicts)
    )
    columns = tuple(_COLUMNS[key] for key in READ)
    return Table("verdicts", "Who is ahead", "", columns, lines_of(lines))


def finding_table(verdicts: Verdicts) -> Table:
    """Every verdict with what it rests on; an average names its tasks and has no task."""
    tasks = text("tasks", "Tasks", "The tasks that an average is over.")
    published = text("is_reported", "Published", "Whether the system's figure is published.")
    columns = (*WHERE, tasks, *SYSTEM, *(_COLUMNS[key] for key in KEYS), published)
    keys = {column.key for column in columns} - {"tasks"}
    return Table(
        "verdicts",
        "Who is ahead",
        "",
        columns,
        lines_of(
            {
                **{key: getattr(finding, key, None) for key in keys},
                "tasks": ", ".join(getattr(finding, "tasks", ())) or None,
            }
            for finding in _findings(verdicts)
        ),
    )


def judged_row_table(table: ComparisonTable) -> Table:
    """Every row as it is, a system's with what may be said of people beside it."""
    rows = row_table("comparison", table.rows)
    lines = tuple(
        Line({**line.cells, **_of_row(first_of(table.verdicts.about(row)))})
        for line, row in zip(rows.lines, table.rows, strict=True)
    )
    return replace(rows, columns=(*rows.columns, *OF_ROWS), lines=lines)


def _of_row(verdict: CellVerdict | None) -> Mapping[str, Any]:
    if verdict is None:
        return {}
    return {
        "against": verdict.study,
        "difference_low": verdict.low,
        "difference_high": verdict.high,
        **{key: getattr(verdict, key) for key in ("outcome", "difference", "p_holm", "detectable")},
    }


def _findings(verdicts: Verdicts) -> Iterator[AverageVerdict | CellVerdict]:
    yield from verdicts.averages
    yield from verdicts.cells


def _in_words(finding: Finding) -> Text:
    if getattr(finding, "is_reported", False):
        return "published: not tested"
    return WORDS[finding.outcome]
