from django.urls import include, path, register_converter

from scoring.bundle import views as bundles
from scoring.episodes.views import episodes, episodes_export
from scoring.planning.views import draft_plan, plan, plan_document
from scoring.report.views import report_export, study_report
from scoring.samples.views import samples
from scoring.studies.views import builder, discard, rehearsal, rehearsals, remove_batches


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
    path("<scope:scope>/<slug:name>/comparison/", include("scoring.analysis.urls")),
    path("<scope:scope>/<slug:name>/comparison/", include("scoring.figures.urls")),
    path("benchmarks/<slug:name>/leaderboard/", include("scoring.leaderboard.urls")),
    path("studies/<slug:slug>/batches/", builder, name="builder"),
    path("studies/<slug:slug>/batches/delete/", remove_batches, name="remove_batches"),
    path("studies/<slug:slug>/rehearsals/", rehearsals, name="rehearsals"),
    path("rehearsals/<slug:slug>/", rehearsal, name="rehearsal"),
    path("rehearsals/<slug:slug>/discard/", discard, name="discard_rehearsal"),
    path("studies/<slug:name>/report/", study_report, name="report"),
    path(
        "studies/<slug:name>/report/<slug:part>/<slug:form>/", report_export, name="report_export"
    ),
    path("<scope:scope>/<slug:name>/every-eval-ever/", samples, name="samples"),
    path("benchmarks/<slug:name>/episodes/", episodes, name="episodes"),
    path(
        "benchmarks/<slug:name>/episodes/export/<slug:table>/<slug:form>/",
        episodes_export,
        name="episodes_export",
    ),
    path("studies/<slug:name>/bundle/", bundles.bundle, name="bundle"),
    path("imported/", bundles.imported_studies, name="imported_studies"),
    path("imported/<int:pk>/", bundles.imported_study, name="imported_study"),
    path("plan/", plan, name="plan"),
    path("plan/document/", plan_document, name="plan_document"),
    path("plan/draft/", draft_plan, name="draft_plan"),
    path("", include("scoring.runs.api")),
]
