"""Runs, published figures and decisions about the leaderboard in the admin: runs are read, and
deleted as a whole, never edited; and the page that runs a model on a benchmark."""

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import URLPattern
from django.urls import path as address
from django.utils.translation import ngettext
from django_stubs_ext import StrOrPromise

from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right, benchmarks
from annotation.admin.pages import OwnedAdmin, shown, to_row
from annotation.models import Benchmark, Study, clock
from annotation.models.errors import Frozen, Refusal
from annotation.studies.forms import RuledForm
from scoring.asking import tasks
from scoring.asking.asked_runs import Line
from scoring.asking.asking import as_text, estimate
from scoring.leaderboard.approving import OF_STANDING, decide_runs
from scoring.models import (
    BoardDecision,
    Leaderboard,
    ReportedScore,
    Run,
    RunState,
    Standing,
    shots_label,
)
from scoring.models.claims import check_deletable
from scoring.models.run import RunQuerySet
from scoring.runs.import_report import EXAMPLES, counts_of, form_in_words, tuning_of


def ask_page(model_admin: OwnedAdmin[Run], request: ResearcherRequest, pk: int) -> HttpResponse:
    """Run a model on a benchmark."""
    benchmark = get_object_or_404(Benchmark, pk=pk)
    for right in tasks.NEEDED:
        require(request.user, benchmark, right)
    form = tasks.RunModelForm(
        request.POST or None, request.FILES or None, benchmark=benchmark, user=request.user
    )
    sentences: list[str] = []
    first: dict[str, Line] = {}
    if request.method == "POST" and form.is_valid():
        templates = form.cleaned_data["templates"]
        try:
            sentences, first = _estimated(form, request)
            if "run" in request.POST:
                job = tasks.order_model(form.arguments(), templates=templates, author=request.user)
                return to_row(job)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
    return model_admin.show_page(
        request,
        "scoring/asking/run_model.html",
        title=f"Run a model on {benchmark}",
        benchmark=benchmark,
        form=form,
        is_installed=find_spec("inspect_ai") is not None,
        has_models=bool(settings.MODELS),
        sentences=sentences,
        spent=tasks.spent_on(benchmark),
        under_way=tasks.under_way_on(benchmark),
        prompts=[{"task": task, "text": as_text(line)} for task, line in first.items()],
    )


def _estimated(
    form: tasks.RunModelForm, request: ResearcherRequest
) -> tuple[list[str], dict[str, Line]]:
    arguments, file = form.arguments(), form.cleaned_data["templates"]
    data = file.read() if file else None
    if file:
        file.seek(0)
    prompts = tasks.prompts_of(arguments, form.benchmark, form.cleaned_data["study"], data)
    asked = tasks.settings_of(arguments)
    return estimate(prompts, asked, owner=request.user, limit=arguments["limit"])


@admin.action(description="Approve for the leaderboard", permissions=["decide"])
def approve(model_admin: admin.ModelAdmin[Run], request: HttpRequest, runs: QuerySet[Run]) -> None:
    _decide(model_admin, request, runs, stands=True)


@admin.action(description="Keep off the leaderboard", permissions=["decide"])
def keep_off(model_admin: admin.ModelAdmin[Run], request: HttpRequest, runs: QuerySet[Run]) -> None:
    _decide(model_admin, request, runs, stands=False)


def _decide(
    model_admin: admin.ModelAdmin[Run], request: HttpRequest, runs: QuerySet[Run], *, stands: bool
) -> None:
    # The admin offers its actions to nobody who is not signed in.
    author = cast(User, request.user)
    try:
        count = decide_runs(runs, stands=stands, author=author, at=clock.now())
    except Refusal as refusal:
        model_admin.message_user(request, str(refusal), messages.ERROR)
        return
    if stands:
        done = ngettext("%(n)d run stands on the board.", "%(n)d runs stand on the board.", count)
    else:
        done = ngettext("%(n)d run is kept off.", "%(n)d runs are kept off.", count)
    model_admin.message_user(request, done % {"n": count}, messages.SUCCESS)


class OnBoardFilter(admin.SimpleListFilter):
    title = "leaderboard"
    parameter_name = "on_board"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, StrOrPromise]]:
        return Standing.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        chosen = self.value() or ""
        if chosen not in OF_STANDING:
            return queryset
        return queryset.filter(OF_STANDING[chosen], state=RunState.COMPLETE)


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
class RunAdmin(NeverChanged[Run]):
    path = "task__benchmark"
    list_display = [
        *("system", "method", "task", "label", "state", "covered", "owner", "on_board"),
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
    # Accounts have pages for superusers alone, so an owner is named without a link.
    exclude = ["report", "owner"]
    readonly_fields = ["whose", "completed_at", "covered", "imported"]

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
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

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("scoring.change_boarddecision")

    on_board = shown(
        "leaderboard",
        lambda run: str(run.standing.label) if run.standing else "–",
        ordering="board_decision__stands",
    )
    whose = shown("owner", lambda run: run.owner or "–")
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
    form = RuledForm[ReportedScore]
    list_display = ["system", "method", "task", "shots_shown", "mean", "sd", "n", "references"]
    list_filter = [
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        *("kind", "references", "method", "task", "source"),
    ]
    list_select_related = ["benchmark"]
    search_fields = ["system", "source"]

    shots_shown = shown("shots", lambda score: shots_label(score.shots), ordering="shots")

    def save_model(self, request: HttpRequest, obj: ReportedScore, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        tasks = list(obj.benchmark.tasks.values_list("slug", flat=True))
        if obj.task not in tasks:
            known = ", ".join(tasks) or "none"
            messages.warning(
                request,
                f"The benchmark has no task {obj.task} (it has {known}): the figure gets a column "
                "of its own. Delete it if that is not meant.",
            )


@admin.register(Leaderboard)
class LeaderboardAdmin(OfBenchmark[Leaderboard]):
    list_display = ["benchmark", "is_public"]


@admin.register(BoardDecision)
class BoardDecisionAdmin(OfBenchmark[BoardDecision]):
    """Decisions about runs are made on the list of runs; these are about studies. The board is the
    benchmark's, so its editors decide."""

    path = "study__benchmark"
    list_display = ["__str__", "stands", "author", "decided_at"]
    list_filter = ["stands"]
    list_select_related = ["run__task", "study", "author"]
    fields = ["study", "stands"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[BoardDecision]:
        return super().get_queryset(request).filter(study__isnull=False)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and db_field.name == "study":
            mine = benchmarks(request.user, Right.SET_UP)
            field.queryset = Study.objects.filter(benchmark__in=mine.values("pk"))
            field.required = True
            field.help_text = (
                "Without a decision, the people of a study stand on the board once it is closed."
            )
        return field

    def save_model(self, request: HttpRequest, obj: BoardDecision, form: Any, change: bool) -> None:
        obj.author_id = request.user.pk
        obj.decided_at = clock.now()
        super().save_model(request, obj, form, change)
