from django.urls import path

from scoring.report.views import report_export, study_report

urlpatterns = [
    path("", study_report, name="report"),
    path("<slug:part>/<slug:form>/", report_export, name="report_export"),
]
