"""LaTeX with booktabs: a short table in one piece, a longer one over as many pages as it takes."""

from collections.abc import Iterable, Sequence

from scoring.tables.table import LaidCell, Layout, Table, in_one_line, laid_out

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
    "−": "$-$",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
    "≈": r"$\approx$",
}


def as_latex(tables: Sequence[Table], *, comment: str = "") -> str:
    comments = [f"% {in_one_line(comment)}"] if comment else []
    parts = [NEEDS, *comments, *map(latex_table, tables)]
    return "\n\n".join(parts) + "\n"


def latex_table(table: Table) -> str:
    layout = laid_out(table)
    return _in_one_piece(layout) if layout.table.is_short else _over_pages(layout)


def escaped(value: object) -> str:
    """Text that LaTeX sets literally."""
    return "".join(SIGNS.get(sign, sign) for sign in in_one_line(value))


def _in_one_piece(layout: Layout) -> str:
    # A wide one spans both columns of a page.
    kind = "table*" if layout.table.has_groups else "table"
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            # The caption stands above, where LaTeX's own space is beneath it.
            r"\centering\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{4pt}",
            rf"\caption{{{escaped(layout.table.caption)}}}",
            # No wider than the page, and never blown up to it.
            r"\footnotesize\setlength{\tabcolsep}{4pt}\sbox0{%",
            rf"\begin{{tabular}}{{{_letters(layout)}}}",
            r"\toprule",
            *_head(layout),
            r"\midrule",
            *_body(layout),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
            *_notes(layout),
            rf"\end{{{kind}}}",
        ]
    )


def _over_pages(layout: Layout) -> str:
    return "\n".join(
        [
            r"{\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{_letters(layout)}}}",
            rf"\caption{{{escaped(layout.table.caption)}}}\\",
            r"\toprule",
            *_head(layout),
            r"\midrule",
            r"\endhead",
            *_body(layout),
            r"\bottomrule",
            r"\end{longtable}}",
            *_notes(layout),
        ]
    )


def _letters(layout: Layout) -> str:
    return "".join("r" if column.is_number else "l" for column in layout.columns)


def _notes(layout: Layout) -> list[str]:
    """All in one paragraph."""
    notes = r" \quad ".join(map(escaped, layout.notes))
    return [rf"\par\smallskip\footnotesize {notes}"] if notes else []


def _head(layout: Layout) -> list[str]:
    """Heads over several columns, and the columns' own, if any."""
    columns = layout.columns
    if not layout.heads:
        return [_line(escaped(column.group or column.heading) for column in columns)]
    texts, rules, first = [], [], 1
    for text, span in layout.heads:
        last = first + span - 1
        if text:
            texts.append(rf"\multicolumn{{{span}}}{{c}}{{{escaped(text)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        else:
            texts.append("")
        first = last + 1
    return [_line(texts), " ".join(rules), _line(escaped(column.heading) for column in columns)]


def _body(layout: Layout) -> Iterable[str]:
    """Short tables have space between their lines."""
    previous: str | None = None
    for kind, cells in layout.lines:
        if previous is not None and kind != previous:
            yield r"\midrule"
        elif previous is not None and layout.table.is_short and layout.table.has_groups:
            yield r"\addlinespace[2pt]"
        previous = kind
        yield _line(map(_cell, cells))


def _cell(cell: LaidCell) -> str:
    """Mean and SD, beneath them the interval and what they rest on."""
    figure = escaped(cell.figure + cell.marks)
    beneath = [escaped(text) for text in (cell.interval, cell.size) if text]
    if not beneath:
        return figure
    stacked = r" \\ {}".join([figure, *beneath])
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{stacked}\end{{tabular}}"


def _line(texts: Iterable[str]) -> str:
    first, *others = texts
    # A bracket right after the end of a line would be read as its spacing.
    return " & ".join(["{}" + first if first.startswith("[") else first, *others]) + r" \\"
