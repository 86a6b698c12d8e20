"""Benchmarks and their tasks: what was imported, what the audit found, what can be changed."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.text import Truncator

from annotation import models
from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.admin.forms import ColumnsForm
from annotation.admin.pages import (
    CONFIRM,
    MembersAdmin,
    OwnedAdmin,
    ViewOnlyAdmin,
    readable_benchmarks,
    section,
    shown,
    to_row,
)
from annotation.admin.sample_form import TaskForm, is_held
from annotation.benchmarks import correcting
from annotation.benchmarks.chains import chains
from annotation.benchmarks.correcting import Proposals, proposals_of
from annotation.benchmarks.formats.task_files import also_said, as_said
from annotation.benchmarks.forms import ImportForm
from annotation.benchmarks.importing import JOB as STORE
from annotation.benchmarks.looking import JOB as LOOK
from annotation.benchmarks.looking import first_table
from annotation.jobs.queue import enqueue
from annotation.kinds import in_full
from annotation.kinds.gold import gold_in_force
from annotation.models.benchmark import HELD_FIELDS
from annotation.models.errors import Refusal
from annotation.models.texts import is_key
from annotation.studies.forms import SEPARATOR, GoldForm, written

TO_TRY = "One to try"
FROM_FILES = ("benchmark", "slug", "kind", "max_spans", "normalisation", "transfer")
PREFIX, IMPORT = "annotation_benchmark", "admin/annotation/import.html"
_Content = TypeVar("_Content", models.ItemSet, models.Example)


@admin.register(models.Benchmark)
class BenchmarkAdmin(MembersAdmin[models.Benchmark]):
    things = staticmethod(readable_benchmarks)
    path = "pk"
    to_view = Right.GOLD
    to_delete = Right.MEMBERS
    pages = {
        "members": ("annotation.change_benchmark", Right.MEMBERS),
        "changes": ("annotation.view_benchmark", Right.SET_UP),
    }
    change_list_template = "admin/annotation/benchmark_list.html"
    list_display = ("name", "title", "task_count", "study_count", "created_at")
    search_fields = ("name", "title")
    actions = None
    fields = ("name", "title", "source", "canary", "keeps_texts")
    readonly_fields = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A benchmark is only created by import."""
        return False

    def save_model(
        self, request: HttpRequest, obj: models.Benchmark, form: Any, change: bool
    ) -> None:
        stored = models.Benchmark.objects.get(pk=obj.pk)
        super().save_model(request, obj, form, change)
        self.log_settings(request, stored, form)

    def get_urls(self) -> list[URLPattern]:
        pages: dict[str, tuple[str, Callable[..., HttpResponse]]] = {
            "import": ("import/", self.import_page),
            "go_on": ("import/<int:job_id>/", self.go_on_page),
            "columns": ("import/<int:job_id>/columns/", self.columns_page),
        }
        may_import = permission_required("annotation.add_benchmark", raise_exception=True)
        urls = [
            path(where, self.admin_site.admin_view(may_import(page)), name=f"{PREFIX}_{name}")
            for name, (where, page) in pages.items()
        ]
        return [*urls, *super().get_urls()]

    def import_page(self, request: ResearcherRequest) -> HttpResponse:
        """A file in, a look at it out; it is stored from there."""
        number = request.GET.get("job", "")
        form = ImportForm(
            request.POST if request.method == "POST" else None,
            request.FILES or None,
            initial={"name": request.GET.get("name", "")},
            user=request.user,
            before=_look(request, int(number)) if is_key(number) else None,
            kept={name: request.POST.get(f"kept-{name}", "") for name in ("file", "source")},
        )
        if request.method == "POST":
            is_good = form.is_valid()
            form.keep_files()
            if is_good:
                upload = form.kept["file"]
                return to_row(enqueue(LOOK, form.arguments, upload=upload, author=request.user))
        title = "Import a benchmark"
        return self.show_page(request, IMPORT, title=title, form=form)

    def go_on_page(self, request: ResearcherRequest, job_id: int) -> HttpResponse:
        """Store what a look has shown, or look again in the way that was chosen."""
        job = _look(request, job_id)
        if request.method != "POST" or job is None:
            return HttpResponseRedirect(reverse(f"admin:{PREFIX}_import"))
        arguments, kind = dict(job.arguments), STORE
        # What was not shown is not stored.
        if not job.result.get("looks") and not request.POST.get("line"):
            messages.error(request, "Say first what is meant: nothing was read yet.")
            return to_row(job)
        line = request.POST.get("line", "")
        if line := request.POST.get("written", "") if line == "written" else line:
            try:
                said = as_said(line)
            except Refusal as refusal:
                messages.error(request, str(refusal))
                return to_row(job)
            kind, arguments["said"] = LOOK, also_said(arguments.get("said", {}), said)
        return to_row(enqueue(kind, arguments, upload=job.upload, author=request.user))

    def columns_page(self, request: ResearcherRequest, job_id: int) -> HttpResponse:
        """Ask which column of a table holds what."""
        job = _look(request, job_id)
        if job is None or job.upload is None:
            return HttpResponseRedirect(reverse(f"admin:{PREFIX}_import"))
        try:
            file, columns, cells = first_table(job)
        except Refusal as refusal:
            messages.error(request, str(refusal))
            return to_row(job)
        arguments = dict(job.arguments)
        said = arguments.get("said", {})
        columns = columns | said.get("columns", {})
        form = ColumnsForm(request.POST or None, columns=columns, cells=cells)
        if request.method == "POST" and form.is_valid():
            arguments["said"] = also_said(said, form.said)
            arguments["lax"] = form.cleaned_data["leaves_out"]
            return to_row(enqueue(LOOK, arguments, upload=job.upload, author=request.user))
        title = f"Columns of {file}"
        return self.show_page(request, "admin/annotation/columns.html", title=title, form=form)

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Benchmark]:
        counts = {
            "task_count": Count("tasks", distinct=True),
            "study_count": Count("studies", distinct=True),
        }
        return super().get_queryset(request).annotate(**counts)

    task_count = shown("Tasks", lambda row: row.task_count, ordering="task_count")
    study_count = shown("Studies", lambda row: row.study_count, ordering="study_count")

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        benchmark = self.get_object(request, object_id)
        if benchmark is None or not self.has_delete_permission(request, benchmark):
            return super().delete_view(request, object_id, extra_context)
        if request.method == "POST":
            return self._delete(request, benchmark)
        if uses := correcting.uses_of(benchmark):
            messages.error(request, correcting.kept_sentence(benchmark, uses))
            return to_row(benchmark)
        return self.show_page(
            request,
            CONFIRM,
            original=benchmark,
            title=f"Delete the benchmark {benchmark}",
            sentences=[
                "Nothing uses it. Its tasks, examples and gold are deleted for good:",
                ", ".join(task.slug for task in benchmark.tasks.all()) or "it has no tasks",
            ],
            button="Delete",
        )

    def _delete(self, request: HttpRequest, benchmark: models.Benchmark) -> HttpResponse:
        name = str(benchmark)
        try:
            with transaction.atomic():
                self.log_deletions(request, models.Benchmark.objects.filter(pk=benchmark.pk))
                correcting.delete_benchmark(benchmark)
        except Refusal as refusal:
            messages.error(request, str(refusal))
            return to_row(benchmark)
        messages.success(request, f"The benchmark {name} was deleted.")
        return HttpResponseRedirect(reverse("admin:annotation_benchmark_changelist"))

    def about(self, request: HttpRequest, row: models.Benchmark) -> dict[str, Any]:
        return {"show_delete": not correcting.uses_of(row)}


