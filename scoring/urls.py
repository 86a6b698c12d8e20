from django.urls import include, path, register_converter

from scoring.planning.building_views import builder, remove_batches
from scoring.report.rehearsal_views import discard, rehearsal, rehearsals


class ScopeConverter:
    """What a comparison is of: a study or a benchmark."""

    regex = "studies|benchmarks"

    def to_python(self, value: str) -> str:
        return {"studies": "study", "benchmarks": "benchmark"}[value]

    def to_url(self, value: str) -> str:
        return {"study": "studies", "benchmark": "benchmarks"}[value]


register_converter(ScopeConverter, "scope")

app_name = "scoring"
urlpatterns = [
    path("<scope:scope>/<slug:name>/comparison/", include("scoring.comparison.urls")),
    path("<scope:scope>/<slug:name>/comparison/", include("scoring.figures.urls")),
    path("benchmarks/<slug:name>/leaderboard/", include("scoring.leaderboard.urls")),
    path("studies/<slug:slug>/batches/", builder, name="builder"),
    path("studies/<slug:slug>/batches/delete/", remove_batches, name="remove_batches"),
    path("studies/<slug:slug>/rehearsals/", rehearsals, name="rehearsals"),
    path("rehearsals/<slug:slug>/", rehearsal, name="rehearsal"),
    path("rehearsals/<slug:slug>/discard/", discard, name="discard_rehearsal"),
    path("studies/<slug:name>/report/", include("scoring.report.urls")),
    path("<scope:scope>/<slug:name>/every-eval-ever/", include("scoring.samples.urls")),
    path("benchmarks/<slug:name>/episodes/", include("scoring.episodes.urls")),
    path("", include("scoring.bundle.urls")),
    path("plan/", include("scoring.planning.urls")),
    path("", include("scoring.runs.api")),
]
