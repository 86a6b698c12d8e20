"""What is not found or failed, for programs of the API as JSON; people get Django's pages in our
templates, or those for programmers with DEBUG_PAGES=1."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
)
from django.urls import resolve
from django.views.decorators.csrf import csrf_exempt

Handler = Callable[[HttpRequest], HttpResponseBase]
API = "/api/"
NOWHERE = "There is nothing at this address."
SENTENCES = {
    400: "The request cannot be read.",
    403: "This needs a token, or a page that was just loaded.",
    404: NOWHERE,
    500: "Something failed here, and was noted. Try again later.",
}


def tell_programs(get_response: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path.startswith(API) and _is_page(response) and not settings.DEBUG:
            return _as_json(response.status_code)
        return response

    return middleware


def _is_page(response: HttpResponseBase) -> bool:
    """Whether somebody else than the API says that the request failed."""
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return is_html and response.status_code in SENTENCES


def _as_json(status: int) -> HttpResponse:
    return JsonResponse({"detail": SENTENCES[status]}, status=status)


@csrf_exempt
@login_not_required
def nothing_in_the_api(request: HttpRequest) -> HttpResponse:
    """Every address below /api/ that is nobody's. One that lacks its last slash is looked up with
    it, but what was sent to it would be lost on the way."""
    if resolve(f"{request.path_info}/").func is nothing_in_the_api:
        return JsonResponse({"detail": NOWHERE}, status=404)
    if request.method in ("GET", "HEAD"):
        return HttpResponseRedirect(request.get_full_path(force_append_slash=True))
    return JsonResponse({"detail": "This address ends in a slash: add it."}, status=404)
