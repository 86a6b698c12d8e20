"""Whether a report comes from Prolific: SHA-256 HMAC over timestamp and body, in base64."""

import base64
import hashlib
import hmac


def signature(secret: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def holds(secret: str, timestamp: str, body: bytes, given: str) -> bool:
    """Without a secret nobody can have signed it."""
    expected = signature(secret, timestamp, body)
    return bool(secret) and hmac.compare_digest(expected.encode(), given.encode())
