"""Telling webhooks: each call signed, and again with growing pauses until it is taken."""

import hashlib
import hmac
import json
from datetime import datetime, timedelta

import urllib3
from django.db.models import F
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from annotation.models import HookCall, clock
from annotation.models.errors import Refusal
from annotation.webhooks.addresses import look_up, parts_of

TIMEOUT = urllib3.Timeout(connect=5, read=5)
# After the first try a minute, and each time twice as long: a day and a half in all.
MOST_TRIES = 12
PAUSE = timedelta(minutes=1)
# Of one sweep; no worker is at one call for so long as HELD.
AT_ONCE, HELD = 100, timedelta(minutes=10)
KEPT_FOR = timedelta(days=30)


def send_due(*, at: datetime) -> None:
    """Safe to run twice, also at once: who takes a call moves its next try."""
    due = HookCall.objects.filter(next_at__lte=at).order_by("next_at", "pk")
    for call in due.select_related("webhook")[:AT_ONCE]:
        present = HookCall.objects.filter(pk=call.pk, next_at=call.next_at)
        if present.update(next_at=at + HELD, tries=F("tries") + 1):
            _send(call, tries=call.tries + 1)


def _send(call: HookCall, *, tries: int) -> None:
    at = clock.now()
    try:
        status = post(call.webhook.url, call.webhook.secret, {"id": call.pk, **call.body}, at=at)
        is_taken, answer = 200 <= status < 300, str(status)
    except Refusal as refusal:
        is_taken, answer = False, str(refusal)
    is_over = is_taken or tries >= MOST_TRIES
    next_at = None if is_over else at + PAUSE * 2 ** (tries - 1)
    HookCall.objects.filter(pk=call.pk).update(next_at=next_at, answer=answer[:200])


def post(url: str, secret: str, body: dict[str, object], *, at: datetime) -> int:
    """The status of the answer; a redirect is one, and is not followed. Raises Refusal."""
    parts = parts_of(url)
    data, time = json.dumps(body).encode(), str(int(at.timestamp()))
    # To the number that was looked at: asked again, the name might lead elsewhere.
    pool = urllib3.HTTPSConnectionPool(
        look_up(parts),
        parts.port or 443,
        timeout=TIMEOUT,
        cert_reqs="CERT_REQUIRED",
        ca_certs=DEFAULT_CA_BUNDLE_PATH,
        server_hostname=parts.hostname,
        assert_hostname=parts.hostname,
    )
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "Baseliner-Time": time,
        "Baseliner-Signature": signature(secret, time, data),
    }
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    how = {"retries": False, "redirect": False, "preload_content": False}
    try:
        with pool:
            return pool.request("POST", path, body=data, headers=headers, **how).status  # type: ignore[arg-type]
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as lost:
        raise Refusal(f"No answer ({type(lost).__name__}).") from lost


def signature(secret: str, time: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()


def forget_old(*, at: datetime) -> None:
    HookCall.objects.filter(next_at=None, made_at__lt=at - KEPT_FOR).delete()
