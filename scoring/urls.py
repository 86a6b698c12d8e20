from django.urls import URLPattern, include, path, register_converter

from scoring.comparison import analysis_views, item_views, views
from scoring.comparison.requests import View
from scoring.views import episodes, leaderboard, planning, report, samples


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
    of_comparison("", views.comparison, "comparison"),
    of_comparison("order/", views.order_comparison, "order_comparison"),
    of_comparison("stop/", views.stop_comparison, "stop_comparison"),
    of_comparison("export/<slug:form>/", views.comparison_export, "comparison_export"),
    of_comparison("shots/<slug:form>/", views.shots_figure, "shots_figure"),
    of_comparison("analysis/", analysis_views.analysis, "analysis"),
    of_comparison("analysis/order/", analysis_views.order_analysis, "order_analysis"),
    of_comparison("analysis/stop/", analysis_views.stop_analysis, "stop_analysis"),
    of_comparison(
        "analysis/export/<slug:sheet>/<slug:form>/",
        analysis_views.analysis_export,
        "analysis_export",
    ),
    of_comparison(
        "analysis/<slug:figure>/<slug:form>/", analysis_views.analysis_figure, "analysis_figure"
    ),
    of_comparison("items/", item_views.items, "items"),
    of_comparison("items/figure/<slug:form>/", item_views.items_figure, "items_figure"),
    of_comparison("items/<int:example_id>/", item_views.item, "item"),
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
