"""Who is asking, and whether over TLS, when a proxy of ours is in between."""

from collections.abc import Callable
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

# What only our proxy may say.
HEADERS = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO")


def client_address(request: HttpRequest) -> str:
    """The last address: our proxy wrote it, whatever the client had written before."""
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return forwarded.rpartition(",")[2].strip() or request.META["REMOTE_ADDR"]


def name_the_client(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Everything behind this sees the client's address where it would see the proxy's; what
    somebody else says in the proxy's headers is taken away."""

    def with_client(request: HttpRequest) -> HttpResponseBase:
        if _is_our_proxy(request.META["REMOTE_ADDR"]):
            request.META["REMOTE_ADDR"] = client_address(request)
        else:
            for header in HEADERS:
                request.META.pop(header, None)
        return get_response(request)

    return with_client


def _is_our_proxy(address: str) -> bool:
    try:
        asking = ip_address(address)
    except ValueError:
        return False
    return any(asking in network for network in settings.PROXIES)
