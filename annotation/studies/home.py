"""The front page: what this is, and where to go."""

from django.contrib.auth.decorators import login_not_required
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import Benchmark, ItemSet, Study


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = _overview() if request.user.is_staff else {}
    return render(request, "annotation/studies/home.html", context)


def _overview() -> dict[str, object]:
    episodes = ItemSet.objects.filter(task__benchmark=OuterRef("pk"), episode__isnull=False)
    return {
        "studies": Study.objects.select_related("benchmark"),
        "benchmarks": Benchmark.objects.annotate(holds_episodes=Exists(episodes)),
    }