def _look(request: ResearcherRequest, job_id: int) -> models.Job | None:
    """A look of this person, with its file still there; or an import that failed."""
    jobs = models.Job.objects.filter(pk=job_id, kind__in=(LOOK, STORE), author=request.user)
    return jobs.exclude(upload=None).select_related("upload").first()


def _warnings(task: models.Task) -> int:
    return sum(finding.get("severity") == "warning" for finding in task.audit)


@admin.register(models.Task)
class TaskAdmin(OwnedAdmin[models.Task]):
    things = staticmethod(readable_benchmarks)
    path = "benchmark"
    to_view = Right.GOLD
    form = TaskForm
    change_form_template = "admin/annotation/task_form.html"
    list_display = ("__str__", "slug", "title", "benchmark", "kind", "language", "warning_count")
    list_filter = (("benchmark", admin.RelatedOnlyFieldListFilter), "kind")
    list_select_related = ("benchmark",)
    search_fields = ("slug", "name", "title")
    actions = None
    pages = {"proposed": ("annotation.add_goldversion", Right.SET_UP)}
    fieldsets = [
        section(
            None,
            "description",
            about="Annotators see the description as Markdown: “- ” begins an entry of a list, "
            "**stars** stand for bold, an empty line begins a paragraph.",
        ),
        section(
            TO_TRY,
            *TaskForm.SAMPLE,
            about="People read and try it before they consent; nothing of it is stored. Once a "
            "study of the task has started it stays as it is.",
        ),
        section("About the task", "name", "title", ("language", "direction"), "reference_policy"),
        section("From the files", *FROM_FILES),
    ]
    readonly_fields = FROM_FILES

    def get_queryset(self, request: HttpRequest) -> QuerySet[models.Task]:
        return super().get_queryset(request).filter(benchmark__is_staged=False)

    def has_add_permission(self, request: HttpRequest, obj: models.Task | None = None) -> bool:
        return False

    has_delete_permission = has_add_permission

    def get_fieldsets(self, request: HttpRequest, obj: models.Task | None = None) -> Any:
        """Who may only look sees the item to try as it is stored, without its fields."""
        fieldsets = super().get_fieldsets(request, obj)
        if self.has_change_permission(request, obj):
            return fieldsets
        return [
            (title, {**options, "fields": ["sample"]} if title == TO_TRY else options)
            for title, options in fieldsets
        ]

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Task | None = None
    ) -> list[str]:
        fixed = HELD_FIELDS.difference(self.readonly_fields) if obj and is_held(obj) else ()
        return [*self.readonly_fields, *fixed]

    warning_count = shown("Warnings", _warnings)

    def proposed_page(self, request: ResearcherRequest, task: models.Task) -> HttpResponse:
        """The corrections that the file proposes, to be taken together."""
        proposals = proposals_of(task)
        if not proposals.takeable and not proposals.unread:
            messages.info(request, "The file proposes no gold but the one in force.")
            return to_row(task)
        corrections: dict[int | str, correcting.Given] = {
            example.pk: alternatives for example, alternatives in proposals.takeable.items()
        }
        reason = "proposed in the benchmark's file"
        take = partial(
            correcting.correct_gold, task, corrections, author=request.user, reason=reason
        )
        return self.confirm(
            request,
            task,
            take,
            done="The gold is corrected: whoever has answered is scored by the new version.",
            title=f"Corrections that the file of {task} proposes",
            sentences=_told(proposals),
            button=f"Take these {len(proposals.takeable)}",
        )

    def about(self, request: HttpRequest, row: models.Task) -> dict[str, Any]:
        return {
            "proposed": row.examples.exclude(proposed="").count(),
            "is_held": is_held(row),
            "item_sets": row.item_sets.annotate(size=Count("items")),
            "chains": chains(row),
            "findings": row.audit,
            "gold_versions": row.gold_versions.select_related("author"),
        }


