from django.urls import path

from scoring.analysis import correction_views, item_views, views

urlpatterns = [
    path("analysis/", views.analysis, name="analysis"),
    path("analysis/order/", views.order_analysis, name="order_analysis"),
    path("analysis/stop/", views.stop_analysis, name="stop_analysis"),
    path(
        "analysis/export/<slug:table>/<slug:form>/", views.analysis_export, name="analysis_export"
    ),
    path("items/", item_views.items, name="items"),
    path("items/<int:example_id>/", item_views.item, name="item"),
    path("items/<int:example_id>/correct/", correction_views.correct, name="correct_gold"),
]
