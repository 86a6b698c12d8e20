"""LaTeX with booktabs: the paper's tables, then every annotator as a long table."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.grid import Column, Grid, GridCell, people_grid, rounded, system_grids
from scoring.comparison.interval_lines import HEADS, LETTERS, TITLE, interval_lines
from scoring.comparison.sheets import Sheet

NEEDS = r"% Needs \usepackage{booktabs,graphicx,longtable,textcomp}."
SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "†": r"\textsuperscript{\textdagger}",
    "‡": r"\textsuperscript{\textdaggerdbl}",
    "§": r"\textsuperscript{\textsection}",
    "¶": r"\textsuperscript{\textparagraph}",
    "‖": r"\textsuperscript{\textbardbl}",
    "–": "--",
    "√": r"$\surd$",
    "Σ": r"$\Sigma$",
    "α": r"$\alpha$",
    "²": r"\textsuperscript{2}",
}


def as_latex(table: ComparisonTable) -> str:
    grids = [people_grid(table.figures), *system_grids(table.figures, table.bounds)]
    parts = [NEEDS, f"% {table.provenance}", *(_table(grid, table) for grid in grids if grid.lines)]
    if intervals := interval_lines(table.rows):
        parts.append(_long_table(f"{TITLE}.", LETTERS, HEADS, intervals))
    if annotators := [row for row in table.rows if row.single]:
        head = ["Study", "Annotator", "Task", "Shots", "Split", "Mean", "SD", "Items"]
        lines = [
            [r.study, r.system, r.task, r.shots, r.split, rounded(r.mean), rounded(r.sd), r.n]
            for r in annotators
        ]
        caption = "Annotators: mean and SD of S1 over the items, in percent."
        parts.append(_long_table(caption, "lllrrrrr", head, lines))
    return "\n\n".join(parts) + "\n"


def sheets_as_latex(sheets: Sequence[Sheet]) -> str:
    parts = [NEEDS]
    for sheet in sheets:
        letters = "".join("r" if column.is_number else "l" for column in sheet.columns)
        heads = [column.heading for column in sheet.columns]
        lines = [[text for _, text in line] for line in sheet.lines]
        parts.append(_long_table(f"{sheet.title}. {sheet.note}", letters, heads, lines))
    return "\n\n".join(parts) + "\n"


def escaped(value: object) -> str:
    """Text that LaTeX sets as it stands."""
    text = "" if value is None else str(value)
    return "".join(SIGNS.get(sign, sign) for sign in text)


def _table(grid: Grid, table: ComparisonTable) -> str:
    lines: list[str] = []
    previous = grid.lines[0].kind
    for line in grid.lines:
        if line.kind != previous:
            lines.append(r"\midrule")
        elif lines:
            lines.append(r"\addlinespace[2pt]")
        previous = line.kind
        name = f"{line.name} [{line.note}]" if line.note else line.name
        lines.append(_line([escaped(name), escaped(line.method), *map(_cell, line.cells)]))
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            r"\caption{" + escaped(_caption(grid, table)) + "}",
            r"\resizebox{\textwidth}{!}{%",
            r"\begin{tabular}{ll" + "r" * len(grid.columns) + "}",
            r"\toprule",
            *_head(grid),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            *(rf"\par\footnotesize {escaped(f'{m} {note}')}" for m, note in grid.notes.items()),
            r"\end{table*}",
        ]
    )


def _head(grid: Grid) -> list[str]:
    """The tasks, each over its numbers of shots."""
    names = [_task(grid, column) for column in grid.columns]
    if not grid.has_shots:
        return [_line(["", "", *map(escaped, names)])]
    tasks, rules, start = ["", ""], [], 3
    for name, columns in groupby(names):
        span = len(list(columns))
        tasks.append(rf"\multicolumn{{{span}}}{{c}}{{{escaped(name)}}}")
        rules.append(rf"\cmidrule(lr){{{start}-{start + span - 1}}}")
        start += span
    shots = _line(["", "Shots", *(escaped(column.shots) for column in grid.columns)])
    return [_line(tasks), " ".join(rules), shots]


def _task(grid: Grid, column: Column) -> str:
    policy = grid.policy_of(column)
    return f"{column.task} ({policy})" if policy else column.task


def _caption(grid: Grid, table: ComparisonTable) -> str:
    interval = f" [95 % interval for {table.estimand}]" if grid.has_intervals else ""
    policy = table.references or "of each task"
    return (
        f"{grid.title}: S1 in percent, mean (SD){interval}; reference policy {policy}; "
        f"normalisation {table.normalisation}."
    )


def _cell(cell: GridCell | None) -> str:
    """Mean and SD, the interval beneath."""
    if cell is None:
        return ""
    figure = escaped(f"{cell.mean} ({cell.sd})" if cell.sd else cell.mean) + escaped(cell.marks)
    if not cell.interval:
        return figure
    stacked = rf"{figure} \\ {{}}{escaped(cell.interval)}"
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{stacked}\end{{tabular}}"


def _long_table(
    caption: str, letters: str, head: Sequence[str], lines: Iterable[Sequence[object]]
) -> str:
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{letters}}}",
            rf"\caption{{{escaped(caption)}}}\\",
            r"\toprule",
            _line(map(escaped, head)),
            r"\midrule",
            r"\endhead",
            *(_line(map(escaped, line)) for line in lines),
            r"\bottomrule",
            r"\end{longtable}}",
        ]
    )


def _line(texts: Iterable[str]) -> str:
    first, *others = texts
    # A bracket right after the end of a line would be read as its spacing.
    return " & ".join(["{}" + first if first.startswith("[") else first, *others]) + r" \\"