def _told(proposals: Proposals) -> Iterator[str]:
    for example, alternatives in proposals.takeable.items():
        before = " or ".join(written(_latest_gold(example)).split(f"\n{SEPARATOR}\n"))
        after = " or ".join(text for texts in alternatives for text in in_full(texts, example))
        asked = Truncator(" / ".join([*example.context, example.question]).strip(" /")).chars(160)
        about = "; ".join(f"{name}: {value}" for name, value in example.groups.items())
        name = example.identity.partition(":")[2]
        sentence = f"{name}: {after}, in place of {before}. It asks: “{asked}”"
        yield f"{sentence} ({about})" if about else sentence
    for example in proposals.unread:
        name = example.identity.partition(":")[2]
        yield f"{name}: “{example.proposed}” names no option, or two, so it is not taken."


class TaskContentAdmin(ViewOnlyAdmin[_Content]):
    """Reached from its task."""

    things = staticmethod(readable_benchmarks)
    path = "task__benchmark"
    to_view = Right.GOLD
    list_select_related = ("task__benchmark",)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(models.ItemSet)
class ItemSetAdmin(TaskContentAdmin[models.ItemSet]):
    change_form_template = "admin/annotation/item_set_form.html"
    list_display = ("__str__", "role", "shots", "split", "episode")
    search_fields = ("task__slug", "name")
    fields = ("task", "name", "role", "shots", "split", "episode", "choices", "source_file")

    def about(self, request: HttpRequest, row: models.ItemSet) -> dict[str, Any]:
        return {"items": row.items.select_related("example").order_by("position")}


@admin.register(models.Example)
class ExampleAdmin(TaskContentAdmin[models.Example]):
    pages = {"correct": ("annotation.add_goldversion", Right.SET_UP)}
    change_form_template = "admin/annotation/example_form.html"
    list_display = ("identity", "task", "question")
    search_fields = ("identity", "items__source_id")
    fields = ("task", "identity", "question")

    def correct_page(self, request: ResearcherRequest, example: models.Example) -> HttpResponse:
        gold = _latest_gold(example)
        form = GoldForm(request.POST or None, example=example, initial={"gold": written(gold)})

        def correct() -> None:
            corrections: dict[int | str, Any] = {example.pk: form.alternatives(gold)}
            reason = form.cleaned_data["reason"]
            correcting.correct_gold(example.task, corrections, author=request.user, reason=reason)

        done = "The gold is corrected: people and runs are scored again by the new version."
        is_sent = request.method == "POST" and form.is_valid()
        if is_sent and self.attempt(request, example, correct, done=done):
            return to_row(example)
        template = "admin/annotation/correct_gold.html"
        about: dict[str, Any] = {"title": "Correct the gold", "form": form, "gold": gold}
        return self.show_page(request, template, original=example, **about)

    def about(self, request: HttpRequest, row: models.Example) -> dict[str, Any]:
        return {
            "may_correct": self.allows(request, row, Right.SET_UP),
            "gold": _latest_gold(row),
            "golds": row.golds.select_related("version__author").order_by("version__number"),
            "items": row.items.select_related("item_set__task"),
        }


def _latest_gold(example: models.Example) -> models.Gold:
    latest = example.task.latest_gold_version()
    return gold_in_force([example.pk], example.task_id, latest.number)[example.pk]
