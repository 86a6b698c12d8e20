"""The Every Eval Ever format: one schema for the samples of people and of runs."""

from hashlib import sha256

SCHEMA_VERSION = "0.3.0"


def sample_hash(raw: str, reference: list[str]) -> str:
    """Tells a sample by what was asked and what was expected, whoever answered it."""
    return sha256((raw + "".join(reference)).encode()).hexdigest()
