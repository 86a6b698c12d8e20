"""The preview of a draft's batch: an annotator's pages in a frame that says so, and no rows."""

import secrets
from dataclasses import asdict

from django.core import signing
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.models import Batch
from annotation.models.errors import BadInput
from annotation.studies.tabs import study_frame
from annotation.work.page import context_at
from annotation.work.previewing import STOPS, Preview, PreviewState

PAGE = "annotation/studies/preview.html"
REFUSED = "annotation/studies/refused.html"
LASTS_S = 2 * 60 * 60
LABELS = {"description": "What to do", "practice": "Practice", "test": "Test", "end": "End"}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: ResearcherRequest, batch_id: int) -> HttpResponse:
    batches = Batch.objects.select_related(
        "study__benchmark", "study__channel", "task", "training_set", "test_set"
    )
    batch = get_object_or_404(batches, pk=batch_id)
    require(request.user, batch.study, Right.GOLD)
    if batch.study.is_frozen:
        sentence = "This study has started. Copy it, and preview or rehearse the copy."
        return _refused(request, batch, sentence, status=409)
    now, error = timezone.now(), ""
    try:
        state = _state_before(request, batch)
        preview = Preview(batch, state, at=now)
        state = _state_after(request, preview)
    except signing.BadSignature:
        return _refused(request, batch, "This preview has expired: begin it again.", status=400)
    except BadInput as refusal:
        error = str(refusal)
    return _page(request, Preview(batch, state, at=now), error)


def _state_before(request: ResearcherRequest, batch: Batch) -> PreviewState:
    """Raises BadSignature for one that has expired, or is another's or of another batch."""
    if request.method != "POST":
        return PreviewState(batch=batch.pk, seed=f"preview-{secrets.token_hex(4)}")
    given = request.POST.get("state", "")
    state = PreviewState(**signing.loads(given, salt=_salt(request), max_age=LASTS_S))
    if state.batch != batch.pk:
        raise signing.BadSignature
    return state


def _state_after(request: ResearcherRequest, preview: Preview) -> PreviewState:
    """Raises BadInput for a form that the real page would refuse."""
    if request.method == "POST":
        return preview.sent({name: request.POST[name] for name in request.POST})
    stop = request.GET.get("at", STOPS[0])
    if stop not in STOPS:
        raise Http404
    return preview.at(stop)


def _page(request: ResearcherRequest, preview: Preview, error: str) -> HttpResponse:
    batch = preview.batch
    context = {
        **context_at(preview),
        "title": "Preview",
        "preview_address": request.path,
        "preview_state": signing.dumps(asdict(preview.state), salt=_salt(request), compress=True),
        "stops": {
            name: label for name, label in LABELS.items() if name != "practice" or preview.trained
        },
        "batch": batch,
        "error": error,
    }
    template = "annotation/work/work.html#step" if request.htmx else PAGE
    return render(request, template, context, status=422 if error else 200)


def _salt(request: ResearcherRequest) -> str:
    return f"preview of {request.user.pk}"


def _refused(
    request: ResearcherRequest, batch: Batch, sentence: str, *, status: int
) -> HttpResponse:
    if request.htmx:
        # A whole page does not fit into the place of a step.
        return HttpResponse(headers={"HX-Redirect": request.path})
    frame = study_frame(request.user, batch.study, tab="batches")
    return render(request, REFUSED, {**frame, "sentence": sentence}, status=status)
