"""What comes back from a model, and the client that asks it."""

from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from annotation.models.errors import BadInput
from scoring.asking.settings import ModelSettings

INSTALL = "pip install -r requirements-models.txt"


@dataclass(frozen=True)
class Answered:
    """`version` is what the provider calls the model that answered."""

    text: str
    version: str = ""
    stop_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Client(Protocol):
    version: str
    # Why nothing comes, while it tries again; empty once an answer has come.
    trouble: str

    def ask(self, line: dict[str, Any]) -> "Future[Answered]": ...

    def close(self) -> None: ...


def connect(settings: ModelSettings) -> Client:
    """Raises BadInput where Inspect is not installed, or cannot reach the model."""
    settings.check()
    try:
        module = import_module("scoring.asking.inspect_client")
    except ModuleNotFoundError as error:
        raise BadInput(
            f"Models are asked by Inspect AI, and {error.name} is not installed: {INSTALL}"
        ) from error
    client: Client = module.InspectClient(settings)
    return client
