"""What every page of a comparison needs: who may see it, what it is of, what was chosen."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from annotation.access.requests import HtmxRequest
from annotation.models import Benchmark, Study
from scoring.comparison.cells import Choices
from scoring.comparison.scope import Scope

View = Callable[..., HttpResponseBase]


def for_researchers(view: View) -> View:
    """Pages that show answers and scores are for staff; anybody else is asked to sign in."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return guarded


def found_scope(scope: str, name: str) -> Scope:
    if scope == "benchmark":
        return Scope(get_object_or_404(Benchmark, name=name))
    study = get_object_or_404(Study.objects.select_related("benchmark"), slug=name)
    return Scope(study.benchmark, study)


def asked(request: HttpRequest, scope: str, name: str) -> tuple[Scope, Choices]:
    """What is compared, and the reader's choices as the address carries them."""
    found, choices = found_scope(scope, name), _chosen(request.GET)
    if choices.gold_version and choices.gold_version > found.latest_gold_version:
        raise Http404(f"There is no gold version {choices.gold_version}.")
    return found, choices


def _chosen(given: QueryDict) -> Choices:
    version = given.get("gold_version", "")
    try:
        return Choices(
            references=given.get("references") or None,
            estimand=given.get("estimand") or "new_items",
            shots=tuple(given.getlist("shots")),
            simulated="simulated" in given,
            with_excluded="with_excluded" in given,
            gold_version=int(version) if version else None,
        )
    except ValueError as error:
        raise Http404(str(error)) from error


def download(document: bytes, content_type: str, name: str) -> HttpResponse:
    return HttpResponse(
        document,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def render_or_poll(request: HtmxRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A page of figures that may still be being computed; its poll gets only the progress."""
    if not request.htmx:
        return render(request, template, context)
    if context["waiting"]:
        return render(request, "scoring/comparison/_progress.html", context)
    # Its job is over: the whole page has changed.
    return HttpResponse(headers={"HX-Refresh": "true"})


def back_to(page: str, request: HttpRequest, scope: str, name: str) -> HttpResponse:
    """To a page of the comparison, with the reader's choices."""
    address = reverse(page, args=[scope, name])
    given = urlencode(list(request.GET.lists()), doseq=True)
    return redirect(f"{address}?{given}" if given else address)
