from django.urls import path

from annotation.studies import views

urlpatterns = [
    path("studies/<slug:slug>/watch/", views.watch, name="watch"),
    path(
        "studies/<slug:slug>/judgements.<str:file_format>",
        views.judgements,
        name="export_judgements",
    ),
    path("studies/<slug:slug>/invitations.csv", views.invitation_links, name="invitation_links"),
    path("batches/<int:batch_id>/test-drive/", views.test_drive, name="test_drive"),
]
