"""The page of a benchmark: of each task what its audit found, an item as people see it, and the
description beside its preview."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import rights
from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.kinds import answer_kind
from annotation.kinds.markup import markdown_html
from annotation.models import Benchmark, Item, Role, Task
from annotation.models.access import record_settings
from annotation.models.frozen import item_alone
from annotation.models.texts import is_key
from annotation.studies.settings_form import Text, digest
from annotation.studies.tabs import READ, SEND, benchmark_frame
from annotation.work.page import render_form

PAGE = "annotation/studies/benchmark.html"
CHANGE_TASK = "annotation.change_task"


class DescriptionForm(forms.Form):
    description = forms.CharField(widget=Text(attrs={"rows": 10}), required=False)
    # A digest of the description that the form had shown.
    shown = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: Any, *, task: Task) -> None:
        initial = {"description": task.description, "shown": digest(task.description)}
        super().__init__(data, initial=initial, auto_id=f"id_{task.pk}_%s")


@never_cache
@require_http_methods([*READ, *SEND])
def benchmark(request: ResearcherRequest, name: str) -> HttpResponse:
    benchmark = get_object_or_404(Benchmark, name=name)
    # Whoever sees the gold of one of its studies sees it here, too.
    if not rights.may_see_gold(request.user, benchmark):
        require(request.user, benchmark, Right.GOLD)
    if request.method != "POST":
        return _page(request, benchmark)
    require(request.user, benchmark, Right.SET_UP, permission=CHANGE_TASK)
    key = request.POST.get("task", "")
    task = get_object_or_404(benchmark.tasks, pk=int(key) if is_key(key) else 0)
    if request.htmx:
        text = request.POST.get("description", "")
        return HttpResponse(_as_shown(task, text))
    return _saved(request, benchmark, task)


@transaction.atomic
def _saved(request: ResearcherRequest, benchmark: Benchmark, task: Task) -> HttpResponse:
    task = Task.objects.select_for_update().get(pk=task.pk)
    form, before = DescriptionForm(request.POST, task=task), task.description
    if not form.is_valid():
        return _page(request, benchmark, {task.pk: form}, status=422)
    if form.cleaned_data["shown"] != digest(before):
        again = DescriptionForm(None, task=task)
        again.initial["description"] = form.cleaned_data["description"]
        logged = f"{task.slug}: description"
        change = next((one for one in benchmark.changes.all()[:100] if logged in one.after), None)
        refused = {"stored": before, "change": change, "stale": task.pk}
        return _page(request, benchmark, {task.pk: again}, status=409, **refused)
    task.description = form.cleaned_data["description"]
    if task.description != before:
        task.save(update_fields=["description"])
        was, now = ({f"{task.slug}: description": text} for text in (before, task.description))
        record_settings(request.user, benchmark, was, now)
    messages.success(request, f"The description of {task} was saved.")
    return redirect("annotation:benchmark", benchmark.name)


def _page(
    request: ResearcherRequest,
    benchmark: Benchmark,
    forms: dict[int, DescriptionForm] | None = None,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        **benchmark_frame(request.user, benchmark, tab="tasks"),
        "cards": [_card(task, (forms or {}).get(task.pk)) for task in benchmark.tasks.all()],
        "studies": rights.studies(request.user).filter(benchmark=benchmark),
        **more,
    }
    return render(request, PAGE, context, status=status)


def _card(task: Task, form: DescriptionForm | None) -> dict[str, Any]:
    findings = sorted(task.audit, key=lambda finding: finding["severity"] != "warning")
    sets = task.item_sets.filter(episode=None).annotate(size=Count("items"))
    return {
        "task": task,
        "warnings": [finding for finding in findings if finding["severity"] == "warning"],
        "notes": [finding for finding in findings if finding["severity"] != "warning"],
        "tests": [item_set for item_set in sets if item_set.role == Role.TEST],
        "shots": sorted({s.shots for s in sets if s.role == Role.TRAINING and s.shots}),
        "splits": len({item_set.split for item_set in sets if item_set.split is not None}),
        "episodes": task.item_sets.exclude(episode=None).values("episode").distinct().count(),
        "item": _item(task, task.item_sets.filter(role=Role.TEST)),
        "description": _as_shown(task, task.description),
        "form": form or DescriptionForm(None, task=task),
    }


def _item(task: Task, sets: QuerySet[Any]) -> SafeString | str:
    """The first item of the tests, as its page asks it."""
    items = Item.objects.filter(item_set__in=sets).select_related("example", "item_set")
    first = items.order_by("item_set", "position").first()
    return render_form(*item_alone(first, task)) if first else ""


def _as_shown(task: Task, description: str) -> SafeString:
    return markdown_html(answer_kind(task.kind).described(description), task.markup)
