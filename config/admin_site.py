"""The admin's index, grouped by what people do there; the front page is where studies are run."""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

from config.health import troubles

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


class ResearchersSite(AdminSite):
    site_header = "Baseliner"
    site_title = "Baseliner"
    index_title = "Set up"
    site_url = "/"

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
