from django.urls import path

from scoring.samples.views import samples

urlpatterns = [path("", samples, name="samples")]
