"""Throttles: how much may come from one address, or by one link, in a window of time.

Counted in the cache, which all processes share. An address is kept there as a keyed hash alone,
another in every window, until the window is over.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address, ip_network
from pathlib import Path
from time import time

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from annotation.models.resting import Rest

log = logging.getLogger(__name__)


def address_of(request: HttpRequest) -> str:
    """The network, where an address is one of the many that a single customer gets (IPv6)."""
    address: str = request.META.get("REMOTE_ADDR", "")
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return str(ip_network(f"{parsed}/64", strict=False)) if parsed.version == 6 else address


def seconds_to_wait(limit: str, who: str) -> int:
    """0 while the limit allows one more, else what is left of the window."""
    most = settings.THROTTLES[limit]
    if not most or counted(limit, who) < most:
        return 0
    return _window_s(limit) - int(time()) % _window_s(limit)


def later(response: HttpResponse, seconds: int) -> HttpResponse:
    """An answer that says when to come again."""
    response["Retry-After"] = str(seconds)
    return response


def count(limit: str, who: str, by: int = 1) -> int:
    """How many there are with it; 0 where nobody can count."""
    key = _key(limit, who)

    def counted_up() -> int:
        cache.add(key, 0, _window_s(limit))
        return cache.incr(key, by)

    try:
        return _asked(counted_up)
    except ValueError:
        log.debug("A window of %s ended while it was counted in.", limit)
    return 0


def forget_past_windows() -> None:
    """Files stay when their window is over, unlike what Redis keeps."""
    kept = settings.CACHES["default"]
    if not str(kept["BACKEND"]).endswith("FileBasedCache"):
        return
    oldest = time() - 2 * max(map(_window_s, settings.THROTTLES))
    for file in Path(str(kept["LOCATION"])).glob("*.djcache"):
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def counted(limit: str, who: str) -> int:
    return _asked(lambda: int(cache.get(_key(limit, who), 0)))


_cache_rests = Rest()


def _asked(act: Callable[[], int]) -> int:
    """Whoever can't be counted is let through: work goes on without the cache."""
    if not _cache_rests.is_over:
        return 0
    try:
        return act()
    except (OSError, RedisError) as problem:
        # Files that do not answer keep nobody waiting.
        if isinstance(problem, RedisError):
            _cache_rests.begin()
        log.warning(
            "The cache does not answer, so nothing is throttled: %s", type(problem).__name__
        )
    return 0


def _key(limit: str, who: str) -> str:
    window = int(time()) // _window_s(limit)
    digest = salted_hmac("annotation.throttles", f"{limit}\n{window}\n{who}", algorithm="sha256")
    return f"throttle-{digest.hexdigest()}"


def _window_s(limit: str) -> int:
    return 60 * (60 if limit.endswith("_an_hour") else int(settings.THROTTLE_MINUTES))
