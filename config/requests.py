"""Every request is timed and logged, by the name of its address: the address itself may hold a
personal link."""

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from config.metrics import REQUESTS

logger = logging.getLogger("config.requests")

Handler = Callable[[HttpRequest], HttpResponseBase]


def watch(get_response: Handler) -> Handler:
    def watched(request: HttpRequest) -> HttpResponseBase:
        began = time.monotonic()
        response = get_response(request)
        took_s = time.monotonic() - began
        address = request.resolver_match.view_name if request.resolver_match else "(none)"
        method = request.method if request.method in {"GET", "HEAD", "POST"} else "other"
        REQUESTS.labels(address, method, str(response.status_code)).observe(took_s)
        logger.info(
            "%s %s %s",
            method,
            address,
            response.status_code,
            extra={
                "method": method,
                "address": address,
                "status": response.status_code,
                "ms": round(1000 * took_s, 1),
            },
        )
        return response

    return watched
