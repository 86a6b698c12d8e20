from django.urls import URLPattern, include, path, register_converter

from scoring.views import (
    analysis,
    comparison,
    episodes,
    items,
    leaderboard,
    planning,
    report,
    samples,
)
from scoring.views.scope import View


class ScopeConverter:
    """What a comparison is of: a study or a benchmark."""

    regex = "studies|benchmarks"

    def to_python(self, value: str) -> str:
        return {"studies": "study", "benchmarks": "benchmark"}[value]

    def to_url(self, value: str) -> str:
        return {"study": "studies", "benchmark": "benchmarks"}[value]


register_converter(ScopeConverter, "scope")


def of_comparison(rest: str, view: View, name: str) -> URLPattern:
    return path(f"<scope:scope>/<slug:name>/comparison/{rest}", view, name=name)


app_name = "scoring"
urlpatterns = [
    of_comparison("", comparison.comparison, "comparison"),
    of_comparison("order/", comparison.order_comparison, "order_comparison"),
    of_comparison("stop/", comparison.stop_comparison, "stop_comparison"),
    of_comparison("export/<slug:form>/", comparison.comparison_export, "comparison_export"),
    of_comparison("shots/<slug:form>/", comparison.shots_figure, "shots_figure"),
    of_comparison("analysis/", analysis.analysis, "analysis"),
    of_comparison("analysis/order/", analysis.order_analysis, "order_analysis"),
    of_comparison("analysis/stop/", analysis.stop_analysis, "stop_analysis"),
    of_comparison(
        "analysis/export/<slug:sheet>/<slug:form>/", analysis.analysis_export, "analysis_export"
    ),
    of_comparison(
        "analysis/<slug:figure>/<slug:form>/", analysis.analysis_figure, "analysis_figure"
    ),
    of_comparison("items/", items.items, "items"),
    of_comparison("items/figure/<slug:form>/", items.items_figure, "items_figure"),
    of_comparison("items/<int:example_id>/", items.item, "item"),
    path("benchmarks/<slug:name>/leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path(
        "benchmarks/<slug:name>/leaderboard/export/<slug:sheet>/<slug:form>/",
        leaderboard.leaderboard_export,
        name="leaderboard_export",
    ),
    path("studies/<slug:name>/report/", report.study_report, name="report"),
    path(
        "studies/<slug:name>/report/<slug:part>/<slug:form>/",
        report.report_export,
        name="report_export",
    ),
    path("<scope:scope>/<slug:name>/every-eval-ever/", samples.samples, name="samples"),
    path("benchmarks/<slug:name>/episodes/", episodes.episodes, name="episodes"),
    path(
        "benchmarks/<slug:name>/episodes/export/<slug:sheet>/<slug:form>/",
        episodes.episodes_export,
        name="episodes_export",
    ),
    path("plan/", planning.plan, name="plan"),
    path("plan/document/", planning.plan_document, name="plan_document"),
    path("plan/draft/", planning.draft_plan, name="draft_plan"),
    path("", include("scoring.api")),
]
