"""Jobs: the state of long work, and a way to stop it."""

from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from annotation.access.requests import HtmxRequest
from annotation.access.rights import Right, is_all_powerful
from annotation.admin.pages import ViewOnlyAdmin, shown, to_row
from annotation.benchmarks.importing import JOB as STORE
from annotation.benchmarks.looking import JOB as LOOK
from annotation.models import Benchmark, Job
from annotation.studies.tabs import frame_of


@admin.register(Job)
class JobAdmin(ViewOnlyAdmin[Job]):
    """Everybody's own jobs."""

    pages = {
        "progress": ("annotation.view_job", Right.SET_UP),
        "cancel": ("annotation.change_job", Right.SET_UP),
    }
    list_display = ("id", "kind", "state", "percent", "message", "author", "created_at")
    list_filter = ("state", "kind")
    list_select_related = ("author",)

    def progress_page(self, request: HtmxRequest, job: Job) -> HttpResponse:
        template = "admin/annotation/job.html"
        return self.show_page(
            request,
            f"{template}#progress" if request.htmx else template,
            original=job,
            title=_title(job),
            **frame_of(request.user, *job.arguments.get("page", ("", ""))),
            job=job,
            imported=Benchmark.objects.filter(name=job.result.get("benchmark", "")).first(),
            can_go_on=job.kind in (LOOK, STORE) and job.is_over and job.upload is not None,
        )

    def cancel_page(self, request: HttpRequest, job: Job) -> HttpResponse:
        if request.method == "POST":
            if Job.objects.filter(pk=job.pk, finished_at=None).update(cancel_requested=True):
                self.log_change(request, job, "cancelled")
                messages.success(request, "The job will stop at its next step.")
            else:
                messages.error(request, "The job is over: there is nothing left to stop.")
        return to_row(job)

    def permitted(
        self, request: HttpRequest, rows: QuerySet[Job], right: Right | None
    ) -> QuerySet[Job]:
        return rows if is_all_powerful(request.user) else rows.filter(author=request.user.pk)

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        job = self.get_object(request, object_id)
        if request.method != "GET" or job is None or not self.has_view_permission(request, job):
            return super().change_view(request, object_id, *args, **kwargs)
        # The admin's own signature does not know what the middleware adds.
        return self.progress_page(cast(HtmxRequest, request), job)

    percent = shown(
        "Progress", lambda row: f"{100 * row.progress // row.total} %" if row.total else "–"
    )


def _title(job: Job) -> str:
    named = f" of {job.upload.name}" if job.upload else ""
    return f"Job {job.pk}: {job.kind.replace('_', ' ')}{named}"
