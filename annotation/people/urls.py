from django.urls import path

from annotation.people import views

STUDY = "studies/<slug:slug>"
PERSON = f"{STUDY}/people/<int:assignment_id>"

urlpatterns = [
    path(f"{STUDY}/watch/", views.watch, name="watch"),
    path(f"{STUDY}/people/", views.people, name="people"),
    path(f"{STUDY}/people.csv", views.people_export, name="people_export"),
    path(f"{PERSON}/", views.person, name="person"),
    path(f"{PERSON}/release/", views.release, name="release_place"),
    path(f"{PERSON}/exclude/", views.exclude_person, name="exclude_person"),
]
