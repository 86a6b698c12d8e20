"""A comparison as a document: all rows for computing, tables for reading."""

from collections.abc import Iterable
from dataclasses import replace

from scoring.comparison.comparing import Comparison
from scoring.comparison.overview import overview, shots_of_people
from scoring.comparison.paper_tables import (
    annotators_by_shots,
    supervision_table,
    system_tables,
    time_table,
)
from scoring.comparison.row_tables import (
    annotator_table,
    columns_table,
    finding_table,
    interval_table,
    judged_row_table,
    row_table,
    verdict_table,
)
from scoring.core.intervals import GUARD
from scoring.tables.documents import Format, as_csv, as_json, as_markdown, escaped_markdown, formats
from scoring.tables.latex import as_latex
from scoring.tables.table import Table
from scoring.tables.xlsx import as_xlsx


def paper_tables(table: Comparison) -> list[Table]:
    """As in a paper: the answer, people with every annotator, systems, full supervision, how long
    people took; without empty ones."""
    shots = shots_of_people(table.rows)
    papers = [
        replace(overview(table, shots), is_short=True),
        *annotators_by_shots([*table.rows, *table.consensus], table.task_names),
        *system_tables(table.figures, table.bounds, names=table.task_names),
        *supervision_table(table.figures, shots, table.task_names),
    ]
    basis = "; ".join(
        [
            f"reference policy {table.references or 'of each task'}",
            f"normalisation {table.normalisation}",
            *([f"gold version {table.gold_version}"] if table.gold_version else []),
        ]
    )
    times = time_table(table.rows).with_names("task", table.task_names)
    scores = [
        replace(paper, note=f"{_shown(paper, table)}; {basis}. {table.warning}".rstrip())
        for paper in papers
        if paper.lines
    ]
    return [*scores, times] if times.lines else scores


def further_tables(table: Comparison) -> list[Table]:
    """What a reader computes with rather than prints."""
    further = [interval_table(table.rows), annotator_table(table.rows)]
    return [part.with_names("task", table.task_names) for part in further if part.lines]


def _shown(paper: Table, table: Comparison) -> str:
    """What stands in its cells."""
    cells = [line.cell(column) for line in paper.lines for column in paper.columns]
    sd = " (SD)" * any(cell.sd is not None for cell in cells)
    has_interval = any(cell.low is not None and cell.high is not None for cell in cells)
    interval = f" [{_interval(table)}]" * has_interval
    sizes = ", n people or r runs on m clusters of items" * any(cell.size for cell in cells)
    distance = ", beside a published figure its distance from people"
    return f"S1 in percent, mean{sd}{interval}{sizes}" + distance * any(
        cell.distance is not None for cell in cells
    )


def _interval(table: Comparison) -> str:
    """What the intervals of its cells are."""
    two = "; of two people the guard band" * any(row.ci_method == GUARD for row in table.rows)
    consensus = "; of a consensus for these people" * bool(table.consensus)
    return f"95 % interval for {table.estimand}{two}{consensus}"


def _csv(table: Comparison) -> str:
    return as_csv(judged_row_table(table))


def _json(table: Comparison) -> str:
    facts = {
        "benchmark": table.benchmark,
        "references": table.references,
        "interim": ", ".join(table.interim) or None,
    }
    return as_json(
        [row_table("rows", table.rows), finding_table([*table.average_tests, *table.tests])], facts
    )


def _latex(table: Comparison) -> str:
    return as_latex(paper_tables(table), comment=table.provenance)


def _markdown(table: Comparison) -> str:
    parts: Iterable[str] = (
        f"# Comparison: {escaped_markdown(table.study or table.benchmark)}",
        f"Benchmark: {escaped_markdown(table.benchmark)}. {table.provenance}",
        as_markdown([*paper_tables(table), *further_tables(table)]),
    )
    return "\n\n".join(parts)


def _xlsx(table: Comparison) -> bytes:
    """Sheets to read, one for each question; behind them every row as it is."""
    raw = [row_table("comparison", table.rows), row_table("consensus", table.consensus)]
    filled = [part for part in raw if part.lines or part.name == "comparison"]
    to_read = [*paper_tables(table), verdict_table(table), annotator_table(table.rows)]
    return as_xlsx(
        [*filled, columns_table(table.provenance)],
        to_read=[part.with_names("task", table.task_names) for part in to_read if part.lines],
    )


FORMATS: dict[str, Format[Comparison]] = formats(
    {"csv": _csv, "json": _json, "latex": _latex, "markdown": _markdown, "xlsx": _xlsx}
)
