"""Who may fetch what: how a browser shows that it belongs to an annotator.

An annotator has no account. Opening a link gives the browser a signed cookie, the door, which says
who came and where to, and is all there is of them until they consent. The consent gives it another,
which names the assignment; from then on that cookie, or the assignment's resume link, lets them in.
Knowing somebody's external id does not.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.models import Assignment, Channel
from annotation.models.assignment import AssignmentQuerySet
from annotation.models.prepared import PreparedRow

COOKIE = "annotator"
_SALT = "annotation.access"
_MAX_AGE_S = 90 * 24 * 60 * 60
DOOR_COOKIE = "door"
_DOOR_SALT = "annotation.access.door"
_DOOR_MAX_AGE_S = 7 * 24 * 60 * 60
DEVICE_CODE_COOKIE = "device_code"
# Several people in one household may share a browser; more than this is not a household.
_MOST_ASSIGNMENTS = 8
# Of a study, which no page of somebody at work shows: what is compared, and by which rules, is
# frozen, and kept by each process.
OUT_OF_SIGHT = (
    *("frozen", "consent_text", "created_at", "archived_at", "platform_fee", "question", "seed"),
    *("named_systems", "margin", "margin_reason", "unanswerable_reason", "screening_reason"),
    *("min_training_score", "max_drop", "drop_unit", "drop_group_size", "min_check_score"),
)
# What each of an annotator's pages needs.
WORKED_ON = PreparedRow(
    lambda: Assignment.objects.select_related("place", "study").defer(
        *(f"study__{name}" for name in OUT_OF_SIGHT)
    )
)


@dataclass(frozen=True)
class Door:
    """The link that a browser opened last, and who came by it."""

    # What leads in (a study, a batch, an invitation), and its token.
    way: str
    token: str
    external_id: str
    submission_id: str
    # Whether the id proves itself: signed by the channel, from a personal link, or given by us.
    is_proven: bool
    # Drawn at random for the browser, and the same behind all its doors.
    browser: str

    @property
    def browser_hash(self) -> str:
        return salted_hmac("annotation.browser", self.browser).hexdigest()

    @property
    def digest(self) -> str:
        """Tells a form's door from one that was opened after it."""
        text = json.dumps([self.way, self.token, self.external_id, self.submission_id])
        return salted_hmac("annotation.door", text).hexdigest()[:16]


def door_of(request: HttpRequest) -> Door | None:
    try:
        content = signing.loads(
            request.COOKIES.get(DOOR_COOKIE, ""), salt=_DOOR_SALT, max_age=_DOOR_MAX_AGE_S
        )
        return Door(**content)
    except (BadSignature, TypeError):
        # Changed on the way, or of another version.
        return None


def set_door(response: HttpResponseBase, door: Door) -> None:
    value = signing.dumps(asdict(door), salt=_DOOR_SALT, compress=True)
    _set(response, DOOR_COOKIE, value, _DOOR_MAX_AGE_S)


def new_browser() -> str:
    return token_hex(16)


def signed_in_assignment(request: HttpRequest) -> Assignment | None:
    """The assignment that this browser works on."""
    pk = cookie_of(request).get("assignment")
    if not isinstance(pk, int):
        return None
    return WORKED_ON.get(pk)


def own_assignments(request: HttpRequest, door: Door) -> AssignmentQuerySet:
    """Those that were entered with this browser, also when the response to a consent got lost."""
    return Assignment.objects.filter(
        Q(pk__in=_known(cookie_of(request))) | Q(browser_hash=door.browser_hash)
    )


def sign_out(request: HttpRequest, response: HttpResponseBase) -> None:
    """The browser works on nothing any more, and still knows who has entered with it."""
    _set_cookie(response, {"assignments": _known(cookie_of(request))})


def sign_in(request: HttpRequest, response: HttpResponseBase, assignment: Assignment) -> None:
    """Give the browser a fresh cookie: nothing that it brought along is reused."""
    known = [pk for pk in _known(cookie_of(request)) if pk != assignment.pk]
    content = {
        "assignment": assignment.pk,
        "assignments": [*known, assignment.pk][-_MOST_ASSIGNMENTS:],
    }
    _set_cookie(response, content)


def _set_cookie(response: HttpResponseBase, content: Mapping[str, Any]) -> None:
    text = json.dumps({**content, "nonce": token_hex(8)}, separators=(",", ":"))
    _set(response, COOKIE, _signer(settings.SECRET_KEY).sign(text), _MAX_AGE_S)


def signature_holds(channel: Channel, parameters: Mapping[str, str]) -> bool:
    """Whether the channel's signature over its own parameters is right.

    HMAC-SHA256, in hexadecimal, of the person's, study's and submission's parameter values
    joined by line feeds, with the channel's secret.
    """
    names = (channel.person_param, channel.study_param, channel.submission_param)
    message = "\n".join(parameters.get(name, "") for name in names if name)
    right = hmac.new(channel.signature_secret.encode(), message.encode(), sha256).hexdigest()
    return constant_time_compare(right, parameters.get(channel.signature_param, ""))


def set_device_code(response: HttpResponseBase, code: str, *, minutes: int) -> None:
    """What this browser shows, for the other device to be told; the server keeps only a hash."""
    _set(response, DEVICE_CODE_COOKIE, code, minutes * 60)


def device_code_of(request: HttpRequest) -> str:
    return request.COOKIES.get(DEVICE_CODE_COOKIE, "")


def cookie_of(request: HttpRequest) -> dict[str, Any]:
    try:
        text = _signer(settings.SECRET_KEY).unsign(request.COOKIES[COOKIE], max_age=_MAX_AGE_S)
    except (KeyError, BadSignature):
        return {}
    content: dict[str, Any] = json.loads(text)
    return content


@cache
def _signer(_key: str) -> signing.TimestampSigner:
    """As Django makes one of its settings."""
    return signing.get_cookie_signer(salt=COOKIE + _SALT)


def _known(content: Mapping[str, Any]) -> list[int]:
    """Cookies from before this list named the present assignment alone."""
    present = [content["assignment"]] if "assignment" in content else []
    return list(content.get("assignments", present))


def _set(response: HttpResponseBase, name: str, value: str, max_age: int) -> None:
    response.set_cookie(
        name, value, max_age=max_age, httponly=True, secure=not settings.IS_LOCAL, samesite="Lax"
    )
