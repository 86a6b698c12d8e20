"""Options of each example (`choices` or `options` of its row), and which of them its answer names:
by its index from 0, its number from 1, its letter or its text. The gold of such an example is its
option's number."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from annotation.benchmarks.formats.content import (
    Alternatives,
    Ambiguous,
    ReadExample,
    Record,
    json_type,
)
from annotation.kinds.choice import FEWEST, MOST
from annotation.kinds.naming import IN_WORDS, WAYS, Way
from annotation.models.errors import BadInput
from scoring.core.normalisation import in_one_form
from scoring.tables.words import counted

FIELDS = ("choices", "options")
# What a task's file may leave out, beside ids.
WITH_OPTIONS = ["without options", "with options"]


def read_options(record: Record) -> tuple[str, ...]:
    fields = [name for name in FIELDS if record.fields.get(name) is not None]
    if not fields:
        return ()
    name = fields[0]
    value = record.fields[name]
    if not isinstance(value, list):
        record.refuse(f"“{name}” must be a list of texts, but it is {json_type(value)}.")
    if not FEWEST <= len(value) <= MOST:
        record.refuse(f"“{name}” must hold {FEWEST} to {MOST} options, but it holds {len(value)}.")
    options = tuple(record.as_text(_plain(text), f"each of “{name}”").strip() for text in value)
    if "" in options:
        record.refuse(f"“{name}” holds an empty option.")
    return options


def check_unlike(row: ReadExample) -> None:
    """Raise Ambiguous where two of its options read alike."""
    alike = [text for text, count in Counter(map(in_one_form, row.options)).items() if count > 1]
    if alike:
        row.ask(
            f"two of the options read alike (“{alike[0][:60]}”): change one of them.",
            ("leave_out", [row.named], "leave the row out"),
        )


def _plain(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def read_answer(record: Record, *, may_be_empty: bool = False) -> list[str]:
    """What it names, as it is written."""
    answer = record.field("answer")
    named = answer if isinstance(answer, list) else [answer]
    if not named and not may_be_empty:
        record.refuse("“answer” names none of its options.")
    return [record.as_text(_plain(item), "“answer”").strip() for item in named]


# Those that count.
COUNTS = {"index", "number"}


def with_numbers(
    rows: Sequence[ReadExample],
    named: str = "",
    *,
    usual: str = "",
    known: Collection[str] = tuple(WAYS),
    as_set: bool = False,
    is_table: bool = False,
) -> list[ReadExample]:
    """The rows with the numbers of their options for gold, read in the one of the `known` ways that
    fits them all, by `named`, or by the `usual` way of their set; several are one set, or
    alternatives. Raises BadInput where none does, and Ambiguous where two would read something
    else, or where rows of a table can be left out."""
    if none := [row for row in rows if not row.options]:
        if is_table and len(none) > min(MANY, len(rows) // 2):
            meaning = "leave out all rows {}, which may be a task of their own"
            none[0].ask(
                f"{len(none)} of {len(rows)} rows have no options of their own.",
                *(("leave_out", [way], meaning.format(way)) for way in WITH_OPTIONS),
            )
        _refuse(none, "the other rows have options of their own, this has none.", rows, is_table)
    open_rows = [row for row in rows if not row.is_settled]
    ways = {name: WAYS[name] for name in ([named] if named else known)}
    numbers_by = {name: [_numbers_of(row, way) for row in open_rows] for name, way in ways.items()}
    whole = {name: numbers for name, numbers in numbers_by.items() if None not in numbers}
    if not whole or (usual in COUNTS and usual not in whole and whole.keys() & COUNTS):
        _refuse_unread(open_rows, {usual: numbers_by[usual]} if whole else numbers_by, is_table)
    if usual in whole and not _is_doubtful(usual, whole):
        whole = {usual: whole[usual]}
    first, *rest = whole.values()
    for row, *readings in zip(open_rows, first, *rest, strict=True):
        if any(numbers != readings[0] for numbers in readings):
            _ask(row, dict(zip(whole, readings, strict=True)))
    in_turn = iter([numbers or [] for numbers in first])
    numbers = [_settled(row) if row.is_settled else next(in_turn) for row in rows]
    return [
        replace(row, alternatives=_alternatives(of_row, as_set=as_set))
        for row, of_row in zip(rows, numbers, strict=True)
    ]


def _settled(row: ReadExample) -> list[int]:
    return [int(text) for texts in row.gold_texts for text in texts]


# So many rows name the first and the last of their options, too.
MANY = 20


def _is_doubtful(usual: str, whole: Mapping[str, Sequence[list[int] | None]]) -> bool:
    """Whether another count than the usual one fits a long file, too."""
    return usual in COUNTS and whole.keys() >= COUNTS and len(whole[usual]) >= MANY


def _ask(row: ReadExample, readings: Mapping[str, list[int] | None]) -> NoReturn:
    """Ask with what the first row in which they differ would say by each."""
    answer = " / ".join(text for texts in row.gold_texts for text in texts)
    in_words = [
        (
            "answer_by",
            name,
            f"“{' / '.join(row.options[number] for number in numbers or ())[:60]}”"
            + (f", {IN_WORDS[name]}" if IN_WORDS[name] else ""),
        )
        for name, numbers in readings.items()
    ]
    what = f"“answer” is “{answer[:60]}”, which may name two options."
    row.ask(what, *in_words)


def _alternatives(numbers: Sequence[int], *, as_set: bool) -> Alternatives:
    texts = [{"text": str(number)} for number in numbers]
    return [texts] if as_set else [[text] for text in texts]


def _numbers_of(row: ReadExample, number_of: Way) -> list[int] | None:
    numbers = [number_of(text, row.options) for texts in row.gold_texts for text in texts]
    known = [number for number in numbers if number is not None]
    return list(dict.fromkeys(known)) if len(known) == len(numbers) else None


def _refuse_unread(
    rows: Sequence[ReadExample], numbers_by: Mapping[str, list[list[int] | None]], is_table: bool
) -> NoReturn:
    """Refuse by the way that reads most: what it does not read is most likely the mistake."""

    def rank(numbers: list[list[int] | None]) -> tuple[int, int]:
        return numbers.count(None), -numbers.index(None)

    best = min(numbers_by.values(), key=rank)
    unread = [row for row, numbers in zip(rows, best, strict=True) if numbers is None]
    row, place = unread[0], best.index(None)
    answer = " / ".join(text for texts in row.gold_texts for text in texts)
    problem = (
        f"“answer” is “{answer[:60]}”, which is no {' and no '.join(numbers_by)} of its "
        f"{len(row.options)} options."
    )
    if fitting := [name for name, numbers in numbers_by.items() if numbers[place] is not None]:
        problem = (
            f"“answer” is “{answer[:60]}”, which names an option by its {fitting[0]}, but other "
            "rows name theirs otherwise: write them all in one way."
        )
    _refuse(unread, problem, rows, is_table)


def _refuse(
    bad: Sequence[ReadExample], problem: str, rows: Sequence[ReadExample], is_table: bool
) -> NoReturn:
    """A few rows of a table can be left out; an answer that is the same in several of them may say
    that there is none."""
    row, more = bad[0], len(bad) - 1
    problem += f" (And {counted(more, 'more row')}.)" if more else ""
    if not is_table or 2 * len(bad) > len(rows):
        raise BadInput(f"{row.where}: {problem}")
    ids = [row.named for row in bad]
    golds = {text for row in bad for texts in row.gold_texts for text in texts}
    says_none = [("missing", [*golds], "it says that there is no answer")]
    readings = [("leave_out", ids, f"leave {'these rows' if more else 'the row'} out")]
    raise Ambiguous(
        row.where, problem, *readings, *(says_none * (more > 0 and len(golds) == 1)), row=row.shown
    )
