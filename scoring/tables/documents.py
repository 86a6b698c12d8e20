"""Tables as documents: CSV and JSON, which have every value as it is; Markdown and plain text for
reading; LaTeX with booktabs, a short table in one piece, a longer one over as many pages as it
takes. Workbooks have a module of their own."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import groupby
from math import ceil
from textwrap import fill
from typing import Any, Generic, TypeVar

from scoring.tables.table import SECTION, UNSEEN, Column, Table
from scoring.tables.xlsx import as_xlsx, meanings

NEEDS_BOOKTABS = r"% Needs \usepackage{booktabs}."
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
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "²": r"\textsuperscript{2}",
    "−": "$-$",
    "▲": r"$\Uparrow$",
    "△": r"$\uparrow$",
    "▼": r"$\Downarrow$",
    "▽": r"$\downarrow$",
    "≈": r"$\approx$",
}


def as_latex(tables: Sequence[Table], *, comment: str = "") -> str:
    return _latex_document(NEEDS, map(latex_table, tables), comment)


# In points: the width of a page of two columns, of one of them, of a table's sign, and of the space
# between its columns.
PAGE, ONE_COLUMN, SIGN, GAP = 505.0, 240.0, 3.7, 4.0


def as_plain_latex(table: Table, *, comment: str = "") -> str:
    """One table that needs booktabs alone: it is not made smaller to fit. What a page has no room
    for stands in panels, one beneath the other."""
    names = [column for column in table.columns if not column.is_number]
    figures = [column for column in table.columns if column.is_number]
    room = PAGE - _width(table, names)
    fit = max(1, int(room / max([_width(table, [column]) for column in figures], default=room)))
    panels = ceil(len(figures) / fit) or 1
    size = ceil(len(figures) / panels) or 1
    beneath = (figures[first : first + size] for first in range(0, len(figures) or 1, size))
    tables = [replace(table, columns=(*names, *group)) for group in beneath]
    return _latex_document(NEEDS_BOOKTABS, [_in_one_piece(*tables, is_plain=True)], comment)


def _width(table: Table, columns: Sequence[Column]) -> float:
    """The width in points, by the longest text of each column."""
    longest = {column: len(table.group_of(column) or column.full_heading) for column in columns}
    for line in table.read:
        for read in () if line.is_section else line.cells:
            if read.column in longest:
                figure, *beneath = map(len, read.stacked)
                # Smaller than the figure.
                widest = max(figure, *(0.8 * length for length in beneath))
                longest[read.column] = max(longest[read.column], ceil(widest))
    return sum(SIGN * length + GAP for length in longest.values())


def _latex_document(needs: str, tables: Iterable[str], comment: str) -> str:
    comments = [f"% {escaped(comment)}"] if comment else []
    return "\n\n".join([needs, *comments, *tables]) + "\n"


def latex_table(table: Table) -> str:
    table = table.with_asides()
    return _in_one_piece(table) if table.is_short else _over_pages(table)


def in_one_line(value: object) -> str:
    """A text as it may stand in a document beside others."""
    return UNSEEN.sub("", " ".join(str(value).split()))


def escaped(value: object) -> str:
    return "".join(SIGNS.get(sign, sign) for sign in in_one_line(value))


def _in_one_piece(*panels: Table, is_plain: bool = False) -> str:
    table = panels[0]
    is_wide = any(_width(panel, panel.columns) > ONE_COLUMN for panel in panels)
    # Such a one spans both columns of a page.
    kind = "table*" if is_wide else "table"
    size, space = (r"\scriptsize", "2pt") if is_plain else (r"\footnotesize", "4pt")
    # No wider than the page, and never blown up to it.
    box, end = ("", "") if is_plain else (r"\sbox0{%", "}")
    fitted = r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi"
    return "\n".join(
        [
            rf"\begin{{{kind}}}",
            # The caption stands above, where LaTeX's own space is beneath it.
            r"\centering\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{4pt}",
            rf"\caption{{{escaped(table.caption)}}}",
            rf"{size}\setlength{{\tabcolsep}}{{{space}}}{box}",
            "\n\\par\\medskip\n".join(_set_as("tabular", panel) for panel in panels) + end,
            *([] if is_plain else [fitted]),
            *_notes(table),
            rf"\end{{{kind}}}",
        ]
    )


def _over_pages(table: Table) -> str:
    size = r"{\scriptsize\setlength{\tabcolsep}{3pt}"
    caption = rf"\caption{{{escaped(table.caption)}}}\\"
    long = _set_as("longtable", table, above=[caption], after_head=[r"\endhead"])
    return "\n".join([size, long + "}", *_notes(table)])


def _set_as(
    kind: str, table: Table, *, above: Sequence[str] = (), after_head: Sequence[str] = ()
) -> str:
    return "\n".join(
        [
            rf"\begin{{{kind}}}{{{''.join(map(_letter, table.columns))}}}",
            *(*above, r"\toprule", *_head(table), r"\midrule", *after_head),
            *(*_body(table), r"\bottomrule", rf"\end{{{kind}}}"),
        ]
    )


def _letter(column: Column) -> str:
    return "r" if column.is_number else "l"


def _notes(table: Table) -> list[str]:
    notes = r" \quad ".join(map(escaped, table.remarks))
    return [rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {notes}}}"] if notes else []


def _head(table: Table) -> list[str]:
    if not table.has_two_heads:
        return [_set(escaped(table.group_of(c) or c.full_heading) for c in table.columns)]
    texts, rules, first = [], [], 1
    for group, columns in table.heads:
        last = first + len(columns) - 1
        if group:
            name = escaped(table.group_of(columns[0]))
            texts.append(rf"\multicolumn{{{len(columns)}}}{{c}}{{{name}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
        else:
            texts.append("")
        first = last + 1
    headings = _set(escaped(column.full_heading) for column in table.columns)
    return [_set(texts), " ".join(rules), headings]


def _body(table: Table) -> Iterable[str]:
    """Short tables have space between their lines; what stands beneath figures is smaller."""
    previous: str | None = None
    for line in table.read:
        if previous not in (None, SECTION, line.kind):
            yield r"\midrule"
        elif previous == line.kind and table.is_short and table.has_groups:
            yield r"\addlinespace[2pt]"
        previous = line.kind
        if line.is_section:
            heading = escaped(line.cells[0].text)
            yield rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\emph{{{heading}}}}} \\"
            continue
        figures, *beneath = zip(*(read.stacked for read in line.cells), strict=True)
        yield _set(map(escaped, figures))
        for texts in filter(any, beneath):
            yield _set(rf"{{\tiny {escaped(text)}}}" if text else "" for text in texts)


def _set(texts: Iterable[str]) -> str:
    first, *rest = texts
    # A bracket right after the end of a line would be read as its spacing.
    return " & ".join(["{}" + first if first.startswith("[") else first, *rest]) + r" \\"


ALL = "all"
TYPES = {
    "csv": ("text/csv; charset=utf-8", "csv"),
    "json": ("application/json", "json"),
    "latex": ("application/x-tex; charset=utf-8", "tex"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
}
# A spreadsheet takes a cell that begins so for a formula; the apostrophe keeps the rule reversible.
FORMULA_SIGNS = ("=", "@", "+", "-", "\t", "\r", "'")
# An ampersand means something where a name or a number and a semicolon follow.
MARKDOWN_SIGNS = re.compile(r"[\\|*_`<\[#~]|&(?=#?\w+;)")
# Quotations, lists, the line beneath a heading; a number makes a list by the sign behind it.
BEGINNINGS = re.compile(r"^(\d*)([-+=>.)])")
T = TypeVar("T")


def as_cell(value: object) -> object:
    """One apostrophe before what a spreadsheet would compute."""
    is_formula = isinstance(value, str) and value.startswith(FORMULA_SIGNS)
    return f"'{value}" if is_formula else value


def from_cell(text: str) -> str:
    """The text that `as_cell` was given."""
    is_marked = text.startswith("'") and text[1:].startswith(FORMULA_SIGNS)
    return text[1:] if is_marked else text


def csv_line(values: Iterable[object], *, end: str = "\n") -> str:
    line = StringIO()
    csv.writer(line, lineterminator=end).writerow(map(as_cell, values))
    return line.getvalue()


def as_csv(table: Table) -> str:
    lines = [table.keys, *(record.values() for record in table.records)]
    return "".join(map(csv_line, lines))


def as_json(tables: Sequence[Table], facts: Mapping[str, Any] | None = None) -> str:
    """The tables by name, after facts about all of them."""
    document = {**(facts or {}), **{table.name: table.records for table in tables}}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_markdown(tables: Sequence[Table]) -> str:
    return "\n\n".join(part for table in tables for part in _markdown_parts(table)) + "\n"


def escaped_markdown(value: object) -> str:
    """Text that stays literal and within its cell."""
    return MARKDOWN_SIGNS.sub(r"\\\g<0>", in_one_line(value))


def beginning(value: object) -> str:
    """The same where a line begins, at which more signs mean something."""
    return BEGINNINGS.sub(r"\1\\\2", escaped_markdown(value))


def _markdown_parts(table: Table) -> Iterable[str]:
    table = table.with_asides()
    yield f"## {escaped_markdown(table.title)}"
    if table.note:
        yield beginning(table.note)
    heads = (" ".join(filter(None, [table.group_of(c), c.full_heading])) for c in table.columns)
    lines = [heads, *([cell.in_one_line for cell in line.cells] for line in table.read)]
    head, *rows = (f"| {' | '.join(map(escaped_markdown, texts))} |" for texts in lines)
    yield "\n".join([head, f"|{' --- |' * len(table.columns)}", *rows])
    yield from map(beginning, table.remarks)


def as_text(table: Table, *, width: int = 88) -> str:
    table = table.with_asides()
    heads = [column.full_heading for column in table.columns]
    # A line stays a line.
    read = table.read
    lines = [(line.kind, [in_one_line(cell.in_one_line) for cell in line.cells]) for line in read]
    widths = [max(map(len, texts)) for texts in zip(heads, *(t for _, t in lines), strict=True)]
    rule = "  ".join("-" * width for width in widths)
    parts = [fill(table.caption, width), "", _text_line(table.columns, heads, widths)]
    for _, same in groupby(lines, key=lambda line: line[0]):
        parts += [rule, *(_text_line(table.columns, texts, widths) for _, texts in same)]
    return "\n".join(parts)


def _text_line(columns: Iterable[Column], texts: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(
        text.rjust(width) if column.is_number else text.ljust(width)
        for column, text, width in zip(columns, texts, widths, strict=True)
    ).rstrip()


@dataclass(frozen=True)
class Format(Generic[T]):
    name: str
    writer: Callable[[T], bytes | str]

    @property
    def content_type(self) -> str:
        return TYPES[self.name][0]

    @property
    def extension(self) -> str:
        return TYPES[self.name][1]

    @property
    def several(self) -> bool:
        """Whether one document holds several tables."""
        return self.name != "csv"

    def write(self, content: T) -> bytes:
        document = self.writer(content)
        return document.encode() if isinstance(document, str) else document


def _workbook(tables: Sequence[Table]) -> bytes:
    return as_xlsx([*tables, meanings(tables)])


FORMATS: dict[str, Format[Sequence[Table]]] = {
    "csv": Format("csv", lambda tables: as_csv(*tables)),
    "json": Format("json", as_json),
    "latex": Format("latex", as_latex),
    "markdown": Format("markdown", as_markdown),
    "xlsx": Format("xlsx", _workbook),
}


def chosen(tables: Sequence[Table], name: str, form: str) -> list[Table]:
    """The named table, or all of them; none if a document of this format cannot hold them."""
    named = [table for table in tables if name in (table.name, ALL)]
    if form not in FORMATS or (len(named) > 1 and not FORMATS[form].several):
        return []
    return named
