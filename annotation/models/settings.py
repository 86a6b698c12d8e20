"""The table of what can be set of a study, each once: models, forms, the study's file and its
reference read their lists, meanings and bounds from it."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.models.texts import described_beside

# The largest number that every database holds in a usual column.
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class Setting:
    """A key of a table of a study's file; settings.toml says what each field means."""

    table: str
    key: str
    column: str
    label: str = ""
    # In a form; and in the reference of the file, where that takes other words.
    meaning: str = ""
    in_file: str = ""
    changes: str = ""
    # Where the form of settings asks for it, and whether at once or under "More".
    step: str = ""
    is_first: bool = False
    unit: str = ""
    # As settings.toml says it where no column does.
    type: str = ""
    default: str = ""
    above: float | None = None
    least: float | None = None
    most: float = LARGEST
    refusal: str = ""

    def refused(self, value: float | Decimal) -> str:
        """What is said of a number outside the bounds; empty of one within."""
        if value > self.most:
            return f"This is too large: {self.most} is the most."
        is_above = self.above is None or value > self.above
        return "" if is_above and (self.least is None or value >= self.least) else self.refusal


def _settings() -> Iterator[Setting]:
    for table, keys in described_beside(__file__).items():
        for key, described in keys.items():
            column = "" if "type" in described else key
            step = "what" if table == "study" else table
            usual = {"table": table, "key": key, "column": column, "step": step}
            yield Setting(**{**usual, **described})


SETTINGS = tuple(_settings())
# Tables that are given once, and hold columns of the study itself.
OF_STUDY = ("study", "pay", "screening", "comparison")
BY_COLUMN = {one.column: one for one in SETTINGS if one.table in OF_STUDY and one.column}


def words(*tables: str) -> dict[str, dict[str, Any]]:
    """What each column is called, if not by its name, and what its form says of it."""
    return {
        setting.column: {"verbose_name": setting.label or None, "help_text": setting.meaning}
        for setting in SETTINGS
        if setting.table in tables
    }


WORDS = words(*OF_STUDY)


def in_table(table: str) -> dict[str, Setting]:
    """The settings of a table of the file, by their keys."""
    return {setting.key: setting for setting in SETTINGS if setting.table == table}


def columns(*tables: str, changes: str = "") -> tuple[str, ...]:
    """Names of columns of a study, in the order of its file."""
    chosen = tables or OF_STUDY
    return tuple(
        name for name, one in BY_COLUMN.items() if one.table in chosen and one.changes == changes
    )
