"""A comparison or its analysis as a document: one writer for each format, by its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.utils import translation

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.sheets import Sheet
from scoring.tables.latex import as_latex, sheets_as_latex
from scoring.tables.long import as_csv, as_json, sheet_as_csv, sheets_as_json
from scoring.tables.markdown import as_markdown, sheets_as_markdown
from scoring.tables.xlsx import as_xlsx, sheets_as_xlsx

T = TypeVar("T")


@dataclass(frozen=True)
class Format(Generic[T]):
    write: Callable[[T], bytes]
    content_type: str
    extension: str
    # Of an analysis: whether one document holds several tables.
    several: bool = True


def _in_english(write: Callable[[T], bytes | str]) -> Callable[[T], bytes]:
    """A document goes into a paper, whatever language its page was read in."""

    def written(content: T) -> bytes:
        with translation.override("en"):
            document = write(content)
        return document.encode() if isinstance(document, str) else document

    return written


CSV = ("text/csv; charset=utf-8", "csv")
JSON = ("application/json", "json")
LATEX = ("application/x-tex; charset=utf-8", "tex")
MARKDOWN = ("text/markdown; charset=utf-8", "md")
XLSX = ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx")

FORMATS: dict[str, Format[ComparisonTable]] = {
    "csv": Format(_in_english(as_csv), *CSV),
    "json": Format(_in_english(as_json), *JSON),
    "latex": Format(_in_english(as_latex), *LATEX),
    "markdown": Format(_in_english(as_markdown), *MARKDOWN),
    "xlsx": Format(_in_english(as_xlsx), *XLSX),
}
SHEET_FORMATS: dict[str, Format[Sequence[Sheet]]] = {
    "csv": Format(_in_english(sheet_as_csv), *CSV, several=False),
    "json": Format(_in_english(sheets_as_json), *JSON),
    "latex": Format(_in_english(sheets_as_latex), *LATEX),
    "markdown": Format(_in_english(sheets_as_markdown), *MARKDOWN),
    "xlsx": Format(_in_english(sheets_as_xlsx), *XLSX),
}
