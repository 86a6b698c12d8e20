"""A study's file as it is given, as TOML or as the same in JSON: its tables and values, each of the
type and within the bounds of its setting. What is wrong is said with its line and its key."""

import re
import reprlib
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Field

from annotation.models import Batch, OutcomeRule, Pool, Study
from annotation.models.errors import BadInput, Misplaced
from annotation.models.settings import Setting
from annotation.models.texts import dotted, is_text, nearest, storable

MOST_BYTES = 1_000_000
# Names of tables and keys, and from 0 on the number of a table that is repeated.
Place = tuple[str | int, ...]
MODELS = {"pools": Pool, "batches": Batch, "outcomes": OutcomeRule}


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float | Decimal) and isfinite(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_text(value)


def _is_day(value: Any) -> bool:
    if isinstance(value, str):
        return value == FULL or re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None
    return isinstance(value, date) and not isinstance(value, datetime)


def _is_list(value: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(holds, value))


def _is_table_of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_list([*value.values()], _is_text)


FULL = "full"
# What a value of each type is, and how to write one.
TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "text": (_is_text, "a text between quotes"),
    "texts": (lambda value: _is_list(value, _is_text), 'a list of texts, such as ["one", "two"]'),
    "texts by language": (_is_table_of_texts, "a table of texts, each between quotes"),
    "texts by task": (_is_table_of_texts, 'a table of texts, such as { ner = "document" }'),
    "number": (_is_number, "a number"),
    "whole number": (_is_whole, "a whole number"),
    "whole numbers": (
        lambda value: _is_list(value, _is_whole),
        "a list of whole numbers, such as [10, 20]",
    ),
    "true or false": (lambda value: isinstance(value, bool), "true or false"),
    "date": (_is_day, f'"{FULL}", or a day such as 2027-01-31'),
}
# The type of a column, by its class; all others hold texts.
OF_COLUMNS = {
    "BooleanField": "true or false",
    "DateField": "date",
    "DecimalField": "number",
    "FloatField": "number",
    "JSONField": "texts",
    "PositiveBigIntegerField": "whole number",
    "PositiveIntegerField": "whole number",
    "PositiveSmallIntegerField": "whole number",
}


def column_of(setting: Setting) -> Field[Any, Any] | None:
    """The column that holds a setting, if one does."""
    model: Any = MODELS.get(setting.table, Study)
    column: Field[Any, Any] | None = (
        model._meta.get_field(setting.column) if setting.column else None
    )
    return column


def type_of(setting: Setting) -> str:
    column = column_of(setting)
    kind = column.get_internal_type() if column else ""
    return setting.type or OF_COLUMNS.get(kind, "text")


def described(setting: Setting) -> Setting:
    """A setting as the reference tells it: with its type, its default and when it may change."""
    column, kind, usual = column_of(setting), type_of(setting), setting.default
    if column and column.choices:
        kind = " or ".join(f"`{name}`" for name, _label in column.choices)
    if column and not usual and (default := column.get_default()) not in (None, "", []):
        usual = str(default).lower() if isinstance(default, bool) else str(default)
    return replace(
        setting,
        type=kind,
        default=usual,
        changes="at any time" if setting.changes == "always" else "until the start",
        meaning=setting.in_file or setting.meaning,
    )


