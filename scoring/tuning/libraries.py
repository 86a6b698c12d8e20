"""torch and transformers are an optional requirement: only what is imported here needs them."""

from importlib import import_module
from typing import Any

from annotation.models.errors import BadInput

NEEDED = ("torch", "transformers")


def tuned_ways() -> Any:
    """The module that tunes, scoring.tuning.ways. Raises BadInput where the libraries are not
    installed."""
    try:
        for name in NEEDED:
            import_module(name)
    except ImportError as error:
        raise BadInput(
            f"Tuning needs {' and '.join(NEEDED)}, and {error.name} is not installed: "
            "pip install -r requirements-models.txt."
        ) from error
    return import_module("scoring.tuning.ways")
