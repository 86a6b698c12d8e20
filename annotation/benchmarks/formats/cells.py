"""What stands in a cell: options and which of them are right, lists, conversations, texts."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from math import isnan
from typing import Any, NoReturn

from annotation.benchmarks.formats.content import Ambiguous, Record, json_type
from annotation.benchmarks.formats.known_sets import as_list
from annotation.kinds.replies import as_python
from annotation.models.errors import BadInput

LONGEST_LIST = 1_000_000


def options_in(
    record: Record, options: Any, answer: Any, *, marks: Any = None
) -> tuple[list[Any], list[int] | None]:
    """The options of a row, and the places of the right ones where the row itself says them, or
    `marks` do: one for each, the greatest for what is right."""
    if isinstance(options, str):
        options = python_list(record, options)
    if isinstance(options, list) and all(isinstance(o, dict) and "text" in o for o in options):
        named = _naming(options, answer)
        options = {name: [option.get(key) for option in options] for name, key in named.items()}
    if isinstance(options, dict) and isinstance(options.get("text"), list):
        texts, labels = options["text"], options.get("label")
        marks = options.get("marks", marks)
    elif isinstance(options, dict):
        # By letters, or with a score for each text.
        texts, labels = list(options.values()), list(options)
        if not all(isinstance(text, str) for text in texts):
            texts, labels, marks = labels, None, texts
    elif isinstance(options, list):
        texts, labels = options, None
    else:
        record.refuse(f"the options must be a list of texts, but they are {json_type(options)}.")
    if any(text is None or (isinstance(text, float) and isnan(text)) for text in texts):
        record.refuse("an option is missing (NaN).")
    if isinstance(marks, list) and len(marks) == len(texts):
        best = max((mark for mark in marks if isinstance(mark, int | float)), default=0)
        return texts, [place for place, mark in enumerate(marks) if mark == best > 0]
    places = [str(label) for label in as_list(labels)]
    return texts, [places.index(str(answer))] if str(answer) in places else None


def _naming(options: Sequence[Mapping[str, Any]], answer: Any) -> Mapping[str, str]:
    """Which of the fields of options the answer names them by, such as a key of each."""
    fields = [name for name in options[0] if name not in ("text", "label")]
    naming = [f for f in fields if str(answer) in [str(option.get(f)) for option in options]]
    label = "label" if "label" in options[0] or not naming else naming[0]
    return {"text": "text", "label": label}


def mixed(texts: Sequence[Any], right: Any) -> tuple[list[Any], list[int]]:
    """Mix options in an order that follows from their texts alone, and say where the right ones
    are."""
    together = sorted(map(str, texts))
    hashes = [sha256(f"{together} {text}".encode(errors="replace")).digest() for text in texts]
    order = sorted(range(len(texts)), key=hashes.__getitem__)
    in_order = [texts[place] for place in order]
    named = right if isinstance(right, list) else [right]
    return in_order, [place for place, text in enumerate(in_order) if text in named]


def labels_in(record: Record, answer: Any, sign: str = "") -> list[Any]:
    """A list, or the labels in a cell, cut at the sign, or else at | or ; or , of any script."""
    if isinstance(answer, list):
        return answer
    text = str(text_of(answer)).strip()
    if text.startswith("["):
        return python_list(record, text, "the answer")
    sign = sign or next((mark for mark in "|;；,，、" if mark in text), "|")
    return [part.strip() for part in text.split(sign)] if text else []


# As numpy writes a list of texts: without commas, which Python would read as one text.
_ARRAY = re.compile(r"\[\s*((?:'[^']*'|\"[^\"]*\")(?:\s+(?:'[^']*'|\"[^\"]*\"))+)\s*\]")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def python_list(record: Record, text: str, what: str = "the options") -> list[Any]:
    """A list as Python writes it, which JSON's is too if it holds texts and numbers alone."""
    if array := _ARRAY.fullmatch(text.strip()[:LONGEST_LIST]):
        return [one or other for one, other in _QUOTED.findall(array[1])]
    read = as_python(text.strip()) if len(text) <= LONGEST_LIST else None
    if not isinstance(read, list) or not all(type(item) in (str, int, float) for item in read):
        record.refuse(f"{what} must be a list of texts or numbers, but they are {text[:60]}.")
    return read


