from django.urls import path

from scoring.figures import views

urlpatterns = [
    path("shots/<slug:form>/", views.shots_figure, name="shots_figure"),
    path("analysis/<slug:figure>/<slug:form>/", views.analysis_figure, name="analysis_figure"),
    path("items/figure/<slug:form>/", views.items_figure, name="items_figure"),
]
