"""Keys come from the environment, and go nowhere: not even what an endpoint says may repeat one."""

import os
import re

NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
SHORTEST = 6
LONGEST_MESSAGE = 500


def without_secrets(text: str) -> str:
    """The text, shortened, with whatever the environment keeps secret left out."""
    for name, value in os.environ.items():
        if NAMES.search(name) and len(value) >= SHORTEST:
            text = text.replace(value, "…")
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
