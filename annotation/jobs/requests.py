"""Large files over HTTP: uploaded for a job; or ordered, watched and fetched at the address of the
file itself, so that nobody fetches what they may not open."""

import codecs
from collections.abc import Callable
from functools import wraps
from mimetypes import guess_type
from typing import Any, ParamSpec

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.access.requests import HtmxRequest
from annotation.jobs import files
from annotation.jobs.files import FileOrder
from annotation.jobs.queue import enqueue
from annotation.models import Job, JobFile, Upload
from annotation.models.texts import is_key

P = ParamSpec("P")
PAGE = "annotation/jobs/file.html"
# Names the job whose file is fetched.
FETCHED = "file"


class UploadField(forms.FileField):
    """A file for a job; for what is larger there is a command."""

    def clean(self, data: Any, initial: Any = None) -> Any:
        file, most = super().clean(data, initial), settings.BENCHMARK_UPLOAD_MAX_BYTES
        if file and file.size > most:
            size = f"{most // 1_000_000} MB"
            raise ValidationError(f"The file is larger than {size}: import it by the command.")
        return file


@transaction.atomic
def order_upload(kind: str, arguments: dict[str, Any], file: Any, *, author: User) -> Job:
    """The job that takes it."""
    upload = Upload.objects.create(name=file.name[-300:], data=file.read())
    return enqueue(kind, arguments, upload=upload, author=author)


def large_file(
    request: HtmxRequest, order: FileOrder, content_type: str, *, back: str
) -> HttpResponse:
    """The page of a file, or the file. Call it for whoever may see the file, and with what it is
    for this reader; `back` is the page that leads here."""
    if FETCHED in request.GET:
        return _fetched(request, order, content_type)
    job = order.jobs.select_related("file").first()
    author = request.user if isinstance(request.user, User) else None
    # Strangers, where a board is public, have it made once: they would keep a worker busy.
    may_order = author is not None or job is None
    if request.method == "POST":
        if may_order:
            order.order(author=author)
        return redirect(request.get_full_path())
    context = {
        "may_order": may_order,
        "of": order.of,
        "back": back,
        "job": job,
        "is_waiting": job is not None and not job.is_over,
        "file": getattr(job, "file", None),
    }
    return render(request, f"{PAGE}#state" if request.htmx else PAGE, context)


def document(data: bytes, content_type: str, name: str) -> HttpResponse:
    """Whole, not line by line: a slow reader of a stream would hold a thread of the server."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(data, content_type=content_type, headers=headers)


def for_spreadsheets(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """A page's CSV begins with the sign by which Excel knows UTF-8. Commands and the API, whose
    readers are programs, have it without."""

    @wraps(view)
    def marked(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(*args, **kwargs)
        if response.headers["Content-Type"].startswith("text/csv"):
            if response.headers.pop("Content-Encoding", "") == "gzip":
                response.content = files.uncompressed(response.content)
            response.content = codecs.BOM_UTF8 + response.content
        return response

    return marked


def _fetched(request: HtmxRequest, order: FileOrder, content_type: str) -> HttpResponse:
    number = request.GET[FETCHED]
    if not is_key(number):
        raise Http404
    return job_file(request, order.jobs, int(number), content_type)


def job_file(
    request: HttpRequest, jobs: QuerySet[Job], job_id: int, content_type: str = ""
) -> HttpResponse:
    """What one of these jobs has made; of a type that its name tells, if none is given."""
    file = get_object_or_404(JobFile, job_id=job_id, job__in=jobs)
    content_type = content_type or guess_type(file.name)[0] or "application/octet-stream"
    data = bytes(file.data)
    if "gzip" not in request.headers.get("Accept-Encoding", ""):
        return document(files.uncompressed(data), content_type, file.name)
    response = document(data, content_type, file.name)
    response.headers["Content-Encoding"] = "gzip"
    return response
