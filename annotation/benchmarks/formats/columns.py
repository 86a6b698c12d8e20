"""Which columns of a table hold what: as its task's file names them, as its set is known to have
them, or by their usual names. What could be read in two ways is asked."""

import re
import string
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

from annotation.benchmarks.archives import AS_SPANS
from annotation.benchmarks.formats.cells import ask_about_unused, leaves, text_of
from annotation.benchmarks.formats.content import (
    ASKS,
    CANARY,
    LONGEST_ID,
    Fields,
    Record,
    written,
)
from annotation.benchmarks.formats.known_sets import (
    ASIDE_FIELDS,
    NO_NAME,
    PARTS,
    USUAL,
    KnownSet,
    as_list,
    is_aside,
    key,
    part_in,
    programs_in,
    usual_columns,
    value_at,
)
from annotation.benchmarks.formats.one_table import (
    NOTHING,
    Table,
    Unlabelled,
    is_row,
    is_text_column,
    labels_in_columns,
    listing,
    repeats,
    shortened,
    text_paths,
)
from annotation.models.errors import BadInput

# One column for each option: A, B, C; choice_1, choice_2; sol1, sol2.
OPTION = re.compile(r"(?:option|choice|ending|sol|opt|answer)?([a-z]|\d)")
ID = re.compile(rf"(?i:\bid|_id)$|[a-z]I[dD]$|{re.escape(NO_NAME)}$")
FILE = re.compile(r"\S*[/\w]\.[a-zA-Z]\w{1,4}")
TAGS = re.compile(r"tags?$", re.I)
# Whatever else may be an answer beside it.
NAMED_RIGHT = ("correctanswers",)
# So many parts of an answer are fields; more are values.
MOST_PARTS = 8


def find_columns(table: Table) -> Fields:
    """Find the columns of each field. Raises BadInput where what has to be there is not."""
    names, known, file = table.names, table.known, table.file
    named = table.said.get("columns") or {}
    if not known.name and "answer" not in named:
        _check_no_tags(table)
    for name, paths in named.items():
        if absent := [path for path in as_list(paths) if not is_there(path, names)]:
            # Parts whose answers are hidden may lack the column.
            sentence = f"{file}: there is no column “{absent[0]}” for the {name}; {listing(names)}."
            raise Unlabelled(sentence, names) if name == "answer" else BadInput(sentence)
    guessed = _beside(found_columns(names, known), named, table.said.get("unused") or ())
    if not known.name and "answer" not in named:
        guessed |= _settled_answer(table, {**guessed, **named})
    guessed["part"] = _part_column(table, {**guessed, **named})
    columns = {name: paths for name, paths in {**guessed, **named}.items() if paths}
    table = replace(table, columns=columns)
    _ask_about_rows(columns, table)
    if twice := {*as_list(columns.get("question"))} & {*as_list(columns.get("context"))}:
        raise BadInput(f"{file}: “{min(twice)}” is both the question and the context.")
    _check_whole(columns, table)
    if not known.name and not {"id"} & {*columns, *named}:
        columns |= _id_column(table)
    if not known.name:
        _ask_about_cells(columns, table)
        _ask_about_files(columns, table)
    return columns


def _id_column(table: Table) -> Fields:
    """What is named for an id and differs in all rows. Raises Ambiguous where several are."""
    left = {
        *(table.said.get("unused") or ()),
        *(p for of in table.columns.values() for p in as_list(of)),
    }
    cells = {n: [r.fields.get(n) for r in table.rows] for n in table.names if ID.search(n)}
    ids = [
        name
        for name, values in cells.items()
        if name not in left
        and all(isinstance(v, str | int) and 0 < len(str(v)) <= LONGEST_ID for v in values)
        and len({*map(str, values)}) == len(values)
    ]
    if len(ids) > 1:
        table.ask(
            f"no column is the id, and {_in_words(ids)} differ in all rows.",
            *(("columns", {"id": name}, f"“{name}” is the id") for name in ids),
            ("columns", {"id": ""}, "number the rows from 1"),
        )
    return {"id": ids[0]} if ids else {}


