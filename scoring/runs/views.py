"""The pages of a benchmark's systems: which there are, and one added from a file, which is looked
at first and stored from there."""

from itertools import islice
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right, studies
from annotation.jobs.queue import enqueue
from annotation.jobs.requests import UploadField, document, order_upload
from annotation.models import Benchmark, Job
from annotation.models.errors import BadInput
from annotation.models.texts import is_key
from annotation.studies.tabs import benchmark_for, benchmark_frame, frame_of
from scoring.models import Method, Run
from scoring.runs.formats.plain_files import blank_lines
from scoring.runs.formats.records import longest, run_fields
from scoring.runs.systems import MOST_SHOWN, columns_of, systems_of
from scoring.runs.tasks import LOOK, NEEDED, STORE, arguments_of


class SystemForm(forms.Form):
    file = UploadField(
        help_text="Predictions as JSON lines, samples of lm-evaluation-harness, an Inspect log, "
        "FLEX’s predictions; or a zip of such files, or of the folder of a HELM run.",
    )
    task = forms.ChoiceField(required=False)
    system = forms.CharField(required=False, max_length=longest("system"))
    method = forms.ChoiceField(required=False, choices=[("", "as the file says"), *Method.choices])
    shots = forms.CharField(required=False, max_length=10, help_text="A number, or all.")
    split = forms.CharField(required=False, max_length=10)
    repeat = forms.CharField(required=False, max_length=10, help_text="Which of several such runs.")
    same_answers = forms.BooleanField(
        required=False, label="Store it although the system gave the same answers before"
    )
    accept_differences = forms.BooleanField(
        required=False,
        label="Store it although its log judges some answers otherwise",
    )

    def __init__(
        self, *args: Any, benchmark: Benchmark, kept: Job | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if kept and kept.upload:
            self.fields["file"].required = False
            self.fields["file"].help_text = f"{kept.upload.name} is kept: choose another instead."
        chooser = self.fields["task"]
        assert isinstance(chooser, forms.ChoiceField)
        slugs = benchmark.tasks.order_by("slug").values_list("slug", flat=True)
        chooser.choices = [("", "as the file says"), *((slug, slug) for slug in slugs)]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("shots", "split", "repeat"):
            try:
                run_fields({name: data.get(name) or None})
            except BadInput as refusal:
                self.add_error(name, str(refusal))
        return data


@never_cache
@require_safe
def systems(request: ResearcherRequest, name: str) -> HttpResponse:
    benchmark = benchmark_for(request, name, right=Right.SET_UP, permission="scoring.view_run")
    runs = list(Run.objects.of_benchmark(benchmark).select_related("task", "owner"))
    columns = columns_of(runs)
    context = {
        **benchmark_frame(request.user, benchmark, tab="systems"),
        "columns": columns,
        "systems": systems_of(runs, columns),
        "most_shown": MOST_SHOWN,
        "published": benchmark.reported_scores.count(),
    }
    return render(request, "scoring/runs/systems.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def add_system(request: ResearcherRequest, scope: str, name: str) -> HttpResponse:
    """A file in, a look at it out."""
    benchmark = _benchmark(request, scope, name)
    sent = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    number = request.GET.get("job", "")
    kept = _looks(request, benchmark).filter(pk=number).first() if is_key(number) else None
    initial = {**kept.arguments, **kept.arguments["said"]} if kept else None
    form = SystemForm(*sent, benchmark=benchmark, kept=kept, initial=initial)
    if form.is_valid():
        data = form.cleaned_data
        file = data.pop("file")
        arguments = arguments_of(data, benchmark, [scope, name])
        if file or kept is None:
            job = order_upload(LOOK, arguments, file, author=request.user)
        else:
            job = enqueue(LOOK, arguments, upload=kept.upload, author=request.user)
        return redirect("admin:annotation_job_change", job.pk)
    context = {
        "scope": scope,
        "name": name,
        "benchmark": benchmark,
        **frame_of(request.user, scope, name),
        "form": form,
        **_blanks(benchmark),
    }
    status = 422 if form.is_bound else 200
    return render(request, "scoring/runs/add_system.html", context, status=status)


@require_safe
def blank_predictions(request: ResearcherRequest, scope: str, name: str, task: str) -> HttpResponse:
    """A file of a task's ids, with the answers left to fill in."""
    task_row = get_object_or_404(_benchmark(request, scope, name).tasks, slug=task)
    lines = "".join(blank_lines(task_row)).encode()
    return document(lines, "application/jsonl", f"{task}-to-answer.jsonl")


def _blanks(benchmark: Benchmark) -> dict[str, Any]:
    """Tells the form which tasks there are to answer, and how a file of the first one begins."""
    tasks = list(benchmark.tasks.order_by("slug"))
    example = "".join(islice(blank_lines(tasks[0]), 2) if tasks else ())
    return {"tasks": tasks, "example": example.replace('""', '"…"')}


@require_POST
def store_system(request: ResearcherRequest, scope: str, name: str, job_id: int) -> HttpResponse:
    """What was looked at; once it is under way, or its file is gone, the look says so."""
    benchmark = _benchmark(request, scope, name)
    look = get_object_or_404(_looks(request, benchmark), pk=job_id)
    if look.upload is None or "store" not in look.result:
        return redirect("admin:annotation_job_change", look.pk)
    job = enqueue(STORE, look.arguments, upload=look.upload, author=request.user)
    return redirect("admin:annotation_job_change", job.pk)


def _looks(request: ResearcherRequest, benchmark: Benchmark) -> QuerySet[Job]:
    """One's own."""
    return Job.objects.filter(kind=LOOK, author=request.user, arguments__benchmark=benchmark.pk)


def _benchmark(request: ResearcherRequest, scope: str, name: str) -> Benchmark:
    """That of the comparison, for whoever may store its runs."""
    if scope == "study":
        name = get_object_or_404(studies(request.user, Right.TABLES), slug=name).benchmark.name
    benchmark = get_object_or_404(Benchmark, name=name)
    for right in NEEDED:
        require(request.user, benchmark, right)
    return benchmark
