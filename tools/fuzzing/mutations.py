"""Changes to files that keep them files of their kind: a value of a JSON document becomes another
one, a member goes, a line comes twice. What flips bytes alone seldom gets past the parser."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

SEPARATOR = b"\n===\n"
# Stands for brackets, deeper than a document that is made from values could be.
DEEP = "deep brackets"
DEPTHS = (50, 400, 900, 2_000)
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 3, 2**31, 2**63, 10**400, 0.5, float("nan"), float("inf")),
    *("", " ", "a", "=1+1", "\0", "\ud800", "\u202e", "x" * 300, "1", "all", "١"),
    *([], {}, [[]], [None], ["a"], [1], {"a": 1}, {"text": "a"}, {"": None}),
    DEEP,
)


def mutated(data: bytes, random: Random) -> bytes:
    """The files with one to four changes in one of them."""
    files = data.split(SEPARATOR)
    number = random.randrange(len(files))
    for _ in range(random.choice((1, 1, 2, 4))):
        files[number] = _changed(files[number], random)
    return SEPARATOR.join(files)


def _changed(file: bytes, random: Random) -> bytes:
    document = _parsed(file)
    if document is not None:
        return _written(_with_change(document, random), random)
    lines = file.split(b"\n")
    number = random.randrange(len(lines))
    line = _parsed(lines[number])
    if line is None or random.random() < 0.1:
        change = random.choice((_doubled, _dropped, _cut))
        return b"\n".join(change(lines, number, random))
    lines[number] = _written(_with_change(line, random), random)
    return b"\n".join(lines)


def _parsed(text: bytes) -> Any:
    """None too for a document that is a value alone: there is nothing in it to change."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _written(value: Any, random: Random) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=random.random() < 0.9)
    except (ValueError, RecursionError):
        text = "[]"
    depth = random.choice(DEPTHS)
    return text.replace(f'"{DEEP}"', "[" * depth + "]" * depth).encode(errors="surrogatepass")


def _with_change(document: Any, random: Random) -> Any:
    places = list(_places(document))
    if not places:
        return random.choice(ODD)
    holder, key = random.choice(places)
    change = random.choice((_odd, _odd, _other, _gone, _twice, _renamed))
    change(holder, key, places, random)
    return document


def _places(value: Any) -> Any:
    """Everything in a document, as (what holds it, key or index)."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _odd(holder: Any, key: Any, places: Any, random: Random) -> None:
    holder[key] = random.choice(ODD)


def _other(holder: Any, key: Any, places: Any, random: Random) -> None:
    """A value from elsewhere in the document, as a copy: nothing may hold itself."""
    other, place = random.choice(places)
    holder[key] = json.loads(json.dumps(other[place]))


def _gone(holder: Any, key: Any, places: Any, random: Random) -> None:
    del holder[key]


def _twice(holder: Any, key: Any, places: Any, random: Random) -> None:
    if isinstance(holder, list):
        holder.insert(key, json.loads(json.dumps(holder[key])))


def _renamed(holder: Any, key: Any, places: Any, random: Random) -> None:
    if isinstance(holder, dict):
        holder[str(random.choice(ODD))] = holder.pop(key)


def _doubled(lines: list[bytes], number: int, random: Random) -> list[bytes]:
    return [*lines[: number + 1], *lines[number:]]


def _dropped(lines: list[bytes], number: int, random: Random) -> list[bytes]:
    return [*lines[:number], *lines[number + 1 :]]


def _cut(lines: list[bytes], number: int, random: Random) -> list[bytes]:
    line = lines[number]
    return [*lines[:number], line[: random.randint(0, len(line))], *lines[number + 1 :]]


Change = Callable[[bytes, Random], bytes]
