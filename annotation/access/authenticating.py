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
    """Lets a program in by a token of somebody's own, so often in a window of time; or by one that
    a superuser made, which has no end until it is replaced."""

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        token = find_token(key, at=clock.now())
        if token is None:
            return self._former(key)
        if seconds := throttles.seconds_to_wait(LIMIT, str(token.pk)):
            raise exceptions.Throttled(seconds)
        throttles.count(LIMIT, str(token.pk))
        return token.user, token

    def _former(self, key: str) -> tuple[Any, Any]:
        try:
            return super().authenticate_credentials(key)
        except exceptions.AuthenticationFailed as error:
            raise exceptions.AuthenticationFailed(
                "This token is not known, or has ended: make one on the page Account."
            ) from error


class TokenMay(IsAuthenticated):
    """A token of one's own may write if it says so; a former one does what it did."""

    former = "This token is for runs alone: make one of your own on the page Account."
    message = former

    def has_permission(self, request: Request, view: Any) -> bool:
        may = request.auth is None or getattr(view, "takes_former_tokens", False)
        if isinstance(request.auth, ApiToken):
            may = request.auth.may_write or request.method in SAFE_METHODS
            self.message = (
                "This token may only read: make one that may write, on the page Account (your "
                "name, top right)."
            )
        return super().has_permission(request, view) and may


def brings_token(request: HttpRequest) -> bool:
    return request.headers.get("Authorization", "").lower().startswith("token ")


def let_in_by_token(request: HttpRequest) -> HttpResponse | None:
    """Let a program read a page by its token; returns the answer where the token lets nobody in."""
    try:
        bearer = Tokens().authenticate(request)  # type: ignore[arg-type]  # reads a header alone
        if bearer and not isinstance(bearer[1], ApiToken):
            raise exceptions.PermissionDenied(TokenMay.former)
    except exceptions.APIException as refusal:
        answer = JsonResponse({"detail": str(refusal.detail)}, status=refusal.status_code)
        answer["WWW-Authenticate"] = Tokens.keyword
        return answer
    if bearer:
        request.user = bearer[0]
    return None
