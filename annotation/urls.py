from django.urls import include, path

from annotation.views import annotator, site
from annotation.views.researcher import researcher_urlpatterns

app_name = "annotation"

urlpatterns = [
    path("", site.home, name="home"),
    path("join/<str:token>/", annotator.join_study, name="join_study"),
    path("join/batch/<str:token>/", annotator.join_batch, name="join_batch"),
    path("invited/<str:token>/", annotator.accept_invitation, name="accept_invitation"),
    path("resume/<str:token>/", annotator.resume, name="resume"),
    path("work/", annotator.work, name="work"),
    path("work/consent/", annotator.consent, name="consent"),
    path("work/begin/", annotator.begin, name="begin"),
    path("work/submit/", annotator.submit, name="submit"),
    path("work/next/", annotator.proceed, name="proceed"),
    path("work/withdraw/", annotator.withdraw, name="withdraw"),
    path("research/", include(researcher_urlpatterns)),
]
