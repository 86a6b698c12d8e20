from django.urls import path, register_converter

from scoring import views


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
    path("<scope:scope>/<slug:name>/comparison/", views.comparison, name="comparison"),
    path(
        "<scope:scope>/<slug:name>/comparison/export/<slug:form>/",
        views.comparison_export,
        name="comparison_export",
    ),
    path(
        "<scope:scope>/<slug:name>/comparison/shots/<slug:form>/",
        views.shots_figure,
        name="shots_figure",
    ),
]
