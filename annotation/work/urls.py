from django.urls import path

from annotation.work import views

urlpatterns = [
    path("join/<str:token>/", views.join_study, name="join_study"),
    path("join/batch/<str:token>/", views.join_batch, name="join_batch"),
    path("invited/<str:token>/", views.accept_invitation, name="accept_invitation"),
    path("resume/<str:token>/", views.resume, name="resume"),
    path("work/", views.work, name="work"),
    path("work/consent/", views.consent, name="consent"),
    path("work/begin/", views.begin, name="begin"),
    path("work/submit/", views.submit, name="submit"),
    path("work/next/", views.proceed, name="proceed"),
    path("work/withdraw/", views.withdraw, name="withdraw"),
]
