"""Signs that stand where there is no gold or no option, and which of them are answers after all."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from annotation.benchmarks.formats.cells import leaves, text_of
from annotation.benchmarks.formats.content import Ambiguous, Record
from annotation.benchmarks.formats.known_sets import HIDDEN, HIDDEN_WORDS, as_list, value_at
from annotation.benchmarks.formats.one_table import NOTHING, Table, Unlabelled
from scoring.core.normalisation import read_number


def signs_of(
    table: Table, choices: Collection[str], *, may_be_empty: bool = False
) -> list[str | None]:
    """What stands in each row where there is no answer; None where there is one. choices: labels,
    if they are named, which are answers. may_be_empty: whether an empty list is one.

    Raises Unlabelled where no row has an answer, and Ambiguous about signs of which nothing is
    said.
    """
    said = table.said.get("missing")
    known = {*table.known.missing, *(said or ())}
    usual = {sign.lower() for sign in (*HIDDEN, *known)} if said != [] else set[str]()
    sign_by_row = [_sign(table, row, usual, may_be_empty) for row in table.rows]
    if table.rows and None not in sign_by_row:
        column = as_list(table.columns["answer"])[0]
        raise Unlabelled(
            f"{table.file}: there are no answers in this file: “{column}” is "
            f"{in_words(sign_by_row[0])} in every row.",
            table.names,
        )
    signs = known
    if said is None:
        signs = {*known, *HIDDEN, *HIDDEN_WORDS}
    elif {sign.lower() for sign in said} & {*HIDDEN} - {""}:
        signs = {*known, *HIDDEN}
    signs = {sign.lower() for sign in signs} - {choice.lower() for choice in choices}
    sign_by_row = [_sign(table, row, signs, may_be_empty) for row in table.rows]
    _ask_about(sign_by_row, known, table)
    return sign_by_row


def without_signs(table: Table, choices: Collection[str]) -> Table:
    """The table with nothing in cells of several columns of options or right answers that hold a
    sign. Raises Ambiguous about signs of which nothing is said."""
    answers, options = (as_list(table.columns.get(name)) for name in ("answer", "options"))
    several = {*(answers if answers[1:] else ()), *(options if options[1:] else ())}
    said = table.said.get("missing")
    words = {word for word in (*HIDDEN, *HIDDEN_WORDS) if read_number(word) is None}
    signs = {word.lower() for word in (words if said is None else said)} - {"", *choices}
    signs_by_row = [
        {name: sign for name in several if (sign := _as_sign(value_at(row.fields, name), signs))}
        for row in table.rows
    ]
    first = next((row for row, cells in zip(table.rows, signs_by_row, strict=True) if cells), None)
    if first and said is None and not table.known.name:
        seen = sorted({sign for cells in signs_by_row for sign in cells.values()})
        raise Ambiguous(
            first.where,
            f"a cell for an option or a right answer holds {' or '.join(map(in_words, seen))}, in "
            f"{sum(map(bool, signs_by_row))} of {len(signs_by_row)} rows.",
            ("missing", seen, "there is none: these rows have fewer"),
            ("missing", [], "it is an option or an answer like others"),
            row=table.shown(first),
        )
    if said is None:
        return table
    rows = [
        replace(row, fields={**row.fields, **dict.fromkeys(cells)}) if cells else row
        for row, cells in zip(table.rows, signs_by_row, strict=True)
    ]
    return replace(table, rows=rows)


def offered_in(table: Table) -> set[str]:
    """What its answers and options are, as signs are compared."""
    cells = (table.cells(row, name) for row in table.rows for name in ("answer", "options"))
    return {str(text_of(leaf)).strip().lower() for cell in cells for leaf in leaves(cell)}


def _sign(table: Table, row: Record, signs: Collection[str], may_be_empty: bool) -> str | None:
    cells = table.cells(row, "answer")
    if may_be_empty and cells == [[]]:
        return None
    as_signs = [_as_sign(value, signs) for value in cells]
    sign = None if None in as_signs else as_signs[0]
    offered = [str(leaf) for cell in table.cells(row, "options") for leaf in leaves(cell)]
    return None if sign in offered and read_number(sign or "") is None else sign


def _as_sign(value: Any, signs: Collection[str]) -> str | None:
    if value in NOTHING:
        return ""
    if isinstance(value, list | dict):
        # A list of signs alone.
        signs_in = (
            {_as_sign(leaf, signs) for leaf in leaves(value)} if isinstance(value, list) else set()
        )
        return signs_in.pop() or None if len(signs_in) == 1 else None
    text = str(text_of(value)).strip()
    return text if not text or text.lower() in signs else None


def _ask_about(sign_by_row: list[str | None], known: Collection[str], table: Table) -> None:
    by_sign: dict[str, Record] = {}
    for sign, row in zip(sign_by_row, table.rows, strict=True):
        if sign is not None and sign not in known:
            by_sign.setdefault(sign, row)
    if not by_sign:
        return
    signs = [*by_sign]
    usual = [sign for sign in signs if sign.lower() in HIDDEN]
    readings: list[tuple[str, Any, str]] = [("missing", signs, "leave these rows out")]
    if len(usual) not in (0, len(signs)) and usual != [""]:
        left = " and ".join(map(in_words, usual))
        readings.append(("missing", usual, f"leave {left} out; the others are answers"))
        words = [sign for sign in signs if sign not in usual]
        readings.append(("missing", words, f"leave all but {left} out, which are answers"))
    if signs != [""] and not any(known):
        rest = [""] if "" in signs else []
        meaning = "they are answers like others" if signs[1:] else "it is an answer like others"
        readings.append(("missing", rest, meaning + (", but for the empty ones" if rest else "")))
    first = by_sign[signs[0]]
    if [] in table.cells(first, "answer") and "context" in table.columns:
        readings.append(("kind", "spans", "words are chosen in the text, and none there"))
    count = sum(sign in by_sign for sign in sign_by_row)
    what = (
        f"the answer is {' or '.join(map(in_words, signs))} in {count} of {len(sign_by_row)} rows, "
        "which may say that there is none."
    )
    raise Ambiguous(first.where, what, *readings, row=table.shown(first))


def in_words(sign: str | None) -> str:
    return f"“{sign}”" if sign else "empty"
