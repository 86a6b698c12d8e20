from django.urls import path

from scoring.bundle import views

urlpatterns = [
    path("studies/<slug:name>/bundle/", views.bundle, name="bundle"),
    path("imported/", views.imported_studies, name="imported_studies"),
    path("imported/<int:pk>/", views.imported_study, name="imported_study"),
]
