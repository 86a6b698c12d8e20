from django.urls import include, path

from annotation.studies.home import home

app_name = "annotation"
urlpatterns = [
    path("", home, name="home"),
    path("", include("annotation.work.urls")),
    path("research/", include("annotation.studies.urls")),
    path("research/", include("annotation.people.urls")),
    path("research/", include("annotation.payments.urls")),
    path("", include("annotation.prolific.urls")),
]
