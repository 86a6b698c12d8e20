"""When the database cannot be written or reached just now: a page that keeps what was sent and
sends it again, never an error page that loses it."""

import logging
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

AGAIN_AFTER_S = 5
# Never written into a page, nor is what belongs to the page's own protection.
NOT_REPEATED = ("password", "csrfmiddlewaretoken")

logger = logging.getLogger(__name__)


class TryAgainMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        logger.warning("The database refused: %s", str(exception).strip())
        response = _for_programs() if request.path.startswith("/api/") else _page(request)
        response.headers["Retry-After"] = str(AGAIN_AFTER_S)
        add_never_cache_headers(response)
        # Said above; Django's own line would tell the path, and with it whose link it is. A private
        # flag of Django's, unknown to its types.
        response._has_been_logged = True  # type: ignore[attr-defined]
        return response


def _for_programs() -> HttpResponse:
    sentence = _("The database is busy, and nothing was stored. Send this again in a moment.")
    return JsonResponse({"detail": sentence}, status=503)


def _page(request: HttpRequest) -> HttpResponse:
    # Without the request: what the page usually shows of it might be read from the database.
    context = {
        "address": request.get_full_path(),
        "is_form": request.method == "POST",
        "fields": _sent(request),
        "has_file": request.method == "POST" and bool(request.FILES),
        "seconds": AGAIN_AFTER_S,
        "csrf_token": get_token(request),
    }
    return HttpResponse(render_to_string("503.html", context), status=503)


def _sent(request: HttpRequest) -> list[tuple[str, str]]:
    lists = request.POST.lists()
    return [
        (name, str(value))
        for name, values in lists
        if not name.startswith(NOT_REPEATED)
        for value in values
    ]
