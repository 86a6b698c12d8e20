"""The admin's index, grouped by what people do there; the front page is where studies are run."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.admin import AdminSite
from django.contrib.admin.views.main import SEARCH_VAR
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import reverse

from config.health import troubles

View = TypeVar("View", bound=Callable[..., HttpResponseBase])
# What everybody uses who runs studies, by the names of the models.
GROUPS = (
    ("studies", "Run a study", ("study", "batch", "channel")),
    ("benchmarks", "Measure with a benchmark", ("benchmark", "task", "itemset", "example")),
    ("people", "Look at people's work", ("assignment", "annotator", "judgement", "comment")),
    (
        "systems",
        "Compare with systems",
        ("run", "reportedscore", "boarddecision", "leaderboard"),
    ),
)


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
    index_title = "Set up"
    site_url = "/"

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        admin_view = super().admin_view(view, cacheable)

        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if sentence := problem_of(request.GET):
                return render(request, "400.html", {"sentence": sentence}, status=400)
            return admin_view(request, *args, **kwargs)

        return cast(View, checked)

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """With what of the installation does not do its part."""
        return super().index(request, {**(extra_context or {}), "troubles": troubles()})

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """Accounts, tokens, sign-ins and jobs are listed for superusers alone, below the rest."""
        apps = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        models = {model["model"]._meta.model_name: model for app in apps for model in app["models"]}
        groups = [
            self._group(label, name, [models.pop(key) for key in keys if key in models])
            for label, name, keys in GROUPS
        ]
        user = request.user
        if user.is_active and getattr(user, "is_superuser", False):
            groups.append(self._group("rest", "Keep the installation", list(models.values())))
        return [group for group in groups if group["models"]]

    def _group(self, label: str, name: Any, models: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "name": name,
            "app_label": label,
            "app_url": reverse("admin:index", current_app=self.name),
            "has_module_perms": True,
            "models": models,
        }
