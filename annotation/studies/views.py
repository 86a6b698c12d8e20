"""The researcher's pages outside the admin: trying a study out, exporting it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import cookies
from annotation.access.links import invitation_link, study_link
from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.jobs.requests import document, large_file
from annotation.models import Batch, Study
from annotation.models.errors import Refusal
from annotation.studies import downloads
from annotation.studies.advice import design_advice, study_advice
from annotation.studies.export_views import chosen_in
from annotation.studies.exporting import FORMATS, export_judgements
from annotation.studies.exports import EXPORTS
from annotation.studies.invitations import links_csv
from annotation.studies.lifecycle import start_study, what_is_missing
from annotation.studies.starting import as_lines, codes_to_set_up, facts_to_read
from annotation.studies.tabs import study_frame
from annotation.studies.test_runs import start_test_run
from annotation.work.estimating import estimate, expected_seconds
from annotation.work.markdown import markdown_html
from annotation.work.paying import CENT

START = "annotation/studies/start.html"
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: ResearcherRequest, slug: str) -> HttpResponse:
    """What is missing, what it costs, what annotators will read, and the codes; a POST starts."""
    study = _study(slug)
    require(request.user, study, Right.SET_UP, permission="annotation.change_study")
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
        "advice": [
            *design_advice(study, batches, host=request.get_host()),
            *study_advice(study),
        ],
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
@require_POST
def test_run(request: ResearcherRequest, batch_id: int) -> HttpResponse:
    batch = get_object_or_404(Batch.objects.select_related("study", "task"), pk=batch_id)
    require(request.user, batch.study, Right.SET_UP, permission="annotation.change_study")
    try:
        assignment = start_test_run(batch, author=request.user, at=timezone.now())
    except Refusal as refusal:
        frame = study_frame(request.user, batch.study, tab="overview")
        context = {**frame, "sentence": str(refusal)}
        return render(request, "annotation/studies/refused.html", context, status=409)
    response = redirect("annotation:work")
    cookies.sign_in(request, response, assignment)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def judgements(request: ResearcherRequest, slug: str, file_format: str) -> HttpResponse:
    """The file, or of a large study a page on which it is ordered and fetched."""
    if file_format not in FORMATS:
        raise Http404
    study = _study(slug)
    _require_judgements(request, study)
    chosen = chosen_in(request)
    content_type = CONTENT_TYPES[file_format]
    file = downloads.judgements_file(study, file_format, chosen)
    if file.is_large:
        back = reverse("annotation:exports", args=[slug])
        return large_file(request, file, content_type, back=back)
    lines = export_judgements(study, file_format, chosen)
    name = downloads.file_name(study, file_format)
    return document("".join(lines).encode(), content_type, name)


@never_cache
@require_safe
def invitation_links(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = _study(slug)
    require(request.user, study, Right.IDS, permission="annotation.view_invitation")
    lines = links_csv(study, lambda invitation: invitation_link(request, invitation))
    name = f"{slug}-invitations.csv"
    return document("".join(lines).encode(), CONTENT_TYPES["csv"], name)


def _require_judgements(request: ResearcherRequest, study: Study) -> None:
    table = EXPORTS["judgements"]
    for right in table.rights:
        require(request.user, study, right, permission=table.permission)


def _study(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=slug)
