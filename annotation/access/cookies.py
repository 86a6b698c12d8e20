"""Who may fetch what: how a browser shows that it belongs to an annotator.

An annotator has no account. The link they joined by sets a signed cookie in the browser; from then
on that cookie, or the assignment's resume link, lets them in. Knowing somebody's external id does
not.
"""

import hmac
import json
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponseBase

from annotation.models import Annotator, Assignment, Channel

COOKIE = "annotator"
_SALT = "annotation.access"
_MAX_AGE_S = 90 * 24 * 60 * 60
# Several people in one household may share a browser; more than this is not a household.
_MOST_ANNOTATORS = 8


def signed_in_assignment(request: HttpRequest) -> Assignment | None:
    """The assignment that this browser works on, with what each of its pages needs."""
    pk = cookie_of(request).get("assignment")
    if not isinstance(pk, int):
        return None
    try:
        return Assignment.objects.select_related("place").get(pk=pk)
    except Assignment.DoesNotExist:
        return None


def is_known(request: HttpRequest, annotator: Annotator) -> bool:
    """Whether the annotator has entered with this browser before."""
    return annotator.pk in _known(request)


def known_annotator(request: HttpRequest, channel: Channel) -> Annotator | None:
    """Who has entered with this browser before, for channels whose links name nobody."""
    return Annotator.objects.filter(pk__in=_known(request), channel=channel).last()


def sign_in(request: HttpRequest, response: HttpResponseBase, assignment: Assignment) -> None:
    """Give the browser a fresh cookie: nothing that it brought along is reused."""
    known = [pk for pk in _known(request) if pk != assignment.annotator_id]
    content = {
        "assignment": assignment.pk,
        "annotators": [*known, assignment.annotator_id][-_MOST_ANNOTATORS:],
        "nonce": token_hex(8),
    }
    response.set_signed_cookie(
        COOKIE,
        json.dumps(content, separators=(",", ":")),
        salt=_SALT,
        max_age=_MAX_AGE_S,
        httponly=True,
        secure=not settings.DEBUG,
        samesite="Lax",
    )


def signature_holds(channel: Channel, parameters: Mapping[str, str]) -> bool:
    """Whether the channel's signature over its own parameters is right.

    HMAC-SHA256, in hexadecimal, of the person's, study's and submission's parameter values
    joined by line feeds, with the channel's secret.
    """
    names = (channel.person_param, channel.study_param, channel.submission_param)
    message = "\n".join(parameters.get(name, "") for name in names if name)
    right = hmac.new(channel.signature_secret.encode(), message.encode(), sha256).hexdigest()
    return hmac.compare_digest(right, parameters.get(channel.signature_param, ""))


def _known(request: HttpRequest) -> list[int]:
    return list(cookie_of(request).get("annotators", []))


def cookie_of(request: HttpRequest) -> dict[str, Any]:
    try:
        text = request.get_signed_cookie(COOKIE, salt=_SALT, max_age=_MAX_AGE_S)
    except (KeyError, BadSignature):
        return {}
    content: dict[str, Any] = json.loads(text or "{}")
    return content
