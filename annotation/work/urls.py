from django.urls import path

from annotation.work import device_views, entering, views

urlpatterns = [
    path("join/<slug:token>/", entering.join_study, name="join_study"),
    path("join/batch/<slug:token>/", entering.join_batch, name="join_batch"),
    path("invited/<slug:token>/", entering.accept_invitation, name="accept_invitation"),
    path("resume/<slug:token>/", entering.resume, name="resume"),
    path("go/", device_views.enter_code, name="enter_code"),
    path("work/consent/", entering.consent, name="consent"),
    path("work/who/", entering.choose_who, name="choose_who"),
    path("work/", views.work, name="work"),
    path("work/begin/", views.begin, name="begin"),
    path("work/submit/", views.submit, name="submit"),
    path("work/next/", views.proceed, name="proceed"),
    path("work/withdraw/", views.withdraw, name="withdraw"),
    path("work/comment/", views.comment, name="comment"),
    path("work/comment/stored/", views.comment_thanks, name="comment_thanks"),
    path("work/device/", device_views.another_device, name="another_device"),
    path("work/leave/", views.leave, name="leave"),
    path("language/", views.choose_language, name="choose_language"),
]
