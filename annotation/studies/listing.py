"""A long list of a study as its reader arranges it, a page at a time."""

from dataclasses import replace
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from scoring.tables.arranging import arranged
from scoring.tables.table import Table


def listing(request: HttpRequest, table: Table, *, per_page: int) -> dict[str, Any]:
    """What a template takes: the table with the lines of one page, and that page."""
    columns = request.GET.getlist(f"columns-{table.name}")
    whole = arranged(table, sort=request.GET.get("sort", ""), columns=columns)
    page = Paginator(whole.lines, per_page).get_page(request.GET.get("page"))
    return {"table": replace(whole, lines=tuple(page.object_list)), "page": page}
