"""The builder: a study's batches, with what they need and give at every change."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.studies.advice import design_advice
from annotation.studies.batching import delete_batches
from annotation.studies.forms import BuilderForm
from annotation.studies.tabs import study_frame
from scoring.planning.building import Wanted, add_chosen, build

PAGE = "scoring/planning/builder.html"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def builder(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = _study(request, slug)
    if study.is_frozen:
        messages.error(request, "This study has been started: copy it to add other batches.")
        return redirect("annotation:watch", slug)
    form = _form(request, study)
    if form.is_valid() and "add" in request.POST and _added(request, study, form):
        return redirect("scoring:builder", slug)
    context: dict[str, Any] = {
        **study_frame(request.user, study, tab="batches"),
        "form": form,
        "present": study.batches.select_related("task", "training_set", "test_set"),
        **(_result(request, study, form) if form.is_valid() else {}),
    }
    failed = request.method == "POST" and bool(form.errors) and not request.htmx
    template = f"{PAGE}#result" if request.htmx else PAGE
    return render(request, template, context, status=422 if failed else 200)


@require_POST
def remove_batches(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = _study(request, slug)
    chosen = [int(value) for value in request.POST.getlist("batch") if value.isdecimal()]
    try:
        count = delete_batches(study, chosen, by=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("annotation:watch", slug)
    if count:
        done = ngettext("%(count)d batch was deleted.", "%(count)d batches were deleted.", count)
        messages.success(request, done % {"count": count})
    else:
        messages.error(request, "Nothing was deleted: tick the batches first.")
    return redirect("scoring:builder", slug)


def _study(request: ResearcherRequest, slug: str) -> Study:
    study = get_object_or_404(Study.objects.select_related("benchmark", "channel"), slug=slug)
    require(request.user, study, Right.SET_UP, permission="annotation.change_study")
    return study


def _form(request: ResearcherRequest, study: Study) -> BuilderForm:
    """At first as it proposes; for a study that has batches, with nothing ticked."""
    if request.method == "POST":
        return BuilderForm(request.POST, study=study)
    first = {name: field.initial for name, field in BuilderForm(study=study).fields.items()}
    if study.batches.exists():
        first["cells"] = []
    first.pop("episodes", None)
    return BuilderForm(first, study=study)


def _wanted(form: BuilderForm) -> Wanted:
    data = form.cleaned_data
    return Wanted(data["wanted"], data["seconds"], data["items"], data["sample_seed"] or 0)


def _result(request: ResearcherRequest, study: Study, form: BuilderForm) -> dict[str, Any]:
    building = build(study, form.chosen(), _wanted(form))
    advice = design_advice(study, building.batches, host=request.get_host())
    return {"building": building, "advice": advice if building.batches else []}


def _added(request: ResearcherRequest, study: Study, form: BuilderForm) -> bool:
    try:
        new = add_chosen(study, form.chosen(), _wanted(form), by=request.user)
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return False
    done = ngettext("%(count)d batch was added.", "%(count)d batches were added.", len(new))
    messages.success(request, done % {"count": len(new)})
    return True
