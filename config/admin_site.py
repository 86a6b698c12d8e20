"""The admin: lists for whoever keeps the installation, and the pages that others are led to."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.views.main import SEARCH_VAR
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from config.health import troubles

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
# Of the filters that addresses may name, those that go through all rows, or through one text for
# ever: a regular expression of somebody's own may never end.
CLOSED = {
    *("regex", "iregex", "contains", "icontains", "startswith", "istartswith", "endswith"),
    *("iendswith", "iexact", "search"),
}
MOST_WORDS = 20


def problem_of(query: QueryDict) -> str:
    """Why a list is not shown with these filters; empty if it is."""
    if closed := [name for name in query if {*name.split("__")[1:]} & CLOSED]:
        return f"Lists are not filtered by “{closed[0]}”: name the whole value, or a range."
    if any(len(words.split()) > MOST_WORDS for words in query.getlist(SEARCH_VAR)):
        return f"A search takes at most {MOST_WORDS} words: leave some out."
    return ""


class ResearchersSite(AdminSite):
    site_header = "Baseliner"
    site_title = "Baseliner"
    index_title = "Installation"
    site_url = "/"

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        admin_view = super().admin_view(view, cacheable)

        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if sentence := problem_of(request.GET):
                return render(request, "400.html", {"sentence": sentence}, status=400)
            return admin_view(request, *args, **kwargs)

        return cast(View, checked)

    def index(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The first page of whoever keeps the installation: all lists, and what of it does not do
        its part."""
        if not request.user.is_superuser:
            return redirect("annotation:home")
        return super().index(request, {**(extra_context or {}), "troubles": troubles()})

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """The menu of all lists is for whoever keeps the installation."""
        return {
            **super().each_context(request),
            "is_nav_sidebar_enabled": getattr(request.user, "is_superuser", False),
        }
