from django.urls import path

from annotation.studies import export_views, views
from annotation.studies.preview_views import preview

urlpatterns = [
    path("studies/<slug:slug>/start/", views.start, name="start"),
    path(
        "studies/<slug:slug>/judgements.<str:file_format>",
        views.judgements,
        name="export_judgements",
    ),
    path("studies/<slug:slug>/data/", export_views.exports, name="exports"),
    path("studies/<slug:slug>/data/ids/", export_views.ids, name="export_ids"),
    path("studies/<slug:slug>/data/<slug:name>.csv", export_views.export, name="export"),
    path(
        "studies/<slug:slug>/data/<slug:name>/dictionary.csv",
        export_views.dictionary,
        name="export_dictionary",
    ),
    path("studies/<slug:slug>/invitations.csv", views.invitation_links, name="invitation_links"),
    path("batches/<int:batch_id>/preview/", preview, name="preview"),
    path("batches/<int:batch_id>/test-run/", views.test_run, name="test_run"),
]
