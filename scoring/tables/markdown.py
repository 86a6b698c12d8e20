"""Markdown: the paper's tables, then every annotator."""

from collections.abc import Iterable, Sequence

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.grid import Grid, people_grid, rounded, system_grids
from scoring.comparison.interval_lines import HEADS, TITLE, interval_lines
from scoring.comparison.sheets import Sheet


def as_markdown(table: ComparisonTable) -> str:
    parts = [f"# Comparison: {_safe(table.study or table.benchmark)}", _reading_line(table)]
    for grid in [people_grid(table.figures), *system_grids(table.figures, table.bounds)]:
        if grid.lines:
            parts += [f"## {_safe(grid.title)}", _grid(grid)]
            parts += [f"{mark} {note}" for mark, note in grid.notes.items()]
    if intervals := interval_lines(table.rows):
        parts += [f"## {TITLE}", _lines(HEADS, intervals)]
    if annotators := [row for row in table.rows if row.single]:
        head = ["Study", "Annotator", "Task", "Shots", "Split", "Mean", "SD over items", "Items"]
        lines = [
            [r.study, r.system, r.task, r.shots, r.split, rounded(r.mean), rounded(r.sd), r.n]
            for r in annotators
        ]
        parts += ["## Annotators", _lines(head, lines)]
    parts.append(table.provenance)
    return "\n\n".join(parts) + "\n"


def sheets_as_markdown(sheets: Sequence[Sheet]) -> str:
    parts: list[str] = []
    for sheet in sheets:
        heads = [column.heading for column in sheet.columns]
        lines = [[text for _, text in line] for line in sheet.lines]
        parts += [f"## {_safe(sheet.title)}", _safe(sheet.note), _lines(heads, lines)]
    return "\n\n".join(parts) + "\n"


def _reading_line(table: ComparisonTable) -> str:
    policy = table.references or "each task's own"
    return (
        f"S1 in percent: mean (SD) [95 % interval]. Interval for {table.estimand}; "
        f"reference policy: {policy}; normalisation: {_safe(table.normalisation)}. "
        f"Benchmark: {_safe(table.benchmark)}."
    )


def _grid(grid: Grid) -> str:
    head = [
        "",
        "",
        *(
            " ".join(filter(None, [column.task, column.shots, grid.policy_of(column)]))
            for column in grid.columns
        ),
    ]
    lines = [
        [
            f"{line.name} [{line.note}]" if line.note else line.name,
            line.method,
            *(cell.text if cell else "" for cell in line.cells),
        ]
        for line in grid.lines
    ]
    return _lines(head, lines)


def _lines(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    texts = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(_safe, line))} |" for line in texts)


def _safe(value: object) -> str:
    text = "" if value is None else str(value)
    for sign in "\\|*_`<[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())