@dataclass(frozen=True)
class StudyFile:
    """What a study's file says, and where it says it; lines are known of TOML alone."""

    data: Mapping[str, Any]
    name: str = ""
    lines: Mapping[Place, int] = field(default_factory=dict)
    # Where files lie that it names; without one it may name none.
    folder: Path | None = None

    def where(self, place: Place) -> str:
        """The file, line and key in words: “study.toml, line 12, batches[2].shots”."""
        known = (self.lines.get(place[:end]) for end in range(len(place), 0, -1))
        line = next((f"line {number}" for number in known if number), "")
        return ", ".join(filter(None, [self.name, line, dotted(place)])) or "The study"

    def wrong(self, place: Place, sentence: str) -> BadInput:
        return Misplaced(self.where(place), dotted(place) or "detail", sentence)

    def table(self, *place: str | int) -> Mapping[str, Any]:
        """The table at a place; an empty one where there is none."""
        value: Any = self.data
        self._check_table(value, ())
        for at, part in enumerate(place):
            value = value[part] if isinstance(part, int) else value.get(part, {})
            if at + 1 == len(place) or not isinstance(place[at + 1], int):
                self._check_table(value, place[: at + 1])
        return value  # type: ignore[no-any-return]

    def _check_table(self, value: Any, place: Place) -> None:
        if not isinstance(value, Mapping):
            raise self.wrong(place, f"This is a table of keys, not {_shown(value)}.")

    def tables(self, name: str) -> int:
        """How many tables of this name are repeated."""
        tables = self.data.get(name, [])
        if not isinstance(tables, list):
            raise self.wrong((name,), f"Each of the {name} is a table of its own: [[{name}]].")
        return len(tables)

    def check_keys(self, place: Place, known: Collection[str]) -> None:
        """Refuse a key that is not known, with the nearest that is."""
        for key in self.table(*place):
            if key not in known:
                sentence = f"There is no such key here; {nearest(str(key), known)}"
                raise self.wrong((*place, key), sentence)

    def values(self, place: Place, known: Mapping[str, Setting]) -> dict[str, Any]:
        """The values that a table gives, by key, as their columns hold them."""
        self.check_keys(place, known)
        table = self.table(*place)
        return {
            key: self._value((*place, key), setting, table[key])
            for key, setting in known.items()
            if key in table
        }

    def _value(self, place: Place, setting: Setting, value: Any) -> Any:
        is_one, words = TYPES[type_of(setting)]
        if not is_one(value):
            raise self.wrong(place, f"This is {words}, not {_shown(value)}.")
        for item in value if isinstance(value, list) else [value]:
            if _is_number(item) and (refused := setting.refused(item)):
                raise self.wrong(place, refused)
            if setting.type == "whole numbers" and item < 0:
                raise self.wrong(place, f"No number here is below 0, as {item} is.")
        column = column_of(setting)
        return value if column is None else self._in_column(place, column, value)

    def _in_column(self, place: Place, column: Field[Any, Any], value: Any) -> Any:
        """What the column holds; a row of another table stays a name."""
        if column.choices and value not in (names := [str(name) for name, _ in column.choices]):
            raise self.wrong(place, f"This is one of {_all(names)}, not {_shown(value)}.")
        if isinstance(value, str):
            value = plain(value)
        if column.is_relation:
            return value
        kind = column.get_internal_type()
        if kind == "DateField" and value == FULL:
            return None
        if kind == "DecimalField":
            value = Decimal(str(value))
        try:
            return column.clean(value, None)
        except ValidationError as error:
            raise self.wrong(place, " ".join(error.messages)) from error


def plain(text: str) -> str:
    """A text as it is compared: ends of lines are those of Unix, and none stands outside."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _all(names: Collection[str]) -> str:
    return ", ".join(names)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"“{storable(value[:40])}”"
    if isinstance(value, date | time):
        return str(value)
    try:
        return reprlib.repr(value).replace("True", "true").replace("False", "false")
    except ValueError:  # Python writes no number of thousands of digits
        return "so large a number"


def read_study_file(
    content: bytes, name: str = "study.toml", folder: Path | None = None
) -> StudyFile:
    """Read TOML. Raises BadInput where it is none."""
    if len(content) > MOST_BYTES:
        raise BadInput(f"{name} is larger than {MOST_BYTES // 1_000_000} MB: no study needs that.")
    try:
        text = content.decode("utf-8-sig")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text: save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        reason = "it nests too deep" if isinstance(error, RecursionError) else str(error)
        raise BadInput(f"{name} is no TOML: {reason}.") from error
    return StudyFile(data, name, lines_of(text), folder)


_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\- \t\"']+?)\s*\]")
_KEY = re.compile(r"\s*([\w.\- \t\"']+?)\s*=")


def lines_of(text: str) -> dict[Place, int]:
    """The lines on which tables and keys of a TOML text stand; a text of several lines has none."""
    lines: dict[Place, int] = {}
    at: Place = ()
    seen, closes = Counter[Place](), ""
    for number, line in enumerate(text.split("\n"), start=1):
        begins = "" if closes else line
        if header := _HEADER.match(begins):
            at = _parts(header[2])
            if header[1] == "[[":
                lines.setdefault(at, number)
                seen[at] += 1
                at = (*at, seen[at] - 1)
            lines.setdefault(at, number)
        elif key := _KEY.match(begins):
            lines.setdefault((*at, *_parts(key[1])), number)
        for quotes in ('"""', "'''"):
            if closes in ("", quotes) and line.count(quotes) % 2:
                closes = "" if closes else quotes
    return lines


def _parts(dotted: str) -> Place:
    return tuple(part.strip(" \t\"'") for part in dotted.split("."))
