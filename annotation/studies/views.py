"""The researcher's pages outside the admin: trying a study out, exporting it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.access import rights
from annotation.access.requests import ResearcherRequest, invitation_link, study_link
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
from annotation.studies.tabs import CHANGE, READ, SEND, study_frame, study_page
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.paying import CENT
from annotation.work.wording import markdown_html


@login_not_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """With what is the user's own."""
    user, page = request.user, "annotation/studies/home.html"
    if not user.is_authenticated:
        return render(request, page)
    episodes = ItemSet.objects.filter(task__benchmark=OuterRef("pk"), episode__isnull=False)
    set_up = rights.benchmarks(user, rights.Right.SET_UP)
    context = {
        "cards": study_cards(user),
        "archived": rights.studies(user).filter(archived_at__isnull=False),
        "benchmarks": rights.benchmarks(user).annotate(
            holds_episodes=Exists(episodes),
            may_set_up=Exists(set_up.filter(pk=OuterRef("pk"))),
            task_count=Count("tasks", distinct=True),
        ),
    }
    return render(request, page, context)


START = "annotation/studies/start.html"


@study_page(*READ, *SEND, right=Right.SET_UP, permission=CHANGE)
def start(request: ResearcherRequest, study: Study) -> HttpResponse:
    """What is missing, what it costs, what annotators will read, and the codes; a POST starts."""
    if study.is_frozen:
        messages.error(request, "This study has been started already.")
        return redirect("annotation:watch", study.slug)
    refusal = ""
    if request.method == "POST":
        try:
            start_study(study, at=timezone.now(), by=request.user)
        except Refusal as problem:
            refusal = str(problem)
        else:
            messages.success(request, "The study is open. Its settings are frozen from now on.")
            return redirect("annotation:watch", study.slug)
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


@study_page(*READ, right=Right.IDS, permission="annotation.view_invitation")
def invitation_links(request: ResearcherRequest, study: Study) -> HttpResponse:
    lines = links_csv(study, lambda invitation: invitation_link(request, invitation))
    return document("".join(lines).encode(), CSV, f"{study.slug}-invitations.csv")