def listed(record: Record, text: str) -> Any:
    """A list that a cell of text holds; else the text."""
    with suppress(BadInput):
        return python_list(record, text) if text.lstrip().startswith("[") else text
    return text


def at_places(record: Record, text: Any, places: Sequence[int]) -> list[str]:
    """The words that stand at these places of a text, one for each run of them."""
    if not isinstance(text, str) or not all(0 <= place < len(text) for place in places):
        record.refuse(f"a place of the answer ({max(places)}) lies outside of its text.")
    runs: list[list[int]] = []
    for place in sorted(set(places)):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    words = (text[run[0] : run[-1] + 1].strip() for run in runs)
    return [word for word in words if word]


def boxed(record: Record, text: str) -> str:
    r"""What stands in the last \boxed{…}."""
    start = text.rfind("\\boxed{") + len("\\boxed{")
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start:place]
    record.refuse("the solution has no answer in \\boxed{…}.")


def turns(chat: Any) -> Any:
    """A chat as its turns, each with who says it; one turn of a user as it is."""
    if not isinstance(chat, list) or not all(isinstance(o, dict) and "role" in o for o in chat):
        return chat
    turns = [(str(turn["role"]), _message(turn.get("content"))) for turn in chat]
    if len(turns) == 1:
        return turns[0][1]
    return [f"{role.capitalize()}: {text}" for role, text in turns]


def _message(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(text_of(content))


def text_of(value: Any) -> Any:
    """Numbers and truth values as they are written; a list or object as it is, to be refused."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def table_as_text(value: Any) -> Any:
    """A table that a cell holds as lists, a line a row with bars between; all else as it is."""
    is_table = isinstance(value, list) and value and all(isinstance(row, list) for row in value)
    if not is_table or any(isinstance(cell, list | dict) for row in value for cell in row):
        return value
    return "\n".join(" | ".join(str(text_of(cell)) for cell in row) for row in value)


def texts_of(value: Any) -> Any:
    return [text_of(item) for item in value] if isinstance(value, list) else text_of(value)


def joined(value: Any) -> Any:
    return "\n".join(map(str, texts_of(value))) if isinstance(value, list) else text_of(value)


def as_objects(value: Any) -> Any:
    """A list of objects, which columns of tables hold as an object of lists."""
    if not isinstance(value, dict) or not all(isinstance(cells, list) for cells in value.values()):
        return value
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=False)]


# Of which no column of texts consists.
NO_WORDS = ("true", "false", "nan", "null")


def leaves(value: Any) -> list[Any]:
    """What stands inside of lists and objects, however deep."""
    flat, left = [], [value]
    while left:
        inner = left.pop()
        if isinstance(inner, list | dict):
            left += reversed(inner.values() if isinstance(inner, dict) else inner)
        else:
            flat.append(inner)
    return flat


def holds_text(value: Any) -> bool:
    if isinstance(value, list | dict):
        return any(map(holds_text, leaves(value)))
    text = value.strip().lower() if isinstance(value, str) else ""
    return text not in NO_WORDS and any(letter.isalpha() for letter in text)


def ask_about_unused(
    where: str, names: Sequence[str], row: Mapping[str, Any], *uses: tuple[str, Any, str]
) -> NoReturn:
    """Ask about columns of text that nothing is made of."""
    hold, are = ("hold", "are") if len(names) > 1 else ("holds", "is")
    listed = " and ".join(f"“{name}”" for name in names[:6])
    listed += " and others" if len(names) > 6 else ""
    raise Ambiguous(
        where,
        f"{listed} {hold} text in most rows and {are} not used.",
        *uses,
        ("unused", list(names), "no part of what is asked"),
        row=row,
    )
