"""Figures as they are kept: scores in percent, dataclasses as JSON, and their shape, by which a
program version whose figures have other fields does not read what was kept before."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from enum import StrEnum
from functools import cache
from math import isnan, nan
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)


def plain(value: Any) -> Any:
    """Dataclasses, tuples and numpy's numbers as JSON has them, NaN as None."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return known(value)
    if isinstance(value, Iterable):
        return [plain(part) for part in value]
    return plain(value.item())


def restored(kind: Callable[..., T], kept: Mapping[str, Any]) -> T:
    """The dataclass that `plain` made this of."""
    made = {name: _restored(hint, kept[name]) for name, hint in _not_plain(kind)}
    return kind(**{**kept, **made})


def _restored(hint: Any, value: Any) -> Any:
    if value is None:
        return nan if hint is float else None
    if get_origin(hint) is tuple:
        [part] = set(get_args(hint)) - {Ellipsis}
        return tuple(_restored(part, one) for one in value)
    if get_origin(hint) in (Union, UnionType):
        # Of more than one kind are only plain values.
        kinds = [one for one in get_args(hint) if one is not type(None)]
        return _restored(kinds[0], value) if len(kinds) == 1 else value
    if is_dataclass(hint):
        return restored(hint, value)  # type: ignore[arg-type]
    return hint(value) if isinstance(hint, type) and issubclass(hint, StrEnum) else value


@cache
def _not_plain(kind: Any) -> list[tuple[str, Any]]:
    """The fields that JSON does not hold as they are."""
    plain_ones = (str, int, bool, str | None, int | None, float | None, bool | None)
    return [(name, hint) for name, hint in _hints(kind).items() if hint not in plain_ones]


_hints = cache(get_type_hints)


def shape(kind: Any) -> list[Any]:
    """The names and types of all fields, recursively."""
    return [
        [name, str(hint), [shape(part) for part in _parts(hint)]]
        for name, hint in _hints(kind).items()
    ]


def _parts(hint: Any) -> Iterator[type]:
    """The types with fields of their own that a type is made of."""
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for argument in get_args(hint):
        yield from _parts(argument)
