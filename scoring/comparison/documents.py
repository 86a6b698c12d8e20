"""A comparison as a document: all rows for computing, tables for reading."""

from collections.abc import Iterable
from dataclasses import replace

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.paper_tables import people_table, system_tables
from scoring.comparison.row_tables import (
    annotator_table,
    columns_table,
    interval_table,
    row_table,
)
from scoring.tables.documents import Format, formats
from scoring.tables.flat import as_csv, as_json
from scoring.tables.latex import as_latex
from scoring.tables.markdown import as_markdown, escaped
from scoring.tables.table import Table
from scoring.tables.xlsx import as_xlsx


def paper_tables(table: ComparisonTable) -> list[Table]:
    """As in a paper; without empty ones."""
    papers = [people_table(table.figures), *system_tables(table.figures, table.bounds)]
    further = [interval_table(table.rows), annotator_table(table.rows)]
    captioned = (replace(paper, note=_note(paper, table)) for paper in papers)
    return [each for each in (*captioned, *further) if each.lines]


def _note(paper: Table, table: ComparisonTable) -> str:
    has_interval = any(part.interval for line in paper.read for part in line.cells)
    interval = f" [95 % interval for {table.estimand}]" if has_interval else ""
    policy = table.references or "of each task"
    return f"S1 in percent, mean (SD){interval}; reference policy {policy}."


def _csv(table: ComparisonTable) -> str:
    return as_csv(row_table("comparison", table.rows))


def _json(table: ComparisonTable) -> str:
    facts = {"benchmark": table.benchmark, "references": table.references}
    return as_json([row_table("rows", table.rows)], facts)


def _latex(table: ComparisonTable) -> str:
    return as_latex(paper_tables(table), comment=table.provenance)


def _markdown(table: ComparisonTable) -> str:
    parts: Iterable[str] = (
        f"# Comparison: {escaped(table.study or table.benchmark)}",
        f"Benchmark: {escaped(table.benchmark)}. {table.provenance}",
        as_markdown(paper_tables(table)),
    )
    return "\n\n".join(parts)


def _xlsx(table: ComparisonTable) -> bytes:
    tables = [row_table("comparison", table.rows), row_table("consensus", table.consensus)]
    filled = [each for each in tables if each.lines or each.name == "comparison"]
    return as_xlsx([*filled, columns_table(table.provenance)])


FORMATS: dict[str, Format[ComparisonTable]] = formats(
    {"csv": _csv, "json": _json, "latex": _latex, "markdown": _markdown, "xlsx": _xlsx}
)
