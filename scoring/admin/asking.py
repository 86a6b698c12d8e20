"""The page that runs a model on a benchmark: a form in, its first prompts and cost, a job out."""

from importlib.util import find_spec

from django.contrib import admin
from django.http import HttpResponse
from django.shortcuts import get_object_or_404

from annotation.access.requests import ResearcherRequest, require
from annotation.admin.pages import show_page, to_row
from annotation.models import Benchmark
from annotation.models.errors import Refusal
from scoring.asking.asked_runs import Line
from scoring.asking.asking import as_text, estimate
from scoring.asking.forms import RunModelForm
from scoring.asking.tasks import NEEDED, offered_models, order_model, prompts_of, settings_of
from scoring.models import Run


def ask_page(
    model_admin: admin.ModelAdmin[Run], request: ResearcherRequest, pk: int
) -> HttpResponse:
    benchmark = get_object_or_404(Benchmark, pk=pk)
    for right in NEEDED:
        require(request.user, benchmark, right)
    form = RunModelForm(
        request.POST or None, request.FILES or None, benchmark=benchmark, user=request.user
    )
    sentences: list[str] = []
    first: dict[str, Line] = {}
    if request.method == "POST" and form.is_valid():
        try:
            sentences, first = _estimated(form, request)
            if "run" in request.POST:
                templates = form.cleaned_data["templates"]
                return to_row(
                    order_model(form.arguments(), templates=templates, author=request.user)
                )
        except Refusal as refusal:
            form.add_error(None, str(refusal))
    return show_page(
        model_admin,
        request,
        "scoring/asking/run_model.html",
        title=f"Run a model on {benchmark}",
        benchmark=benchmark,
        form=form,
        is_installed=find_spec("inspect_ai") is not None,
        has_models=bool(offered_models()),
        sentences=sentences,
        prompts=[{"task": task, "text": as_text(line)} for task, line in first.items()],
    )


def _estimated(form: RunModelForm, request: ResearcherRequest) -> tuple[list[str], dict[str, Line]]:
    arguments, file = form.arguments(), form.cleaned_data["templates"]
    data = file.read() if file else None
    if file:
        file.seek(0)
    prompts = prompts_of(arguments, form.benchmark, form.cleaned_data["study"], data)
    settings = settings_of(arguments)
    return estimate(prompts, settings, owner=request.user, limit=arguments["limit"])
