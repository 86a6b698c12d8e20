"""NUL stands in no name, token or text, and PostgreSQL refuses it: so it is refused at the door."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.views.defaults import page_not_found


def refuse_nul(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path:
            return page_not_found(request, Http404())
        values = (value for name in request.GET for value in [name, *request.GET.getlist(name)])
        if any("\0" in value for value in values):
            return _refused(request)
        return get_response(request)

    return middleware


def _refused(request: HttpRequest) -> HttpResponse:
    sentence = _("The address holds a character that stands in no text (NUL): leave it out.")
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": sentence}, status=400)
    return HttpResponse(sentence, "text/plain; charset=utf-8", 400)
