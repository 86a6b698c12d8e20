"""The researcher's pages outside the admin: trying a study out, exporting it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import rights
from annotation.access.links import invitation_link, study_link
from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.jobs.requests import document
from annotation.models import ItemSet, Study
from annotation.models.errors import Refusal
from annotation.studies.advice import design_advice, study_advice
from annotation.studies.cards import study_cards
from annotation.studies.codes import as_lines, codes_to_set_up, facts_to_read
from annotation.studies.export_views import CSV
from annotation.studies.invitations import links_csv
from annotation.studies.lifecycle import start_study, what_is_missing
from annotation.studies.tabs import study_for, study_frame
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.paying import CENT
from annotation.work.wording import markdown_html


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


START = "annotation/studies/start.html"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: ResearcherRequest, slug: str) -> HttpResponse:
    """What is missing, what it costs, what annotators will read, and the codes; a POST starts."""
    study = study_for(request, slug, "annotation.change_study", right=Right.SET_UP)
    if study.is_frozen:
        messages.error(request, "This study has been started already.")
        return redirect("annotation:watch", slug)
    refusal = _start(request, study) if request.method == "POST" else ""
    if request.method == "POST" and not refusal:
        messages.success(request, "The study is open. Its settings are frozen from now on.")
        return redirect("annotation:watch", slug)
    batches = list(study.batches.select_related("task", "training_set", "test_set"))
    seconds = expected_seconds(study, {batch.task for batch in batches})
    needed, codes = estimate(study, batches, seconds=seconds), codes_to_set_up(study)
    context = {
        **study_frame(request.user, study, tab="start"),
        "refusal": refusal,
        "missing": what_is_missing(study),
        "advice": [*design_advice(study, batches, host=request.get_host()), *study_advice(study)],
        "batches": batches,
        "tasks": [
            (task, markdown_html(task.description)) for task in {batch.task for batch in batches}
        ],
        "seconds": seconds,
        "estimate": needed,
        "cost_with_fee": (needed.cost * (1 + study.platform_fee / 100)).quantize(CENT),
        "facts": facts_to_read(study),
        "consent": markdown_html(study.consent_text),
        "codes": codes,
        "codes_as_lines": as_lines(codes),
        "study_link": "" if study.channel.invited_only else study_link(request, study),
    }
    return render(request, START, context, status=409 if refusal else 200)


def _start(request: ResearcherRequest, study: Study) -> str:
    """Why it was refused; empty if the study is open now."""
    try:
        start_study(study, at=timezone.now(), by=request.user)
    except Refusal as refusal:
        return str(refusal)
    return ""


@never_cache
@require_safe
def invitation_links(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = study_for(request, slug, "annotation.view_invitation", right=Right.IDS)
    lines = links_csv(study, lambda invitation: invitation_link(request, invitation))
    name = f"{slug}-invitations.csv"
    return document("".join(lines).encode(), CSV, name)
