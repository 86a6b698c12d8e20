"""Correcting the gold from an item's page: proposed, looked at, then applied with a reason."""

from hashlib import sha256
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access.requests import ResearcherRequest, lets_in
from annotation.access.rights import Right
from annotation.benchmarks.correcting import Given, correct_gold, propose_gold
from annotation.benchmarks.forms import GoldForm, written
from annotation.kinds import gold_in_force
from annotation.models import Benchmark, Example, Gold
from annotation.models.errors import Refusal
from scoring.analysis.corrections import effect_of
from scoring.comparison.requests import asked, frame_of


def may_correct(request: HttpRequest, benchmark: Benchmark) -> bool:
    return lets_in(request.user, benchmark, Right.SET_UP, permission="annotation.add_goldversion")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def correct(request: ResearcherRequest, scope: str, name: str, example_id: int) -> HttpResponse:
    """A correction is applied only as it was looked at: as written, on the gold as it stood."""
    compared, _choices = asked(request, scope, name, Right.GOLD)
    if not may_correct(request, compared.benchmark):
        raise PermissionDenied
    example = get_object_or_404(
        Example.objects.select_related("task"), pk=example_id, task__in=compared.tasks
    )
    gold = _gold_of(example)
    form = GoldForm(request.POST or None, example=example, initial={"gold": written(gold)})
    context: dict[str, Any] = {"effect": None}
    if request.method == "POST" and form.is_valid():
        given: dict[int | str, Given] = {example.pk: form.alternatives(gold)}
        seen = _digest(gold, form.cleaned_data["gold"])
        try:
            (proposed,) = propose_gold(example.task, given)
            if "apply" in request.POST and request.POST.get("seen") == seen:
                reason = form.cleaned_data["reason"]
                correct_gold(example.task, given, author=request.user, reason=reason)
                messages.success(
                    request,
                    "The gold is corrected. People and runs are scored by the new version.",
                )
                return redirect(reverse("scoring:item", args=[scope, name, example.pk]))
        except Refusal as refusal:
            form.add_error("gold", str(refusal))
        else:
            effect = effect_of(example, gold, proposed)
            context = {"effect": effect, "groups": [effect.people, effect.runs], "seen": seen}
    context |= {
        **frame_of(request, compared, tab="items"),
        "example": example,
        "gold": gold.alternative_texts(),
        "form": form,
    }
    return render(request, "scoring/comparison/correct_gold.html", context)


def _gold_of(example: Example) -> Gold:
    latest = example.task.latest_gold_version()
    return gold_in_force([example.pk], example.task_id, latest.number)[example.pk]


def _digest(gold: Gold, proposed: str) -> str:
    """Of what the reader has before them: what stands, and what they propose."""
    return sha256(f"{gold.pk}\n{gold.version_id}\n{proposed}".encode()).hexdigest()
