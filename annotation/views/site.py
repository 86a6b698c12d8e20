"""The front page: what this is, and where to go."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import Study


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    studies = Study.objects.select_related("benchmark") if request.user.is_staff else []
    return render(request, "annotation/home.html", {"studies": studies})
