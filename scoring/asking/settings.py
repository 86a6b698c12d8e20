"""Which model is asked, and how; what comes back of it.

Keys come from the environment, and go nowhere: not even what an endpoint says may repeat one.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from annotation.models.errors import BadInput

# By which an endpoint of one's own is reached; its key is <ENDPOINT>_API_KEY.
ENDPOINT = "endpoint"
KEY_OF_ENDPOINT = "ENDPOINT_API_KEY"
MILLION = 1_000_000
# Secrets in the environment, and how much of a message is kept.
SECRETS = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
SHORTEST_SECRET = 6
LONGEST_MESSAGE = 500


@dataclass(frozen=True)
class ModelSettings:
    """`model` is Inspect's name, or with `base_url` what the endpoint calls it."""

    model: str
    base_url: str = ""
    # Texts as they are, without a chat template.
    completions: bool = False
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024
    # What does not change the answers.
    connections: int = 10
    retries: int = 5
    cache: bool = False
    # Of a million tokens read and written, in USD.
    prices: tuple[float, float] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "ModelSettings":
        """Of what is given, by their names."""
        said = {field.name: given[field.name] for field in fields(cls) if field.name in given}
        return cls(**{**said, "prices": tuple(said["prices"]) if said.get("prices") else None})

    def cost(self, read: int, written: int) -> float | None:
        """None where it is not known."""
        if self.prices is None:
            return None
        return (self.prices[0] * read + self.prices[1] * written) / MILLION

    @property
    def provider(self) -> str:
        if self.base_url:
            return urlsplit(self.base_url).netloc
        return self.model.partition("/")[0]

    @property
    def inspect_name(self) -> str:
        if not self.base_url:
            return self.model
        api = "openai-api-completions" if self.completions else "openai-api"
        return f"{api}/{ENDPOINT}/{self.model}"

    def answering(self) -> dict[str, Any]:
        """What its answers depend on: the same settings are not asked the same again."""
        names = ("model", "base_url", "completions", "temperature", "seed", "max_tokens")
        return {name: getattr(self, name) for name in names}

    def check(self) -> None:
        """Raise BadInput for what cannot be asked."""
        if self.base_url:
            self._check_address()
        elif "/" not in self.model:
            raise BadInput(
                f"“{self.model}” names no provider: write it as Inspect does, such as "
                "openai/gpt-4o-mini, or give the endpoint's address with --base-url."
            )
        elif self.completions:
            raise BadInput(
                "Plain completions are for an endpoint given with --base-url; a model of vLLM is "
                "named vllm-completions/…."
            )
        if self.max_tokens < 1 or self.connections < 1 or self.retries < 0 or self.temperature < 0:
            raise BadInput(
                "Longest answer and connections must be at least 1, retries and temperature at "
                "least 0."
            )

    def _check_address(self) -> None:
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise BadInput(f"“{self.base_url}” is not an address such as http://127.0.0.1:8080/v1.")
        if "@" in address.netloc or address.query:
            raise BadInput(
                "An address is stored with the run, so it may hold no key: set the environment's "
                f"{KEY_OF_ENDPOINT} instead."
            )


def without_secrets(text: str) -> str:
    """The text, shortened, with whatever the environment keeps secret left out."""
    for name, value in os.environ.items():
        if SECRETS.search(name) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, "…")
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
