"""Tables as a document: a writer for each format, by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.utils import translation

from scoring.tables.flat import as_csv, as_json
from scoring.tables.latex import as_latex
from scoring.tables.markdown import as_markdown
from scoring.tables.table import Table
from scoring.tables.xlsx import as_xlsx, meanings

ALL = "all"
TYPES = {
    "csv": ("text/csv; charset=utf-8", "csv"),
    "json": ("application/json", "json"),
    "latex": ("application/x-tex; charset=utf-8", "tex"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
}
T = TypeVar("T")


@dataclass(frozen=True)
class Format(Generic[T]):
    writer: Callable[[T], bytes | str]
    content_type: str
    extension: str
    # Whether one document holds several tables.
    several: bool

    def write(self, content: T) -> bytes:
        """A document goes into a paper, whatever language the page was in."""
        with translation.override("en"):
            document = self.writer(content)
        return document.encode() if isinstance(document, str) else document


def formats(writers: dict[str, Callable[[T], bytes | str]]) -> dict[str, Format[T]]:
    return {
        name: Format(writer, *TYPES[name], several=name != "csv")
        for name, writer in writers.items()
    }


def _csv(tables: Sequence[Table]) -> str:
    [table] = tables
    return as_csv(table)


FORMATS: dict[str, Format[Sequence[Table]]] = formats(
    {
        "csv": _csv,
        "json": as_json,
        "latex": as_latex,
        "markdown": as_markdown,
        "xlsx": lambda tables: as_xlsx([*tables, meanings(tables)]),
    }
)


def chosen(tables: Sequence[Table], name: str, form: str) -> list[Table]:
    """The named table, or all of them; none if a document of this format cannot hold them."""
    those = [table for table in tables if name in (table.name, ALL)]
    if form not in FORMATS or (len(those) > 1 and not FORMATS[form].several):
        return []
    return those
