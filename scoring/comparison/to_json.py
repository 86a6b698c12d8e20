"""Figures as JSON holds them: percent if they are scores, None if they are unknown."""

from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from math import isnan
from typing import Any


def known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def plain(value: Any) -> Any:
    """Dataclasses, tuples and numpy's numbers as JSON has them, NaN as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return known(value)
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    return plain(value.item())
