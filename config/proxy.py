"""Who is asking, when a proxy of ours is in between."""

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The last address: our proxy wrote it, whatever the client had written before."""
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return forwarded.rpartition(",")[2].strip() or request.META["REMOTE_ADDR"]
