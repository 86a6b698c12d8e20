"""The page on which a study is made and set up, with what it costs beside it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest, batch_link
from annotation.access.rights import Right
from annotation.models import Outcome, Study
from annotation.models.texts import is_key
from annotation.studies.advice import study_advice
from annotation.studies.lab_defaults import keep_as_defaults, lab_defaults
from annotation.studies.lifecycle import what_is_missing
from annotation.studies.screening import screening_facts
from annotation.studies.settings_form import REWARDS, StudyForm, changed_meanwhile, store
from annotation.studies.tabs import CHANGE, READ, SEND, study_frame, study_page
from annotation.work.estimating import costs

PAGE = "annotation/studies/settings.html"


@study_page(*READ, *SEND, right=Right.CODES, permission=CHANGE)
def settings(request: ResearcherRequest, study: Study) -> HttpResponse:
    if "checks" in request.GET:
        return _checks(request, study)
    if request.method != "POST":
        return _page(request, StudyForm(instance=study, user=request.user))
    if request.htmx:
        return _costs(request, study)
    return _saved(request, study)


@transaction.atomic
def _saved(request: ResearcherRequest, study: Study) -> HttpResponse:
    # One after the other: the second one finds what the first has changed.
    study = Study.objects.select_for_update().get(pk=study.pk)
    form = StudyForm(request.POST, instance=study, user=request.user)
    is_valid = form.is_valid()
    if meanwhile := changed_meanwhile(form):
        return _page(request, form.renewed(), meanwhile=meanwhile, status=409)
    if not is_valid:
        return _page(request, form, status=422)
    store(form, by=request.user)
    if "keep" in request.POST:
        keep_as_defaults(study, by=request.user)
    messages.success(request, "The settings were saved.")
    return redirect("annotation:settings", study.slug)


def _checks(request: ResearcherRequest, study: Study) -> HttpResponse:
    """What reads the gold of all sets and simulates the screening: the page asks for it once it is
    there."""
    context = {
        "study": study,
        "missing": [] if study.is_frozen else what_is_missing(study),
        "advice": [] if study.is_frozen else study_advice(study),
        **screening_facts(study),
    }
    return render(request, f"{PAGE}#checks", context)


def _costs(request: ResearcherRequest, study: Study) -> HttpResponse:
    """What it would cost with what the form says, as far as that can be."""
    form = StudyForm(request.POST, instance=study, user=request.user)
    form.is_valid()
    return render(request, f"{PAGE}#cost", {"study": form.instance, **_cost_of(form)})


def _cost_of(form: StudyForm) -> dict[str, Any]:
    batches = list(form.instance.batches.select_related("task", "check_set"))
    rules = [row.instance for row in form.rows.get(REWARDS, ())]
    completed = next((rule for rule in rules if rule.outcome == Outcome.COMPLETED), None)
    return costs(form.instance, batches, completed=completed) if batches else {}


def _page(
    request: ResearcherRequest, form: StudyForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    study = Study.objects.select_related("benchmark", "channel").get(pk=form.instance.pk)
    batches = study.batches.select_related("study__channel", "task", "training_set", "test_set")
    context = {
        **study_frame(request.user, study, tab="settings"),
        "form": form,
        **_cost_of(form),
        "rules": study.outcome_rules.all(),
        "pools": study.pools.all(),
        "batches": [
            (batch, "" if study.channel.invited_only else batch_link(request, batch))
            for batch in batches
        ],
        "invited": study.invitations.count(),
        **more,
    }
    return render(request, PAGE, context, status=status)


@never_cache
@require_http_methods([*READ, *SEND])
@permission_required("annotation.add_study", raise_exception=True)
def new_study(request: ResearcherRequest) -> HttpResponse:
    named = request.GET.get("benchmark", "")
    initial = {"benchmark": named} if is_key(named) else {}
    sent = request.POST if request.method == "POST" else None
    study = Study(**lab_defaults(request.user))
    form = StudyForm(sent, instance=study, initial=initial, user=request.user)
    if sent is not None and form.is_valid():
        with transaction.atomic():
            study = store(form, by=request.user)
        messages.success(request, "The study is a draft. Next: check its codes, then add batches.")
        return redirect("annotation:settings", study.slug)
    return render(request, PAGE, {"form": form}, status=422 if form.is_bound else 200)
