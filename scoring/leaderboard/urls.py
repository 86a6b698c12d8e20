from django.urls import path

from scoring.leaderboard import views

urlpatterns = [
    path("", views.leaderboard, name="leaderboard"),
    path(
        "export/<slug:table>/<slug:form>/",
        views.leaderboard_export,
        name="leaderboard_export",
    ),
]
