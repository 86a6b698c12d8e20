"""Who asks, by a token of their own: the API's addresses, and pages that are read."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.authentication import TokenAuthentication
from rest_framework.permissions import SAFE_METHODS, IsAuthenticated
from rest_framework.request import Request

from annotation.access import throttles
from annotation.access.tokens import find_token
from annotation.models import ApiToken, clock

LIMIT = "requests_per_token"


class Tokens(TokenAuthentication):
    """By a token of one's own, so often in a window of time."""

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        token = find_token(key, at=clock.now())
        if token is None:
            raise exceptions.AuthenticationFailed(
                "This token is not known, or has ended: make one on the page Account."
            )
        if seconds := throttles.seconds_to_wait(LIMIT, str(token.pk)):
            raise exceptions.Throttled(seconds)
        throttles.count(LIMIT, str(token.pk))
        return token.user, token


class FormerTokens(Tokens):
    """Also by one that a superuser made, which has no end, until it is replaced: for runs alone."""

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        try:
            return super().authenticate_credentials(key)
        except exceptions.AuthenticationFailed:
            return TokenAuthentication.authenticate_credentials(self, key)


class TokenMay(IsAuthenticated):
    message = "This token may only read: make one on the page Account that may write."

    def has_permission(self, request: Request, view: Any) -> bool:
        token = request.auth
        only_reads = isinstance(token, ApiToken) and not token.may_write
        is_somebody = super().has_permission(request, view)
        return is_somebody and not (only_reads and request.method not in SAFE_METHODS)


def brings_token(request: HttpRequest) -> bool:
    return request.headers.get("Authorization", "").lower().startswith("token ")


def let_in_by_token(request: HttpRequest) -> HttpResponse | None:
    """On a page that is read; or the answer, where the token lets nobody in."""
    try:
        found = Tokens().authenticate(request)  # type: ignore[arg-type]  # reads a header alone
    except exceptions.APIException as refusal:
        answer = JsonResponse({"detail": str(refusal.detail)}, status=refusal.status_code)
        answer["WWW-Authenticate"] = Tokens.keyword
        return answer
    if found:
        request.user = found[0]
    return None
