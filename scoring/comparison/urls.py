from django.urls import path

from scoring.comparison import analysis_views, correction_views, item_views, views

urlpatterns = [
    path("", views.comparison, name="comparison"),
    path("order/", views.order_comparison, name="order_comparison"),
    path("stop/", views.stop_comparison, name="stop_comparison"),
    path("export/<slug:form>/", views.comparison_export, name="comparison_export"),
    path("analysis/", analysis_views.analysis, name="analysis"),
    path("analysis/order/", analysis_views.order_analysis, name="order_analysis"),
    path("analysis/stop/", analysis_views.stop_analysis, name="stop_analysis"),
    path(
        "analysis/export/<slug:table>/<slug:form>/",
        analysis_views.analysis_export,
        name="analysis_export",
    ),
    path("items/", item_views.items, name="items"),
    path("items/<int:example_id>/", item_views.item, name="item"),
    path("items/<int:example_id>/correct/", correction_views.correct, name="correct_gold"),
]
