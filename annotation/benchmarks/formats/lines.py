"""Files of one JSON object per line, and the sentences that say which line is wrong."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from annotation.models.errors import BadInput
from annotation.models.texts import is_text

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Record:
    """One line's object, and where it stands."""

    file: str
    line: int
    fields: dict[str, Any]

    @property
    def where(self) -> str:
        return f"{self.file}, line {self.line}"

    def refuse(self, problem: str) -> NoReturn:
        raise BadInput(f"{self.where}: {problem}")

    def field(self, name: str) -> Any:
        if name not in self.fields:
            self.refuse(f"the field “{name}” is missing.")
        return self.fields[name]

    def text(self, name: str) -> str:
        return self.as_text(self.field(name), f"“{name}”")

    def as_text(self, value: object, what: str) -> str:
        """The value if it is a string, and one that can be stored."""
        if not isinstance(value, str):
            self.refuse(f"{what} must be a string, but it is {json_type(value)}.")
        if not is_text(value):
            self.refuse(
                f"{what} holds a character that is not text (NUL or half a surrogate pair)."
            )
        return value


def read_records(data: bytes, file: str) -> Iterator[Record]:
    """The objects of a file's lines; empty lines are skipped. Raises BadInput at the first
    line that is not one, and for a file without any."""
    # Not splitlines: a text may hold Unicode's own line separators.
    yield from records_of(data.split(b"\n"), file)


def records_of(lines: Iterable[bytes], file: str) -> Iterator[Record]:
    """The same for lines that arrive one by one, for a file that should not fill the memory."""
    empty = True
    for number, line in enumerate(lines, start=1):
        raw = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if raw.strip():
            empty = False
            yield _read_record(raw, file, number)
    if empty:
        raise BadInput(f"{file} is empty: it needs one JSON object a line.")


def json_type(value: object) -> str:
    """What a JSON value is called in a sentence."""
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _read_record(raw: bytes, file: str, number: int) -> Record:
    where = f"{file}, line {number}"
    try:
        fields = json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{where}: byte {error.start + 1} is not UTF-8; save it as UTF-8."
        ) from error
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{where}: this is not JSON ({error.msg}, column {error.colno}); "
            "each line must be one JSON object."
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where}: this JSON is too deep, or a number in it too long.") from error
    if not isinstance(fields, dict):
        raise BadInput(
            f"{where}: each line must be one JSON object, but this is {json_type(fields)}."
        )
    return Record(file, number, fields)