def _part_column(table: Table, columns: Fields) -> str:
    """The column that says which part a row is of. Raises Ambiguous where its name does not."""
    other = [path for name, of in columns.items() if name != "part" for path in as_list(of)]
    left = [n for n in table.names if n not in (*other, *(table.said.get("unused") or ()))]
    for name in left if "part" not in (table.said.get("columns") or {}) else ():
        cells = {str(row.fields.get(name)).strip().lower() for row in table.rows}
        if key(name) in USUAL["part"] and any(map(part_in, cells)):
            return name
        if len(cells) > 1 and cells <= {*PARTS}:
            table.ask(
                f"“{name}” holds names of parts of a set: {', '.join(sorted(cells))}.",
                ("columns", {"part": name}, "it says which part a row is, and one part is asked"),
                ("unused", [name], "it says something else, and all rows are asked"),
            )
    return ""


def _ask_about_rows(columns: Fields, table: Table) -> None:
    """Raise Ambiguous where a row holds several questions, and none is found beside them."""
    left = table.said.get("unused") or ()
    inner = [
        n for n in table.names if any(_are_objects(r, n) for r in table.rows) and n not in left
    ]
    asked = [path.partition(".")[0] for path in as_list(columns.get("question")) if "." in path]
    lacks = not (columns.keys() & {"question", "context"} and "answer" in columns)
    lists = inner if lacks else [name for name in inner if name in asked]
    if lists and not (table.known.name or table.known.asks or table.known.rows):
        listed = _in_words(lists)
        each = "each of them is a question, beside the other columns of its row"
        table.ask(
            f"{listed} {'hold' if len(lists) > 1 else 'holds'} lists of objects.",
            *(("rows", name, each) for name in lists),
            ("unused", lists, "no part of what is asked"),
        )


def _are_objects(row: Record, name: str) -> bool:
    value = row.fields.get(name)
    return isinstance(value, list) and len(value) > 1 and all(isinstance(v, dict) for v in value)


def _ask_about_cells(columns: Fields, table: Table) -> None:
    """Raise Ambiguous where answers are objects or lists in lists, and no part of them is named."""
    path = columns["answer"]
    cells = (value_at(row.fields, path) for row in table.rows if isinstance(path, str))
    first = next((cell for cell in cells if cell not in NOTHING), None)
    entry = first[0] if isinstance(first, list) else first
    if isinstance(first, list) and isinstance(entry, list):
        # The same place of each list, or one of them.
        room = max(0, MOST_PARTS - len(entry))
        short = shortened(f"{path}.0", table.rows)
        first = value_at(short[0].fields, str(path)) if short else first
        places = [*map(str, range(len(entry))), *(f"[{n}]" for n in range(len(first))[:room])]
        names = ["*", *places] if short else places
        parts = {n: written(value_at({"": first}, f".{n}")) for n in names}
    elif isinstance(entry, dict) and "text" not in entry:
        parts = entry
    else:
        return
    inside = {name: v for name, v in parts.items() if not isinstance(v, list | dict)}
    if not 0 < len(inside) <= MOST_PARTS:
        raise BadInput(
            f"{table.file}: the answer (“{path}”) is nested: write it as a text, or as a list of "
            "texts."
        )
    table.ask(
        f"the answer (“{path}”) is made of several parts.",
        *(("columns", {"answer": f"{path}.{n}"}, f"“{str(v)[:60]}”") for n, v in inside.items()),
    )


def _ask_about_files(columns: Fields, table: Table) -> None:
    """Raise Ambiguous where names of files stand for the text, and nothing says so."""
    path = columns.get("context")
    cells = [str(value_at(row.fields, path)) for row in table.rows if isinstance(path, str)]
    is_said = "question" not in columns or "context" in (table.said.get("columns") or {})
    if cells and not is_said and all(map(FILE.fullmatch, cells)):
        table.ask(
            f"“{path}” holds names of files alone: “{cells[0][:60]}”.",
            ("columns", {"context": path}, "shown as they stand"),
            ("unused", [path], "not shown"),
        )


