"""Runs and published figures in the admin: read, and deleted as a whole, never edited; and the page
that runs a model on a benchmark: a form in, its first prompts and cost, a job out."""

from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from django.contrib import admin, messages
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import URLPattern
from django.urls import path as address

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right, benchmarks
from annotation.admin.pages import OwnedAdmin, shown, to_row
from annotation.models import Benchmark
from annotation.models.errors import Frozen, Refusal
from scoring.admin.board import DecidesAboutBoards, OnBoardFilter, approve, keep_off
from scoring.asking.asked_runs import Line
from scoring.asking.asking import as_text, estimate
from scoring.asking.tasks import (
    NEEDED,
    RunModelForm,
    offered_models,
    order_model,
    prompts_of,
    settings_of,
)
from scoring.models import Leaderboard, ReportedScore, Run, shots_label
from scoring.models.claims import check_deletable
from scoring.models.run import RunQuerySet
from scoring.runs.import_report import EXAMPLES, counts_of, form_in_words, tuning_of


def ask_page(model_admin: OwnedAdmin[Run], request: ResearcherRequest, pk: int) -> HttpResponse:
    """Run a model on a benchmark."""
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
    return model_admin.show_page(
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


_Row = TypeVar("_Row", bound=Model)


class OfBenchmark(OwnedAdmin[_Row]):
    """Rows of a benchmark, for those who set it up."""

    things = staticmethod(benchmarks)
    path = "benchmark"

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        if db_field.related_model is Benchmark:
            kwargs["queryset"] = benchmarks(request.user, Right.SET_UP)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class NeverChanged(OfBenchmark[_Row]):
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(DecidesAboutBoards, NeverChanged[Run]):
    path = "task__benchmark"
    list_display = [
        "system",
        "method",
        "task",
        "label",
        "state",
        "covered",
        "owner",
        "on_board",
        "created_at",
    ]
    list_filter = [
        "state",
        OnBoardFilter,
        "method",
        ("task__benchmark", admin.RelatedOnlyFieldListFilter),
        ("task", admin.RelatedOnlyFieldListFilter),
    ]
    actions = [approve, keep_off]
    search_fields = ["system", "source_name"]
    exclude = ["report"]
    readonly_fields = ["completed_at", "covered", "imported"]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Of one run, or of those that were chosen in the list."""
        check_deletable(objs)
        return super().get_deleted_objects(objs, request)

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changelist_view(request, *args, **kwargs)
        except Frozen as refusal:
            messages.error(request, str(refusal))
            return HttpResponseRedirect(request.path)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        runs = cast(RunQuerySet, super().get_queryset(request)).with_standing()
        return runs.select_related("task__benchmark", "owner")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(partial(ask_page, self))
        return [address("ask/<int:pk>/", view, name="scoring_run_ask"), *super().get_urls()]

    label = shown("trained on", lambda run: run.label)
    covered = shown(
        "coverage", lambda run: "–" if run.coverage is None else f"{100 * run.coverage:.1f} %"
    )

    @admin.display(description="import report")
    def imported(self, run: Run) -> str:
        counts = counts_of(run.report)
        return render_to_string(
            "scoring/runs/import_report.html",
            {
                "counts": counts.in_words(),
                "reasons": counts.reasons_in_words(),
                "forms": form_in_words(run.report, run.test_set.choices),
                "notes": run.report.get("notes", []),
                "examples": run.report.get(EXAMPLES, []),
                "prompts": run.report.get("prompts"),
                "asked": run.report.get("asked"),
                "tuning": list(tuning_of(run.report).items()),
            },
        )


@admin.register(ReportedScore)
class ReportedScoreAdmin(NeverChanged[ReportedScore]):
    list_display = ["system", "method", "task", "shots_shown", "mean", "sd", "n", "references"]
    list_filter = [
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        "kind",
        "references",
        "method",
        "task",
        "source",
    ]
    search_fields = ["system", "source"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReportedScore]:
        return super().get_queryset(request).select_related("benchmark")

    shots_shown = shown("shots", lambda score: shots_label(score.shots), ordering="shots")


@admin.register(Leaderboard)
class LeaderboardAdmin(OfBenchmark[Leaderboard]):
    list_display = ["benchmark", "is_public"]
