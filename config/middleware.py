"""What every request passes besides Django's own: who asks, in which language, how often, and what
is said where nothing can be done for them. People get pages, programs of the API get JSON."""

import logging
import re
import time
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from ipaddress import ip_address
from typing import Any

from axes.models import AccessLog
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
    JsonResponse,
)
from django.middleware.csrf import get_token
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import resolve, reverse
from django.utils import timezone, translation
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.defaults import page_not_found

from annotation.access import throttles
from annotation.access.authenticating import brings_token, let_in_by_token
from annotation.models.texts import is_key
from config.health import REQUESTS, fitness

Handler = Callable[[HttpRequest], HttpResponseBase]


def middleware(
    act: Callable[[HttpRequest, Handler], HttpResponseBase],
) -> Callable[[Handler], Handler]:
    """Make a middleware, as Django has it, of a function that gets each request and who answers it
    next."""
    return lambda get_response: lambda request: act(request, get_response)


API = "/api/"
requests = logging.getLogger("config.requests")
logger = logging.getLogger(__name__)


@middleware
def watch(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """Every request is timed and logged, by the name of its address, which may hold a link."""
    began = time.monotonic()
    response = get_response(request)
    took_s = time.monotonic() - began
    address = request.resolver_match.view_name if request.resolver_match else "(none)"
    method = request.method if request.method in {"GET", "HEAD", "POST"} else "other"
    status = response.status_code
    REQUESTS.labels(address, method, str(status)).observe(took_s)
    about = {"method": method, "address": address, "status": status}
    more = {**about, "ms": round(1000 * took_s, 1)}
    requests.info("%s %s %s", method, address, status, extra=more)
    return response


def client_address(request: HttpRequest) -> str:
    """The last address: our proxy wrote it, whatever the client had written before."""
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return forwarded.rpartition(",")[2].strip() or request.META["REMOTE_ADDR"]


@middleware
def name_the_client(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """Everything behind this sees the client's address where it would see the proxy's; what
    somebody else says in the proxy's headers is taken away."""
    if _is_our_proxy(request.META["REMOTE_ADDR"]):
        request.META["REMOTE_ADDR"] = client_address(request)
    else:
        # Who is asking, and whether over TLS: what only a proxy of ours may say.
        for header in ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO"):
            request.META.pop(header, None)
    return get_response(request)


def _is_our_proxy(address: str) -> bool:
    try:
        asking = ip_address(address)
    except ValueError:
        return False
    return any(asking in network for network in settings.PROXIES)


ANNOTATORS = ("/join/", "/invited/", "/resume/", "/go/", "/work/", "/language/")


class AnnotatorsLanguage(LocaleMiddleware):
    """Annotators' pages speak their browser's, as far as there is a catalogue; researchers' pages
    and documents are in English, like the papers that they end in."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(ANNOTATORS):
            super().process_request(request)
        else:
            translation.activate("en")


class _NotOfAnnotators(MiddlewareMixin):
    """Who works on a study has no account here, and each answer comes this way."""

    def __call__(self, request: HttpRequest) -> Any:
        is_annotators = request.path_info.startswith(ANNOTATORS)
        return (self.get_response if is_annotators else super().__call__)(request)


class Sessions(_NotOfAnnotators, SessionMiddleware): ...


class Users(AuthenticationMiddleware):
    """Pages are read by a token too; the API looks at it by itself."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:  # type: ignore[override]
        if request.path_info.startswith(ANNOTATORS):
            request.user = AnonymousUser()
            return None
        super().process_request(request)
        reads = request.method in ("GET", "HEAD") and brings_token(request)
        is_page = not request.path_info.startswith((API, reverse("admin:index")))
        return let_in_by_token(request) if reads and is_page else None


class Messages(_NotOfAnnotators, MessageMiddleware): ...


PER_ADDRESS, PER_NAME = "failed_sign_ins_per_address", "failed_sign_ins_per_name"
# So many times the limit of an address is a flood, behind which no password is looked at.
FLOOD = 10
REMEMBERED = timedelta(days=90)


@cache
def _sign_in_page() -> str:
    return reverse("admin:login")


@middleware
def slow_guessing(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """Who guesses passwords or tokens is slowed; django-axes lets one name wait at one address.
    Others at the same address may be in the right: theirs is looked at, until it is a flood."""
    signs_in = request.method == "POST" and request.path == _sign_in_page()
    if not (signs_in or request.headers.get("Authorization")):
        return get_response(request)
    address = throttles.address_of(request)
    name = request.POST.get("username", "") if signs_in else ""
    if seconds := _seconds_to_wait(request, address, name):
        return _wait(request, seconds, looked_at=False)
    response = get_response(request)
    # The form comes again, or a token is not known.
    if response.status_code not in ((200, 403, 429) if signs_in else (401,)):
        return response
    seconds = throttles.seconds_to_wait(PER_ADDRESS, address)
    throttles.count(PER_ADDRESS, address)
    if name:
        throttles.count(PER_NAME, name)
    return _wait(request, seconds, looked_at=True) if seconds else response


def _seconds_to_wait(request: HttpRequest, address: str, name: str) -> int:
    """The wait before a password is looked at; none where the name signed in from here before."""
    failed, most = throttles.counted(PER_ADDRESS, address), settings.THROTTLES[PER_ADDRESS]
    is_flood = failed >= FLOOD * most
    seconds = throttles.seconds_to_wait(PER_ADDRESS, address) if is_flood else 0
    if name:
        seconds = max(seconds, throttles.seconds_to_wait(PER_NAME, name))
    if not (seconds and name):
        return seconds
    since, address_here = timezone.now() - REMEMBERED, request.META["REMOTE_ADDR"]
    known = AccessLog.objects.filter(username=name, ip_address=address_here, attempt_time__gt=since)
    return 0 if known.exists() else seconds


def _wait(request: HttpRequest, seconds: int, *, looked_at: bool) -> HttpResponse:
    when = f"in {-(-seconds // 60)} minutes" + (", or now with what is right" if looked_at else "")
    sentence = f"Too many attempts to sign in came from this address: try again {when}."
    if request.headers.get("Authorization"):
        response: HttpResponse = JsonResponse({"detail": sentence}, status=429)
    else:
        response = render(request, "429.html", {"sentence": sentence}, status=429)
    return throttles.later(response, seconds)


@middleware
def refuse_nul(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """NUL stands in no name, token or text; PostgreSQL refuses it, and so does the door."""
    if "\0" in request.path:
        return page_not_found(request, Http404())
    values = (value for name in request.GET for value in [name, *request.GET.getlist(name)])
    if not any("\0" in value for value in values):
        return get_response(request)
    sentence = _("The address holds a character that stands in no text (NUL): leave it out.")
    if request.path.startswith(API):
        return JsonResponse({"detail": sentence}, status=400)
    return HttpResponse(sentence, "text/plain; charset=utf-8", 400)


@middleware
def limit_strangers(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """Who has no account sends no files, and no more than a form holds: what is sent is read before
    any page looks at who it is. The API looks first."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    is_large = not is_key(length) or int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if not is_large or request.path_info.startswith(API) or _has_account(request):
        return get_response(request)
    raise RequestDataTooBig("A request of somebody without an account is too large.")


def _has_account(request: HttpRequest) -> bool:
    return not request.path_info.startswith(ANNOTATORS) and get_user(request).is_authenticated


AGAIN_AFTER_S = 5
# Never written into a page, whatever else its field is called; nor sent again without it.
SECRET = re.compile("password|secret|token", re.IGNORECASE)
OF_THE_PAGE = "csrfmiddlewaretoken"


@middleware
def keep_out_of_caches(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """What somebody sees who is signed in, gold among it, stays in no browser: the next one at the
    same desk may go back in it. A page that may be kept says so itself."""
    response = get_response(request)
    is_somebody = settings.SESSION_COOKIE_NAME in request.COOKIES or (
        "Authorization" in request.headers
    )
    if is_somebody and "Cache-Control" not in response.headers:
        # Without a date, which would tell one answer from an equal one.
        response.headers["Cache-Control"] = "private, no-store"
    return response


@middleware
def load_from_here_alone(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """No page runs or shows what comes from elsewhere, but for Django's own about an error."""
    response = get_response(request)
    if not (settings.DEBUG and response.status_code in (404, 500)):
        response.headers["Content-Security-Policy"] = settings.CONTENT_SECURITY_POLICY
    return response


class TryAgainMiddleware(MiddlewareMixin):
    """When the database cannot be written or reached just now: a page that keeps what was sent and
    sends it again, never an error page that loses it."""

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponseBase | None:
        if not isinstance(exception, OperationalError | InterfaceError):
            return None
        return _try_again(request, f"The database refused: {str(exception).strip()}")


# What load balancers and people ask to learn what is wrong.
ALWAYS_SERVED = ("/healthz", "/readyz", "/metrics")


@middleware
def take_no_work_unfit(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """No page of a process whose clock or version is not the database's: another one may answer
    when it is asked for again."""
    if request.path_info in ALWAYS_SERVED or not (trouble := fitness.trouble()):
        return get_response(request)
    return _try_again(request, trouble)


def _try_again(request: HttpRequest, why: str) -> HttpResponse:
    logger.warning("%s", why)
    response = _busy(request)
    response.headers["Retry-After"] = str(AGAIN_AFTER_S)
    add_never_cache_headers(response)
    # Said above; Django's own line would tell the path, and with it whose link it is. A private
    # flag of Django's, unknown to its types.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _busy(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(API):
        sentence = _("The database is busy, and nothing was stored. Send this again in a moment.")
        return JsonResponse({"detail": sentence}, status=503)
    sent = {name: values for name, values in request.POST.lists() if name != OF_THE_PAGE}
    # Without the request: what the page usually shows of it might be read from the database.
    context = {
        "address": request.get_full_path(),
        "is_form": request.method == "POST",
        "fields": [(name, str(value)) for name, values in sent.items() for value in values],
        "is_not_repeated": bool(request.FILES) or any(map(SECRET.search, sent)),
        "seconds": AGAIN_AFTER_S,
        "csrf_token": get_token(request),
    }
    return HttpResponse(render_to_string("503.html", context), status=503)


NOWHERE = "There is nothing at this address."
SENTENCES = {
    400: "The request cannot be read.",
    401: "This needs a token: make one on the page Account.",
    403: "This needs a right that you or your token lack, or a page that was just loaded.",
    404: NOWHERE,
    500: "Something failed here, and was noted. Try again later.",
}


@middleware
def tell_programs(request: HttpRequest, get_response: Handler) -> HttpResponseBase:
    """What is not found or failed, where somebody else than the API says so. People get Django's
    pages in our templates, or those for programmers with DEBUG_PAGES=1."""
    response = get_response(request)
    status = response.status_code
    if (
        status == 302
        and response["Location"].startswith(_sign_in_page())
        and _takes_no_page(request)
    ):
        status = 401
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    is_for_a_program = status == 401 or (
        (request.path.startswith(API) or brings_token(request)) and not settings.DEBUG
    )
    if is_for_a_program and is_page and status in SENTENCES:
        return JsonResponse({"detail": SENTENCES[status]}, status=status)
    return response


def _takes_no_page(request: HttpRequest) -> bool:
    """A program would take the page for signing in for what it asked for."""
    is_browser = "text/html" in request.headers.get("Accept", "text/html")
    return not is_browser and "HX-Request" not in request.headers


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
