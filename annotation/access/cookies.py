"""Who may fetch what: how a browser shows that it belongs to an annotator.

An annotator has no account. Opening a link gives the browser a signed cookie with the arrival: who
came and where to, which is all there is of them until they consent. The consent gives it another
cookie, which names the assignment; from then on that cookie, or the assignment's resume link, lets
them in. Knowing somebody's external id does not. A browser may work on several assignments, each in
a tab: a page and its forms carry whose they are, as a digest.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import sha256
from secrets import token_hex
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.signing import BadSignature
from django.db.models import Q
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation.models import Assignment, Channel
from annotation.models.assignment import AssignmentQuerySet
from annotation.models.prepared import PreparedRow
from annotation.models.study import COMPARISON, SCREENING

COOKIE = "annotator"
_SALT = "annotation.access"
_MAX_AGE_S = 90 * 24 * 60 * 60
DOOR_COOKIE = "door"
_DOOR_SALT = "annotation.access.door"
_DOOR_MAX_AGE_S = 7 * 24 * 60 * 60
# The field of a form, and of a page's address.
WORK = "work"
# Several studies, or several people of one household; more than this is neither.
_MOST_ASSIGNMENTS = 8
# Of a study, which no page of somebody at work shows: what is compared, and by which rules, is
# frozen, and kept by each process.
OUT_OF_SIGHT = (
    *("frozen", "consent_text", "created_at", "archived_at", "platform_fee", "seed"),
    *(*SCREENING, *COMPARISON),
)
# What each of an annotator's pages needs.
WORKED_ON = PreparedRow(
    lambda: Assignment.objects.select_related("place", "study").defer(
        *(f"study__{name}" for name in OUT_OF_SIGHT)
    )
)


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """The link that a browser opened last, and who came by it. Cookies hold these names."""

    # What leads in (a study, a batch, an invitation), and its token.
    way: str
    token: str
    external_id: str
    submission_id: str = ""
    # Whether the id proves itself: signed by the channel, from a personal link, or given by us.
    is_proven: bool
    # Drawn at random for the browser, and the same at all its arrivals.
    browser: str

    @property
    def browser_hash(self) -> str:
        return salted_hmac("annotation.browser", self.browser).hexdigest()

    @property
    def digest(self) -> str:
        """What tells the arrival of a form from a later one."""
        text = json.dumps([self.way, self.token, self.external_id, self.submission_id])
        return salted_hmac("annotation.door", text).hexdigest()[:16]


def arrival_of(request: HttpRequest) -> Arrival | None:
    try:
        content = signing.loads(
            request.COOKIES.get(DOOR_COOKIE, ""), salt=_DOOR_SALT, max_age=_DOOR_MAX_AGE_S
        )
        return Arrival(**content)
    except (BadSignature, TypeError):
        # Changed on the way, or of another version.
        return None


def set_arrival(response: HttpResponseBase, arrival: Arrival) -> None:
    value = signing.dumps(asdict(arrival), salt=_DOOR_SALT, compress=True)
    _set(response, DOOR_COOKIE, value, _DOOR_MAX_AGE_S)


class OtherWork(Exception):
    """A page's work is none of the browser's, or it has several and the form names none."""


def assignment_of(request: HttpRequest) -> Assignment | None:
    """The assignment whose page this is or was; where it does not say, the one that the browser
    entered last. Raises OtherWork."""
    working = working_on(request)
    named = (request.POST if request.method == "POST" else request.GET).get(WORK)
    if named is not None:
        pk = next((pk for pk in working if constant_time_compare(digest_of(pk), named)), None)
        if pk is None:
            raise OtherWork
        return WORKED_ON.get(pk)
    if request.method == "POST" and len(working) > 1:
        raise OtherWork
    return WORKED_ON.get(working[-1]) if working else None


def working_on(request: HttpRequest) -> list[int]:
    """The assignments that this browser may act on, the latest last."""
    return _working(cookie_of(request))


def digest_of(pk: int) -> str:
    """Tells a page's assignment from the browser's others, and nobody anything."""
    return _digest(settings.SECRET_KEY, pk)


@lru_cache(maxsize=4096)
def _digest(_key: str, pk: int) -> str:
    return salted_hmac("annotation.work", str(pk), algorithm="sha256").hexdigest()[:16]


def address_with_work(page: str, pk: int) -> str:
    return f"{reverse(page)}?{WORK}={digest_of(pk)}"


def own_assignments(request: HttpRequest, arrival: Arrival) -> AssignmentQuerySet:
    """Those that were entered with this browser, also when the response to a consent got lost."""
    return Assignment.objects.filter(
        Q(pk__in=_known(cookie_of(request))) | Q(browser_hash=arrival.browser_hash)
    )


def sign_out(request: HttpRequest, response: HttpResponseBase, assignment: Assignment) -> None:
    """The browser works on it no more, and still knows who has entered with it."""
    content = cookie_of(request)
    working = [pk for pk in _working(content) if pk != assignment.pk]
    _set_cookie(response, {"working": working, "assignments": _known(content)})


def sign_in(request: HttpRequest, response: HttpResponseBase, assignment: Assignment) -> None:
    """Give the browser a fresh cookie: nothing that it brought along is reused."""
    content = cookie_of(request)
    lists = {"working": _working(content), "assignments": _known(content)}
    for name, pks in lists.items():
        rest = [pk for pk in pks if pk != assignment.pk]
        lists[name] = [*rest, assignment.pk][-_MOST_ASSIGNMENTS:]
    _set_cookie(response, lists)


def _set_cookie(response: HttpResponseBase, content: Mapping[str, Any]) -> None:
    text = json.dumps({**content, "nonce": token_hex(8)}, separators=(",", ":"))
    # As JSON it would hold quotes and commas, at which some programs end a cookie.
    value = signing.b64_encode(text.encode()).decode()
    _set(response, COOKIE, _signer(settings.SECRET_KEY).sign(value), _MAX_AGE_S)


def signature_holds(channel: Channel, parameters: Mapping[str, str]) -> bool:
    """Whether the channel's signature over its own parameters is right.

    HMAC-SHA256, in hexadecimal, of the person's, study's and submission's parameter values
    joined by line feeds, with the channel's secret.
    """
    names = (channel.person_param, channel.study_param, channel.submission_param)
    message = "\n".join(parameters.get(name, "") for name in names if name)
    right = hmac.new(channel.signature_secret.encode(), message.encode(), sha256).hexdigest()
    return constant_time_compare(right, parameters.get(channel.signature_param, ""))


def set_device_code(
    response: HttpResponseBase, code: str, assignment: Assignment, *, minutes: int
) -> None:
    """What this browser shows, for the other device to be told; the server keeps only a hash."""
    _set(response, _device_code_cookie(assignment), code, minutes * 60)


def device_code_of(request: HttpRequest, assignment: Assignment) -> str:
    return request.COOKIES.get(_device_code_cookie(assignment), "")


def _device_code_cookie(assignment: Assignment) -> str:
    return f"device_code_{digest_of(assignment.pk)}"


def cookie_of(request: HttpRequest) -> dict[str, Any]:
    try:
        text = _signer(settings.SECRET_KEY).unsign(request.COOKIES[COOKIE], max_age=_MAX_AGE_S)
    except (KeyError, BadSignature):
        return {}
    # Cookies of earlier versions are plain JSON.
    plain = text if text.startswith("{") else signing.b64_decode(text.encode())
    content: dict[str, Any] = json.loads(plain)
    return content


@cache
def _signer(_key: str) -> signing.TimestampSigner:
    """Make a signer in the way that Django makes one of its settings."""
    return signing.get_cookie_signer(salt=COOKIE + _SALT)


def _working(content: Mapping[str, Any]) -> list[int]:
    """Cookies from before this list named one."""
    present = [content["assignment"]] if "assignment" in content else []
    return list(content.get("working", present))


def _known(content: Mapping[str, Any]) -> list[int]:
    """Whoever has entered here, also those who have left."""
    return list(content.get("assignments", _working(content)))


def _set(response: HttpResponseBase, name: str, value: str, max_age: int) -> None:
    response.set_cookie(
        name, value, max_age=max_age, httponly=True, secure=not settings.IS_LOCAL, samesite="Lax"
    )
