"""The researcher's pages outside the admin: watching a study, trying it out, exporting it."""

from collections.abc import Callable, Iterator
from functools import wraps

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.access import cookies
from annotation.access.links import invitation_link
from annotation.access.requests import ResearcherRequest
from annotation.models import Batch, Outcome, Study
from annotation.models.errors import Refusal
from annotation.studies.exporting import FORMATS, export_judgements
from annotation.studies.invitations import links_csv
from annotation.studies.monitoring import study_figures
from annotation.studies.test_runs import start_test_drive

View = Callable[..., HttpResponseBase]
WATCH = "annotation/studies/watch.html"
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def for_researchers(permission: str) -> Callable[[View], View]:
    """Strangers get a 404; staff without the permission are told so."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if not (request.user.is_active and request.user.is_staff):
                raise Http404
            if not request.user.has_perm(permission):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return never_cache(checked)

    return decorate


@for_researchers("annotation.view_study")
@require_safe
def watch(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = _study(slug)
    context = {
        "study": study,
        "figures": study_figures(study, at=timezone.now()),
        "outcomes": Outcome.choices,
        "now": timezone.now(),
    }
    template = f"{WATCH}#figures" if request.htmx else WATCH
    return render(request, template, context)


@for_researchers("annotation.change_study")
@require_POST
def test_drive(request: ResearcherRequest, batch_id: int) -> HttpResponse:
    batch = get_object_or_404(Batch.objects.select_related("study", "task"), pk=batch_id)
    try:
        assignment = start_test_drive(batch, author=request.user, at=timezone.now())
    except Refusal as refusal:
        context = {"study": batch.study, "sentence": str(refusal)}
        return render(request, "annotation/studies/refused.html", context, status=409)
    response = redirect("annotation:work")
    cookies.sign_in(request, response, assignment)
    return response


@for_researchers("annotation.view_judgement")
@require_safe
def judgements(request: HttpRequest, slug: str, file_format: str) -> HttpResponseBase:
    if file_format not in FORMATS:
        raise Http404
    study = _study(slug)
    lines = export_judgements(study, file_format)
    return _download(lines, f"{slug}-judgements.{file_format}", CONTENT_TYPES[file_format])


@for_researchers("annotation.view_invitation")
@require_safe
def invitation_links(request: HttpRequest, slug: str) -> HttpResponseBase:
    lines = links_csv(_study(slug), lambda invitation: invitation_link(request, invitation))
    return _download(lines, f"{slug}-invitations.csv", CONTENT_TYPES["csv"])


def _study(slug: str) -> Study:
    return get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=slug)


def _download(lines: Iterator[str], name: str, content_type: str) -> HttpResponseBase:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