def _check_no_tags(table: Table) -> None:
    """Raise BadInput for lists of tokens beside lists of their tags."""
    tags = [name for name in table.names if TAGS.search(name)]
    lengths = [_lengths(table, name) for name in table.names if name not in tags]
    if tag_columns := [
        name for name in tags if any(_lengths(table, name)) and _lengths(table, name) in lengths
    ]:
        raise BadInput(f"{table.file}: “{tag_columns[0]}” holds the tags of tokens: {AS_SPANS}")


def _lengths(table: Table, name: str) -> list[int]:
    cells = [row.fields.get(name) for row in table.rows]
    return [len(cell) if isinstance(cell, list) else 0 for cell in cells]


def found_columns(names: Sequence[str], known: KnownSet) -> Fields:
    """The columns by what is known of their set, or by their usual names."""
    columns = usual_columns(names)
    if known.name:
        columns = {name: paths for name, paths in columns.items() if name in ASIDE_FIELDS}
        return columns | {
            name: paths
            for name, paths in known.columns.items()
            if all(is_there(path, names) for path in as_list(paths))
        }
    if "options" not in columns and (options := _option_columns(names)):
        columns["options"] = options
    return columns


def _check_whole(columns: Fields, table: Table) -> None:
    has_question = bool({"question", "context"} & columns.keys()) or bool(table.known.asks)
    has_question = has_question or (table.asks_nothing and "options" in columns)
    if has_question and "answer" in columns:
        return
    present = {"question": has_question, "answer": "answer" in columns}
    lacking = [field for field, is_there in present.items() if not is_there]
    line = ", ".join(f'"{field}": "…"' for field in lacking)
    sentence = (
        f"{table.file}: no column is the {' and none the '.join(lacking)}; {listing(table.names)}. "
        f'Name {"them" if len(lacking) > 1 else "it"} in the task\'s file: "columns": {{{line}}}'
    )
    if programs := programs_in(table.names):
        raise BadInput(
            f"{table.file}: “{programs[0]}” holds programs or their tests. Programs are judged by "
            "running them, and here answers are compared as texts: leave the file out."
        )
    if has_question:
        raise Unlabelled(
            f"{sentence}, unless there are no answers in this file.",
            table.names,
            table.rows[0].fields,
            labels_in_columns(table),
        )
    used = {path for of in columns.values() for path in as_list(of)}
    texts = [n for n in table.names if n not in used and is_text_column(n, table.rows)]
    asks = [path for n in texts if not is_aside(n) for path in text_paths(n, table.rows)]
    if is_row(table.names) or ("options" in columns and "answer" not in columns):
        raise BadInput(f"{sentence}.")
    pairs = [(n, f"{n[:-1]}2") for n in asks if n[-1] == "1" and f"{n[:-1]}2" in asks]
    readings: list[tuple[Fields, str]] = [
        *(({"context": text, "question": b}, f"“{b}” is asked of “{text}”") for text, b in pairs),
        *(({"context": [*both]}, " above ".join(both)) for both in pairs if asks[2:]),
        *(({"question": name}, f"“{name}” is the question") for name in asks[:4]),
    ]
    if len(asks) > 1:
        readings.append(({"context": asks}, "all of them, one under the other"))
    if "answer" not in columns:
        readings = _of_texts([name for name in texts if not is_aside(name)], table)
    if not readings:
        raise BadInput(f"{sentence}.")
    table.ask(
        f"no column is the {' and none the '.join(lacking)}; {listing(table.names)}.",
        *(("columns", named, meaning) for named, meaning in readings),
    )


