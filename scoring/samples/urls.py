from django.urls import path

from scoring.views.samples import samples

urlpatterns = [path("", samples, name="samples")]
