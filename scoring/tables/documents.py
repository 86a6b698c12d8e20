"""A comparison as a document: one writer for each format, chosen by its name."""

from collections.abc import Callable
from dataclasses import dataclass

from scoring.acts.comparing import ComparisonTable
from scoring.tables.latex import as_latex
from scoring.tables.long import as_csv, as_json
from scoring.tables.markdown import as_markdown
from scoring.tables.xlsx import as_xlsx


@dataclass(frozen=True)
class Format:
    write: Callable[[ComparisonTable], bytes]
    content_type: str
    extension: str


def _encoded(write: Callable[[ComparisonTable], str]) -> Callable[[ComparisonTable], bytes]:
    return lambda table: write(table).encode()


FORMATS = {
    "csv": Format(_encoded(as_csv), "text/csv; charset=utf-8", "csv"),
    "json": Format(_encoded(as_json), "application/json", "json"),
    "latex": Format(_encoded(as_latex), "application/x-tex; charset=utf-8", "tex"),
    "markdown": Format(_encoded(as_markdown), "text/markdown; charset=utf-8", "md"),
    "xlsx": Format(
        as_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"
    ),
}