def _of_texts(texts: Sequence[str], table: Table) -> list[tuple[Fields, str]]:
    """What columns of unusual names may be: texts and their label, or two texts a row."""
    differ = [name for name in texts if not repeats(name, table)]
    labels = [n for n, values in labels_in_columns(table).items() if len(values) > 1 and differ][:4]
    counted = [name for name in differ if name[-1].isdecimal()]
    uncounted = [name for name in differ if name not in counted]
    named = [
        (
            {"context": uncounted, "options": counted, "answer": name},
            f"“{name}” names the right one of {_in_words(counted)}",
        )
        for name in labels
        if uncounted and counted[1:]
    ]
    shown = differ[0] if len(differ) == 1 else differ
    pairs = [*permutations(differ, 2)] if len(differ) == 2 else []
    answers = [
        ({"context": of, "answer": name}, f"“{name}” is the answer to {_in_words(as_list(of))}")
        for of, name in (*((shown, name) for name in labels), *pairs)
    ]
    alone = "two options, and only the task's description says what is asked"
    options = [
        ({"question": "", "options": differ, "answer": name}, f"{alone}: “{name}” is right")
        for name in differ * (len(differ) == 2)
    ]
    return [*named, *answers, *options]


def _in_words(names: Sequence[str]) -> str:
    return " and ".join(f"“{name}”" for name in names)


def is_there(path: str, names: Sequence[str]) -> bool:
    """Whether it is a column or leads into one."""
    return _place(path, names) >= 0


def _place(path: str, names: Sequence[str]) -> int:
    """Which column it is or leads into; -1 for none."""
    columns = (path, path.partition(".")[0])
    return next((names.index(column) for column in columns if column in names), -1)


def _beside(guessed: Fields, named: Fields, unused: Sequence[str]) -> Fields:
    """The guesses that are not named otherwise, or unused. The right answer may be an option."""
    pair = {"options", "answer"}
    left = {}
    for name, paths in guessed.items():
        fields = pair if name in pair else {name}
        taken = [path for other, of in named.items() if other not in fields for path in as_list(of)]
        taken += unused
        if kept := [path for path in as_list(paths) if path not in taken]:
            left[name] = kept if isinstance(paths, list) else kept[0]
    return left


def _settled_answer(table: Table, columns: Fields) -> Fields:
    """Which of several columns with the name of an answer holds it. Raises Ambiguous."""
    left = {*(table.said.get("unused") or ())}
    left.update(
        path
        for name, of in columns.items()
        if name not in ("answer", "groups")
        for path in as_list(of)
    )
    answers = [
        name
        for usual in USUAL["answer"]
        for name in table.names
        if key(name) == usual
        and name not in left
        and any(row.fields.get(name) not in NOTHING for row in table.rows)
    ]
    first = table.rows[0].fields
    if answers and key(answers[0]) in NAMED_RIGHT:
        # An object of letters beside it is what is offered.
        offered = [n for n in answers[1:] if isinstance(first.get(n), dict)]
        is_options = offered and "options" not in columns
        return {"answer": answers[0], **({"options": offered[0]} if is_options else {})}
    if len(answers) < 2:
        return {"answer": answers[0]} if answers else {}
    lists = [name for name in answers if isinstance(first.get(name), list)]
    singles = [name for name in answers if name not in lists]
    if lists and singles and "options" not in columns:
        said = table.said.get("answers")
        if said == "options":
            return {"options": lists[0], "answer": singles[0]}
        if said:
            return {"answer": lists[0]}
        options = f"“{lists[0]}” are the options, “{singles[0]}” names the right one"
        alternatives = f"“{lists[0]}” hold the answer, “{singles[0]}” is left out"
        table.ask(
            f"both “{lists[0]}” and “{singles[0]}” may hold the answer.",
            ("answers", "options", options),
            ("answers", "alternatives", alternatives),
        )
    judged = {"answer": answers[1], "context": answers[0]}
    table.ask(
        f"both “{answers[0]}” and “{answers[1]}” may hold the answer.",
        ("columns", {"answer": answers[0]}, f"“{answers[0]}”"),
        ("columns", judged, f"“{answers[1]}”, which judges “{answers[0]}”"),
    )


