"""Tables whose columns have unusual names: what each of them may be is asked."""

from collections.abc import Sequence
from itertools import permutations

from annotation.benchmarks.formats.content import Ambiguous, Fields
from annotation.benchmarks.formats.known_sets import as_list, is_aside, programs_in
from annotation.benchmarks.formats.one_table import (
    Table,
    Unlabelled,
    is_row,
    is_text_column,
    labels_in_columns,
    repeats,
    text_paths,
    there,
)
from annotation.models.errors import BadInput


def check_whole(columns: Fields, table: Table) -> None:
    has_question = bool({"question", "context"} & columns.keys()) or bool(table.known.asks)
    has_question = has_question or (table.asks_nothing and "options" in columns)
    if has_question and "answer" in columns:
        return
    lacking = [*["question"] * (not has_question), *["answer"] * ("answer" not in columns)]
    line = ", ".join(f'"{one}": "…"' for one in lacking)
    sentence = (
        f"{table.file}: no column is the {' and none the '.join(lacking)}; {there(table.names)}. "
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
        *(({"context": one, "question": b}, f"“{b}” is asked of “{one}”") for one, b in pairs),
        *(({"context": [*both]}, " above ".join(both)) for both in pairs if asks[2:]),
        *(({"question": name}, f"“{name}” is the question") for name in asks[:4]),
        *[({"context": asks}, "all of them, one under the other")] * (len(asks) > 1),
    ]
    if "answer" not in columns:
        readings = _of_texts([name for name in texts if not is_aside(name)], table)
    if not readings:
        raise BadInput(f"{sentence}.")
    raise Ambiguous(
        table.file,
        f"no column is the {' and none the '.join(lacking)}; {there(table.names)}.",
        *(("columns", named, meaning) for named, meaning in readings),
        row=table.shown(table.rows[0]),
    )


def _of_texts(texts: Sequence[str], table: Table) -> list[tuple[Fields, str]]:
    """What columns of unusual names may be: texts and their label, or two texts a row."""
    differ = [name for name in texts if not repeats(name, table)]
    labels = [n for n, values in labels_in_columns(table).items() if len(values) > 1 and differ][:4]
    counted = [name for name in differ if name[-1].isdecimal()]
    others = [name for name in differ if name not in counted]
    named = [
        (
            {"context": others, "options": counted, "answer": name},
            f"“{name}” names the right one of {_in_words(counted)}",
        )
        for name in labels
        if others and counted[1:]
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
