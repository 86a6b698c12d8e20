"""The pages of docs/ and their search, for everybody."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.settings import APISettings

from config.documentation import pages
from config.documentation.searching import search


class ByFormat(DefaultContentNegotiation):
    """Lets `format` choose the schema's form, as it does everywhere: yaml, or json."""

    settings = APISettings({"URL_FORMAT_OVERRIDE": "format"})  # type: ignore[assignment]  # of stubs


@login_not_required
@require_safe
def documentation(request: HttpRequest, page: str = "") -> HttpResponse:
    path, query = page.rstrip("/"), request.GET.get("q", "").strip()
    names = (path, f"{path}/{pages.FIRST}".lstrip("/"))
    name = next((name for name in names if name in pages.page_names()), None)
    if name is None:
        raise Http404
    context = {
        "title": pages.title(name),
        "text": pages.page_html(name, reverse("documentation")),
        "is_first": name == pages.FIRST,
        "query": query,
        "found": search(query) if query else [],
    }
    return render(request, "documentation.html", context)
