from django.urls import path

from annotation.prolific import views

STUDY = "research/studies/<slug:slug>"

urlpatterns = [
    path(f"{STUDY}/prolific/", views.prolific, name="prolific"),
    path(f"{STUDY}/prolific/<slug:act>/", views.act, name="prolific_act"),
    path("prolific/<slug:token>/", views.report, name="prolific_report"),
]
