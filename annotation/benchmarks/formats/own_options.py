"""Options of each example (`choices` or `options` of its row), and which of them its answer names:
by its index from 0, its letter or its text. The gold of such an example is its option's number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from annotation.benchmarks.formats.content import Alternatives, ReadExample, Record, json_type
from annotation.kinds.choice import FEWEST, MOST, letter_of
from annotation.models.errors import BadInput
from scoring.core.normalisation import in_one_form

FIELDS = ("choices", "options")

# What an answer as written names; None where it is no such name of an option.
Way = Callable[[str, Sequence[str]], int | None]


def read_options(record: Record) -> tuple[str, ...]:
    given = [name for name in FIELDS if record.fields.get(name) is not None]
    if not given:
        return ()
    name = given[0]
    value = record.fields[name]
    if not isinstance(value, list):
        record.refuse(f"“{name}” must be a list of texts, but it is {json_type(value)}.")
    if not FEWEST <= len(value) <= MOST:
        record.refuse(f"“{name}” must hold {FEWEST} to {MOST} options, but it holds {len(value)}.")
    options = tuple(record.as_text(_plain(text), f"each of “{name}”").strip() for text in value)
    if "" in options:
        record.refuse(f"“{name}” holds an empty option.")
    return options


def _plain(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def read_answer(record: Record, *, may_be_empty: bool = False) -> list[str]:
    """What it names, as it is written."""
    answer = record.field("answer")
    named = answer if isinstance(answer, list) else [answer]
    if not named and not may_be_empty:
        record.refuse("“answer” names none of its options.")
    return [record.as_text(_plain(one), "“answer”").strip() for one in named]


def _by_index(answer: str, options: Sequence[str]) -> int | None:
    is_index = answer.isascii() and answer.isdigit() and len(answer) <= 2
    return int(answer) if is_index and int(answer) < len(options) else None


def _by_letter(answer: str, options: Sequence[str]) -> int | None:
    letters = [letter_of(number) for number in range(len(options))]
    return letters.index(answer.upper()) if answer.upper() in letters else None


def _by_text(answer: str, options: Sequence[str]) -> int | None:
    wanted, offered = in_one_form(answer), map(in_one_form, options)
    places = [number for number, option in enumerate(offered) if option == wanted]
    return places[0] if len(places) == 1 else None


WAYS: Mapping[str, Way] = {"index": _by_index, "letter": _by_letter, "text": _by_text}


def with_numbers(
    rows: Sequence[ReadExample], named: str = "", *, as_set: bool = False
) -> list[ReadExample]:
    """The rows with the numbers of their options for gold, read in the one way that fits them all,
    or by `named`; several are one set, or alternatives. Raises BadInput where none does, or where
    two would read something else."""
    for row in rows:
        if not row.options:
            raise BadInput(f"{row.where}: the other rows have options of their own, this has none.")
    ways = {named: WAYS[named]} if named else WAYS
    found = {name: [_numbers_of(row, way) for row in rows] for name, way in ways.items()}
    whole = {name: numbers for name, numbers in found.items() if None not in numbers}
    if not whole:
        _refuse_first(rows, found)
    first, *others = whole.values()
    for row, *readings in zip(rows, first, *others, strict=True):
        if any(numbers != readings[0] for numbers in readings):
            raise BadInput(
                f"{row.where}: “answer” is one option by its {' and another by its '.join(whole)}; "
                "name the right way as “answer_by” in the task's file."
            )
    return [
        replace(row, alternatives=_alternatives(numbers or [], as_set=as_set))
        for row, numbers in zip(rows, first, strict=True)
    ]


def _alternatives(numbers: Sequence[int], *, as_set: bool) -> Alternatives:
    texts = [{"text": str(number)} for number in numbers]
    return [texts] if as_set else [[text] for text in texts]


def _numbers_of(row: ReadExample, way: Way) -> list[int] | None:
    numbers = [way(text, row.options) for texts in row.gold_texts for text in texts]
    known = [number for number in numbers if number is not None]
    return list(dict.fromkeys(known)) if len(known) == len(numbers) else None


def _refuse_first(rows: Sequence[ReadExample], found: Mapping[str, list[list[int] | None]]) -> None:
    """By the way that gets furthest: what stops it is most likely the mistake."""
    place = max(numbers.index(None) for numbers in found.values())
    row = rows[place]
    answer = " / ".join(text for texts in row.gold_texts for text in texts)
    if fitting := [name for name, numbers in found.items() if numbers[place] is not None]:
        raise BadInput(
            f"{row.where}: “answer” is “{answer[:60]}”, which names an option by its {fitting[0]}, "
            "but other rows name theirs otherwise: write them all in one way."
        )
    raise BadInput(
        f"{row.where}: “answer” is “{answer[:60]}”, which is no {' and no '.join(found)} of its "
        f"{len(row.options)} options."
    )
