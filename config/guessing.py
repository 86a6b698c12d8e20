"""Whoever guesses passwords or tokens is slowed by address, whichever names they try; django-axes
locks one name out."""

from collections.abc import Callable

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.access import throttles

LIMIT = "failed_sign_ins_per_address"
Handler = Callable[[HttpRequest], HttpResponseBase]


def slow_guessing(get_response: Handler) -> Handler:
    def guarded(request: HttpRequest) -> HttpResponseBase:
        signs_in = request.method == "POST" and request.path == reverse("admin:login")
        if not (signs_in or request.headers.get("Authorization")):
            return get_response(request)
        address = throttles.address_of(request)
        if seconds := throttles.seconds_to_wait(LIMIT, address):
            return _wait(request, seconds)
        response = get_response(request)
        # The form comes again, or a token is not known.
        if response.status_code in ((200, 403, 429) if signs_in else (401,)):
            throttles.count(LIMIT, address)
        return response

    return guarded


def _wait(request: HttpRequest, seconds: int) -> HttpResponseBase:
    sentence = _(
        "Too many attempts to sign in came from this address: try again in %(minutes)d minutes."
    ) % {"minutes": -(-seconds // 60)}
    response: HttpResponseBase
    if request.headers.get("Authorization"):
        response = JsonResponse({"detail": sentence}, status=429)
    else:
        response = render(request, "429.html", {"sentence": sentence}, status=429)
    response["Retry-After"] = str(seconds)
    return response
