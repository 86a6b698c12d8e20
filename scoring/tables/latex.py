"""LaTeX with booktabs: a short table in one piece, a longer one over as many pages as it takes."""

from collections.abc import Iterable, Sequence

from scoring.tables.table import ReadCell, Table

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


def as_latex(tables: Sequence[Table], *, comment: str = "") -> str:
    parts = [NEEDS, *([f"% {comment}"] if comment else []), *map(latex_table, tables)]
    return "\n\n".join(parts) + "\n"


def latex_table(table: Table) -> str:
    return _in_one_piece(table) if table.is_short else _over_pages(table)


def escaped(value: object) -> str:
    """Text that LaTeX sets literally."""
    return "".join(SIGNS.get(sign, sign) for sign in str(value))


def _in_one_piece(table: Table) -> str:
    # A wide one spans both columns of a page.
    kind = "table*" if table.has_groups else "table"
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            r"\centering",
            rf"\caption{{{escaped(table.caption)}}}",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{{_letters(table)}}}",
            r"\toprule",
            *_head(table),
            r"\midrule",
            *_body(table),
            r"\bottomrule",
            r"\end{tabular}}",
            *_notes(table),
            rf"\end{{{kind}}}",
        ]
    )


def _over_pages(table: Table) -> str:
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{_letters(table)}}}",
            rf"\caption{{{escaped(table.caption)}}}\\",
            r"\toprule",
            *_head(table),
            r"\midrule",
            r"\endhead",
            *_body(table),
            r"\bottomrule",
            r"\end{longtable}}",
            *_notes(table),
        ]
    )


def _letters(table: Table) -> str:
    return "".join("r" if column.is_number else "l" for column in table.spread_columns)


def _notes(table: Table) -> list[str]:
    return [rf"\par\footnotesize {escaped(f'{m} {note}')}" for m, note in table.notes.items()]


def _head(table: Table) -> list[str]:
    """Heads over several columns, and the columns' own, if any."""
    columns = table.spread_columns
    headings = _line(escaped(column.full_heading) for column in columns)
    if not table.has_groups:
        return [headings]
    if not table.has_two_heads:
        names = (table.group_name(each.group) if each.group else each.heading for each in columns)
        return [_line(map(escaped, names))]
    # The columns that documents split off come before the groups.
    place = 1 + len(columns) - len(table.columns)
    texts, rules = [""] * (place - 1), []
    for group, beneath in table.heads:
        name, end = table.group_name(group) if group else "", place + len(beneath) - 1
        texts.append(rf"\multicolumn{{{len(beneath)}}}{{c}}{{{escaped(name)}}}" if group else "")
        if group:
            rules.append(rf"\cmidrule(lr){{{place}-{end}}}")
        place = end + 1
    return [_line(texts), " ".join(rules), headings]


def _body(table: Table) -> Iterable[str]:
    """Short tables have space between their lines."""
    previous: str | None = None
    for kind, texts in table.spread_lines(_cell):
        if previous is not None and kind != previous:
            yield r"\midrule"
        elif previous is not None and table.is_short and table.has_groups:
            yield r"\addlinespace[2pt]"
        previous = kind
        yield _line(texts)


def _cell(part: ReadCell) -> str:
    """Mean and SD, the interval beneath."""
    figure = escaped(part.figure if part.column.is_number else part.noted)
    figure += escaped(part.cell.marks)
    if not part.interval:
        return figure
    stacked = rf"{figure} \\ {{}}{escaped(part.interval)}"
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{stacked}\end{{tabular}}"


def _line(texts: Iterable[str]) -> str:
    first, *others = texts
    # A bracket right after the end of a line would be read as its spacing.
    return " & ".join(["{}" + first if first.startswith("[") else first, *others]) + r" \\"
