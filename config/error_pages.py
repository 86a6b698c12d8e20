"""With DEBUG, Django answers what is not found or failed with a page for programmers, which shows
settings and code. Visitors of `make run` get our own pages; DEBUG_PAGES=1 brings Django's back."""

from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.defaults import bad_request, page_not_found, server_error

# What Django's pages of this kind say of themselves, as HTML and as plain text.
MARK = b"DEBUG = True"
Handler = Callable[[HttpRequest], HttpResponseBase]


def show_our_own(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not settings.DEBUG or settings.DEBUG_PAGES or MARK not in _text_of(response):
            return response
        if response.status_code == 404:
            return page_not_found(request, Http404())
        if response.status_code == 400:
            return bad_request(request, ValueError())
        return server_error(request)

    return middleware


def _text_of(response: HttpResponseBase) -> bytes:
    return getattr(response, "content", b"") if response.status_code in (400, 404, 500) else b""
