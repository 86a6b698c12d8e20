"""Tables whose columns have unusual names: what each of them may be is asked."""

from collections.abc import Sequence
from itertools import permutations

from annotation.benchmarks.formats.content import Ambiguous
from annotation.benchmarks.formats.files import Fields
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
    if "answer" in columns and asks and not is_row(table.names):
        together = [("columns", {"context": asks}, "all of them, one under the other")]
        pairs = [(n, f"{n[:-1]}2") for n in asks if n[-1] == "1" and f"{n[:-1]}2" in asks]
        raise Ambiguous(
            table.file,
            f"no column is the question; {there(table.names)}.",
            *(
                ("columns", {"context": a, "question": b}, f"“{b}” is asked of “{a}”")
                for a, b in pairs
            ),
            *(
                ("columns", {"context": [*both]}, " above ".join(both))
                for both in pairs
                if asks[2:]
            ),
            *(("columns", {"question": n}, f"“{n}” is the question") for n in asks[:4]),
            *together * (len(asks) > 1),
            row=table.shown(table.rows[0]),
        )
    if "answer" not in columns and "options" not in columns and not is_row(table.names):
        _ask_about_texts([name for name in texts if not is_aside(name)], table)
    raise BadInput(f"{sentence}.")


def _ask_about_texts(texts: Sequence[str], table: Table) -> None:
    """Raise Ambiguous about columns of unusual names: texts and their label, or two texts a row."""
    differ = [name for name in texts if not repeats(name, table)]
    labels = [name for name, values in labels_in_columns(table).items() if len(values) > 1][:4]
    pairs = [*permutations(differ, 2)] if len(differ) == 2 else []
    alone = "two options, and only the task's description says what is asked"
    options = [
        ("columns", {"question": "", "options": differ, "answer": n}, f"{alone}: “{n}” is right")
        for n in differ * (len(differ) == 2)
    ]
    whole = [(differ[0] if len(differ) == 1 else differ, name) for name in labels if differ]
    answers = [
        (
            "columns",
            {"context": text, "answer": answer},
            f"“{answer}” is the answer to {' and '.join(f'“{one}”' for one in as_list(text))}",
        )
        for text, answer in (*whole, *pairs)
    ]
    counted = [name for name in differ if name[-1].isdecimal()]
    others = [name for name in differ if name not in counted]
    named = [
        (
            "columns",
            {"context": others, "options": counted, "answer": name},
            f"“{name}” names the right one of {' and '.join(f'“{one}”' for one in counted)}",
        )
        for name in labels
        if others and counted[1:]
    ]
    if answers:
        problem = f"no column is the question and none the answer; {there(table.names)}."
        raise Ambiguous(
            table.file, problem, *named, *answers, *options, row=table.shown(table.rows[0])
        )
