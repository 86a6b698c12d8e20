"""The pages of docs/, their search and their pictures, for everybody."""

from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.documentation import pages
from config.documentation.searching import search


@login_not_required
@require_safe
def documentation(request: HttpRequest, page: str = "") -> HttpResponse:
    wanted, query = page.rstrip("/"), request.GET.get("q", "").strip()
    names = (wanted, f"{wanted}/{pages.FIRST}".lstrip("/"))
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


@login_not_required
@require_safe
def picture(request: HttpRequest, name: str) -> FileResponse:
    known = {
        file.relative_to(pages.PICTURES).as_posix(): file for file in pages.PICTURES.rglob("*.png")
    }
    if name not in known:
        raise Http404
    return FileResponse(known[name].open("rb"))
