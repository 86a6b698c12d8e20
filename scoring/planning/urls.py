from django.urls import path

from scoring.planning.views import draft_plan, plan, plan_document

urlpatterns = [
    path("", plan, name="plan"),
    path("document/", plan_document, name="plan_document"),
    path("draft/", draft_plan, name="draft_plan"),
]
