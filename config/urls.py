"""Every address of the installation: the apps' own pages are at the root."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, re_path
from django.views.decorators.http import require_safe
from django.views.static import serve
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config.documentation.pages import FOLDER
from config.documentation.views import ByFormat, documentation
from config.health import healthz, metrics, readyz
from config.middleware import nothing_in_the_api

# Under the names by which the sign-in page and Django's own views find each other.
BY_MAIL = [
    path("admin/password/", views.PasswordResetView.as_view(), name="admin_password_reset"),
    path("admin/password/sent/", views.PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "admin/password/<uidb64>/<token>/",
        views.PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path(
        "admin/password/set/",
        views.PasswordResetCompleteView.as_view(),
        name="password_reset_complete",
    ),
]

urlpatterns = [
    *(BY_MAIL if settings.EMAIL_HOST else []),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path(
        "api/schema/",
        SpectacularAPIView.as_view(content_negotiation_class=ByFormat),
        name="schema",
    ),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(), name="docs"),
    path("docs/", documentation, name="documentation"),
    re_path(
        r"^docs/screens/(?P<path>[\w/-]+\.png)$",
        login_not_required(require_safe(serve)),
        {"document_root": FOLDER / "screens"},
        name="picture",
    ),
    path("docs/<path:page>/", documentation, name="documentation_page"),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    re_path("^api/", nothing_in_the_api),
]