def are_options(columns: Fields) -> bool:
    """Whether right answers stand in columns of options."""
    return {*as_list(columns["answer"])} <= {*as_list(columns.get("options"))}


def sort_out(table: Table, *, lax: bool) -> tuple[list[str], list[str]]:
    """The columns that are left out by a known rule, and the others that are not used. Raises
    Ambiguous for those that may be part of what is asked, unless it is lax."""
    used = [path for of in table.columns.values() for path in as_list(of)]
    asked = re.findall(r"{([^}]*)}", table.known.asks)
    tops = {path.partition(".")[0] for path in (*used, *asked, *table.known.needs)}
    left = [
        name for name in table.names if not {name} & {*used, *tops} and not CANARY.fullmatch(name)
    ]
    unused = {*(table.said.get("unused") or ())}
    aside = [name for name in left if name in unused or is_aside(name, table.known)]
    others = [name for name in left if name not in aside]
    texts = [n for n in others if is_text_column(n, table.rows) and not ASKS.fullmatch(n)]
    if texts and not lax:
        ask_about_unused(table.file, texts, table.shown(table.rows[0]), *_uses(texts, table))
    return aside, others


def _uses(texts: Sequence[str], table: Table) -> list[tuple[str, Any, str]]:
    """What columns of text may be that nothing is made of."""
    columns, first = table.columns, table.rows[0]
    inner = [path for name in texts for path in text_paths(name, table.rows)]
    order = partial(_place, names=[*table.names])
    some = [path for path in inner if not repeats(path, table)]
    shown = "shown above the question" if "question" in columns else "shown, one under the other"
    uses: list[tuple[str, Any, str]] = []
    for paths in [inner, some] if 0 < len(some) < len(inner) else [inner]:
        context = sorted([*as_list(columns.get("context")), *paths], key=order)
        rest = "" if paths is inner else "; what repeats is asked about next"
        uses += [("columns", {"context": context}, shown + rest)]
    if "question" not in columns and not table.known.asks:
        asks = [("columns", {"question": name}, f"“{name}” is the question") for name in inner[:3]]
        uses = [*asks, *uses]
    if "options" in columns or not isinstance(gold := columns["answer"], str):
        return uses
    # Labels repeat, and are no options beside others.
    are_texts = [name for name in texts if isinstance(first.fields.get(name), str)]
    labels = [name for name in are_texts if repeats(name, table)]
    candidates = [name for name in texts if name not in labels and not programs_in(table.names)]
    if len(candidates) > 1 or any(isinstance(first.fields.get(name), list) for name in candidates):
        answer = str(text_of(table.cells(first, "answer")[0]))
        offered = {str(text) for name in candidates for text in leaves(first.fields.get(name))}
        is_named = answer in offered or len(answer) == 1 or repeats(gold, table)
        option_columns = [*([] if is_named else [gold]), *candidates]
        uses.append(("columns", {"options": option_columns}, "the options"))
    if labels:
        groups = [*as_list(columns.get("groups")), *labels]
        uses.append(("columns", {"groups": groups}, "what its figures are grouped by"))
    instead = [("columns", {"answer": n}, f"“{n}” is the answer, not “{gold}”") for n in labels[:3]]
    return [*uses, *instead]


def _option_columns(names: Sequence[str]) -> list[str]:
    """Those that count on from a, 0 or 1."""
    counted: dict[str, dict[str, str]] = {}
    for name in names:
        if match := OPTION.fullmatch(key(name)):
            counted.setdefault(key(name)[: -len(match[1])], {})[match[1]] = name
    for signs in (string.ascii_lowercase, string.digits, string.digits[1:]):
        for places in counted.values():
            columns = [places[sign] for sign in signs if sign in places]
            if len(columns) > 1 and all(sign in places for sign in signs[: len(columns)]):
                return columns
    return []
