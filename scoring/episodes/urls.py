from django.urls import path

from scoring.episodes.views import episodes, episodes_export

urlpatterns = [
    path("", episodes, name="episodes"),
    path("export/<slug:table>/<slug:form>/", episodes_export, name="episodes_export"),
]
