from django.urls import include, path, register_converter

from scoring.analysis import item_views as items
from scoring.analysis import views as analyses
from scoring.bundle import views as bundles
from scoring.comparison import views as comparisons
from scoring.elsewhere.views import people
from scoring.episodes.views import episodes, episodes_export
from scoring.figures import views as figures
from scoring.leaderboard import views as leaderboards
from scoring.planning.views import draft_plan, plan, plan_document
from scoring.report.views import preregistration_export, report_export, study_report
from scoring.runs.views import add_system, blank_predictions, store_system, systems
from scoring.samples.views import samples
from scoring.studies.views import builder, discard, part, rehearsal, rehearsals, remove_batches


class ScopeConverter:
    """What a comparison is of: a study or a benchmark."""

    regex = "studies|benchmarks"

    def to_python(self, value: str) -> str:
        return {"studies": "study", "benchmarks": "benchmark"}[value]

    def to_url(self, value: str) -> str:
        return {"study": "studies", "benchmark": "benchmarks"}[value]


register_converter(ScopeConverter, "scope")

COMPARISON = [
    path("", comparisons.comparison, name="comparison"),
    path("order/", comparisons.order_comparison, name="order_comparison"),
    path("stop/", comparisons.stop_comparison, name="stop_comparison"),
    path("export/<slug:form>/", comparisons.comparison_export, name="comparison_export"),
    path("analysis/", analyses.analysis, name="analysis"),
    path("analysis/order/", analyses.order_analysis, name="order_analysis"),
    path("analysis/stop/", analyses.stop_analysis, name="stop_analysis"),
    path(
        "analysis/export/<slug:table>/<slug:form>/",
        analyses.analysis_export,
        name="analysis_export",
    ),
    path("systems/add/", add_system, name="add_system"),
    path("systems/add/<slug:task>.jsonl", blank_predictions, name="blank_predictions"),
    path("systems/add/<int:job_id>/", store_system, name="store_system"),
    path("items/", items.items, name="items"),
    path("items/<int:example_id>/", items.item, name="item"),
    path("items/<int:example_id>/correct/", items.correct, name="correct_gold"),
    path("shots/<slug:form>/", figures.shots_figure, name="shots_figure"),
    path("analysis/<slug:figure>/<slug:form>/", figures.analysis_figure, name="analysis_figure"),
    path("items/figure/<slug:form>/", figures.items_figure, name="items_figure"),
]
app_name = "scoring"
urlpatterns = [
    path("<scope:scope>/<slug:name>/comparison/", include(COMPARISON)),
    path("benchmarks/<slug:name>/leaderboard/", leaderboards.leaderboard, name="leaderboard"),
    path(
        "benchmarks/<slug:name>/leaderboard/export/<slug:table>/<slug:form>/",
        leaderboards.leaderboard_export,
        name="leaderboard_export",
    ),
    path("benchmarks/<slug:name>/systems/", systems, name="systems"),
    path("studies/<slug:slug>/batches/", builder, name="builder"),
    path("studies/<slug:slug>/batches/delete/", remove_batches, name="remove_batches"),
    path("studies/<slug:slug>/batches/part/", part, name="part_study"),
    path("studies/<slug:slug>/rehearsals/", rehearsals, name="rehearsals"),
    path("rehearsals/<slug:slug>/", rehearsal, name="rehearsal"),
    path("rehearsals/<slug:slug>/discard/", discard, name="discard_rehearsal"),
    path("studies/<slug:slug>/report/", study_report, name="report"),
    path(
        "studies/<slug:slug>/report/<slug:part>/<slug:form>/", report_export, name="report_export"
    ),
    path(
        "studies/<slug:slug>/preregistration/<slug:form>/",
        preregistration_export,
        name="preregistration",
    ),
    path("<scope:scope>/<slug:name>/every-eval-ever/", samples, name="samples"),
    path("benchmarks/<slug:name>/episodes/", episodes, name="episodes"),
    path(
        "benchmarks/<slug:name>/episodes/export/<slug:table>/<slug:form>/",
        episodes_export,
        name="episodes_export",
    ),
    path("studies/<slug:name>/bundle/", bundles.bundle, name="bundle"),
    path("benchmarks/<slug:name>/elsewhere/", people, name="elsewhere"),
    path("imported/", bundles.imported_studies, name="imported_studies"),
    path("imported/<int:pk>/", bundles.imported_study, name="imported_study"),
    path("plan/", plan, name="plan"),
    path("plan/document/", plan_document, name="plan_document"),
    path("plan/draft/", draft_plan, name="draft_plan"),
    path("", include("scoring.runs.api")),
    path("", include("scoring.api.figures")),
    path("", include("scoring.api.elsewhere")),
]
