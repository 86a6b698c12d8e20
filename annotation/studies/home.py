"""The front page: what this is, and where to go."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import rights
from annotation.models import ItemSet
from annotation.studies.cards import study_cards


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = _overview(request.user) if request.user.is_authenticated else {}
    return render(request, "annotation/studies/home.html", context)


def _overview(user: User) -> dict[str, object]:
    """What is the user's own."""
    episodes = ItemSet.objects.filter(task__benchmark=OuterRef("pk"), episode__isnull=False)
    set_up = rights.benchmarks(user, rights.Right.SET_UP)
    return {
        "cards": study_cards(user),
        "archived": rights.studies(user).filter(archived_at__isnull=False),
        "benchmarks": rights.benchmarks(user).annotate(
            holds_episodes=Exists(episodes),
            may_set_up=Exists(set_up.filter(pk=OuterRef("pk"))),
            task_count=Count("tasks", distinct=True),
        ),
    }
