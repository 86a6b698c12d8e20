"""Tables of questions, as today's benchmarks are published. Their columns are found by what is
known of published sets, by their usual names, or as the task's file names them, and come out as
rows in the fields of CLUES. What can be read in two ways is asked, and nothing is left out unsaid.
"""

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.benchmarks.formats.cells import (
    ask_about_unused,
    boxed,
    holds_text,
    joined,
    labels_in,
    mixed,
    own_options,
    text_of,
    texts_of,
    turns,
)
from annotation.benchmarks.formats.content import (
    ASKS,
    CANARY,
    LONGEST_GROUP,
    NOT_TEXT,
    Ambiguous,
    Record,
)
from annotation.benchmarks.formats.files import Fields, is_hidden, read_table
from annotation.benchmarks.formats.known_sets import (
    ASIDE_FIELDS,
    NO_SET,
    PARTS,
    TRAINING_PARTS,
    USUAL,
    as_list,
    entries,
    is_aside,
    key,
    known_set,
    usual_columns,
    value_at,
)
from annotation.models.errors import BadInput
from annotation.models.texts import is_text

# One column for each option: A, B, C; choice_1, choice_2; sol1, sol2.
OPTION = re.compile(r"(?:option|choice|ending|sol|opt|answer)?([a-z]|\d)")
MARK = "#### "
# Of names of columns, and of all of them in a sentence.
LONGEST_NAME, LONGEST_NAMED = 60, 200
NOTHING: tuple[Any, ...] = (None, "", [], {})
# What a task's file says of its tables, and no field of a task holds.
SAID = (
    *("columns", "unused", "missing", "leave_out", "label_names", "answers", "answer_by", "parts"),
)
# A column that says which part of the set a row belongs to.
PART_COLUMNS = ("split", "partition", "subset", "set", "fold")


class Unlabelled(BadInput):
    """A file whose rows have no gold."""


class TableReader:
    def __init__(
        self,
        said: Mapping[str, Any],
        called: str,
        choices: Sequence[str] = (),
        *,
        as_set: bool = False,
        lax: bool = False,
    ) -> None:
        """said: of the fields in SAID, those of the task's file. called: the task's name. choices:
        its labels, if it names them. as_set: whether several labels are one answer. lax: leave out
        what is not used, whatever it is."""
        self._said, self._called, self._as_set, self._lax = said, called, as_set, lax
        self._choices, self._names = choices, list[str]()
        self.known = NO_SET
        # Number, where a mark stands before the gold.
        self._kind = ""
        self.has_text, self.is_label = False, False
        self.found: list[str] = []
        self.unused: list[str] = []
        self.aside: list[str] = []
        # Rows by the reason, and the first of each.
        self.left_out: Counter[str] = Counter()
        self.first_left_out: dict[str, str] = {}

    @property
    def kind(self) -> str:
        return self.known.kind or self._kind

    @property
    def answer_by(self) -> str:
        return str(self._said.get("answer_by") or "")

    def read(self, data: bytes, file: str, encoding: str = "") -> Iterator[Record]:
        raw = list(read_table(data, file, encoding, self.left_out))
        whole: Fields = {}
        for record in raw:
            whole |= {n: v for n, v in record.fields.items() if whole.get(n) in NOTHING}
        self.known = known_set(whole, f"{file} {self._called}")
        rows = [
            Record(record.file, record.line, row, record.unit)
            for record in raw
            for row in entries(record.fields, self.known)
        ]
        names = list(dict.fromkeys(name for row in rows for name in row.fields))
        if not all(map(is_text, names)):
            raise BadInput(f"{file}, line 1: the name of a column holds {NOT_TEXT}.")
        columns = self._columns(names, rows, file)
        self._sort_out(names, columns, rows, file)
        if rows and not self._as_set and all(self._is_hidden(row, columns) for row in rows):
            raise Unlabelled(
                f"{file}: there are no answers in this file: “{as_list(columns['answer'])[0]}” is "
                f"{_written(value_at(rows[0].fields, as_list(columns['answer'])[0]))} in every row."
            )
        self._names = self._label_names(rows, columns, file)
        left_out = self._said.get("leave_out", ())
        named = (replace(row, named=_id(row, columns, n)) for n, row in enumerate(rows, start=1))
        for row in named:
            if row.named in left_out:
                self.left_out["that the task's file leaves out"] += 1
                continue
            if not self._as_set and self._is_hidden(row, columns):
                self._leave_out(row, columns)
                continue
            row.check_unused(name for name in self.unused if name in row.fields)
            yield self._in_fields(row, columns)

    def _columns(self, names: Sequence[str], rows: Sequence[Record], file: str) -> Fields:
        named = self._said.get("columns") or {}
        for field, given in named.items():
            if absent := [one for one in as_list(given) if one.partition(".")[0] not in names]:
                raise BadInput(
                    f"{file}: there is no column “{absent[0]}” for the {field}; there are "
                    f"{', '.join(names)}."
                )
        found = usual_columns(names)
        if self.known.name:
            found = {field: given for field, given in found.items() if field in ASIDE_FIELDS}
            found |= {
                field: given
                for field, given in self.known.columns.items()
                if all(one.partition(".")[0] in names for one in as_list(given))
            }
        elif "options" not in found and (own := _option_columns(names)):
            found["options"] = own
        if not self.known.name and "answer" not in named:
            found |= self._settled_answer(names, {**found, **named}, rows, file)
        columns = {field: given for field, given in {**found, **named}.items() if given}
        has_question = bool({"question", "context"} & columns.keys()) or bool(self.known.asks)
        if not has_question or "answer" not in columns:
            lacking = "answer" if has_question else "question"
            there = f"there are {', '.join(names)[:LONGEST_NAMED]}" if names else "there is no row"
            if any(len(name) > LONGEST_NAME or name.strip().isdigit() for name in names):
                there = "the first line looks like a row: write the columns' names above it"
            raise (Unlabelled if has_question else BadInput)(
                f"{file}: no column is the {lacking}; {there}. Name it in the "
                f'task\'s file: "columns": {{"{lacking}": "…"}}'
                f"{', unless there are no answers in this file.' if has_question else '.'}"
            )
        return columns

    def _settled_answer(
        self, names: Sequence[str], columns: Fields, rows: Sequence[Record], file: str
    ) -> Fields:
        """Which of several columns with the name of an answer holds it. Raises Ambiguous."""
        left = {*(self._said.get("unused") or ()), *as_list(columns.get("options"))}
        there = [
            name
            for usual in USUAL["answer"]
            for name in names
            if key(name) == usual
            and name not in left
            and any(row.fields.get(name) not in NOTHING for row in rows)
        ]
        if len(there) < 2:
            return {"answer": there[0]} if there else {}
        first = rows[0].fields
        lists = [name for name in there if isinstance(first.get(name), list)]
        others = [name for name in there if name not in lists]
        if lists and others and "options" not in columns:
            said = self._said.get("answers")
            if said == "options":
                return {"options": lists[0], "answer": others[0]}
            if said:
                return {"answer": lists[0]}
            raise Ambiguous(
                file,
                f"both “{lists[0]}” and “{others[0]}” may hold the answer.",
                (
                    *("answers", "options"),
                    f"“{lists[0]}” are the options, “{others[0]}” names the right one",
                ),
                (
                    *("answers", "alternatives"),
                    f"“{lists[0]}” hold the answer, “{others[0]}” is left out",
                ),
                row=first,
            )
        raise Ambiguous(
            file,
            f"both “{there[0]}” and “{there[1]}” may hold the answer.",
            ("columns", {"answer": there[0]}, f"“{there[0]}”"),
            (
                *("columns", {"answer": there[1], "context": there[0]}),
                f"“{there[1]}”, which judges “{there[0]}”",
            ),
            row=first,
        )

    def _sort_out(
        self, names: Sequence[str], columns: Fields, rows: Sequence[Record], file: str
    ) -> None:
        """Say which column is what; of the others, which are left out by a known rule. Raises
        BadInput for those that may be part of what is asked."""
        given = [one for of in columns.values() for one in as_list(of)]
        asked = re.findall(r"{([^}]*)}", self.known.asks)
        tops = {path.partition(".")[0] for path in (*given, *asked, *self.known.needs)}
        left = [
            name for name in names if not {name} & {*given, *tops} and not CANARY.fullmatch(name)
        ]
        told = {*(self._said.get("unused") or ())}
        aside = [name for name in left if name in told or is_aside(name, self.known)]
        others = [name for name in left if name not in aside]
        texts = [n for n in others if _is_text_column(n, rows) and not ASKS.fullmatch(n)]
        if texts and not self._lax:
            ask_about_unused(file, texts, rows[0].fields)
        self.found = [f"{field}: {', '.join(as_list(of))}" for field, of in columns.items()]
        self.unused += [name for name in others if name not in self.unused]
        self.aside += [name for name in aside if name not in self.aside]
        self.has_text = "context" in columns and columns["context"] != columns.get("question")
        self.is_label = key(str(columns["answer"])).startswith(("label", "class", "goldlabel"))

    def _is_hidden(self, row: Record, columns: Fields) -> bool:
        """An empty list of what is missing says that the usual signs for it are answers here."""
        missing = self._said.get("missing")
        values = [value_at(row.fields, path) for path in as_list(columns["answer"])]
        if missing == []:
            return all(one in NOTHING for one in values)
        return all(is_hidden(one, (*self.known.missing, *(missing or ()))) for one in values)

    def _leave_out(self, row: Record, columns: Fields) -> None:
        value = value_at(row.fields, as_list(columns["answer"])[0])
        text = "" if value in NOTHING else str(text_of(value))
        if text not in (*self.known.missing, *(self._said.get("missing") or ())):
            raise Ambiguous(
                row.where,
                f"there is no answer ({_written(value)}).",
                ("missing", [text], "leave such rows out"),
                *([("missing", [], "it is an answer like others")] if text else []),
                row=row.fields,
            )
        reason = f"without an answer ({_written(value)})"
        self.left_out[reason] += 1
        self.first_left_out.setdefault(reason, row.where)

    def _in_fields(self, record: Record, columns: Fields) -> Record:
        cells = record.fields

        def cell(field: str) -> Any:
            given = columns.get(field)
            if isinstance(given, list):
                values = [value_at(cells, path) for path in given]
                flat = [v for one in values for v in (one if isinstance(one, list) else [one])]
                return [value for value in flat if value not in NOTHING]
            return None if given is None else value_at(cells, given)

        question = cell("question")
        if self.known.asks:
            question = re.sub(
                r"{([^}]*)}", lambda m: str(text_of(value_at(cells, m[1]))), self.known.asks
            )
        context, question = turns(cell("context")), turns(question)
        # A question without a text is the text.
        is_alone = context in NOTHING
        fields: Fields = {
            "id": record.named,
            "context": texts_of(question if is_alone else context),
            "question": "" if is_alone else joined(question),
            "groups": self._groups(cells, columns),
            "proposed": str(text_of(cell("proposed"))),
        }
        if part := self._part(cells):
            fields["part"] = part
        if record.canary:
            fields["canary"] = record.canary
        for field in ("entities", "images", "image_text"):
            if cell(field) not in NOTHING:
                fields[field] = cell(field)
        fields |= self._gold(record, cell("options"), columns, cell("answer"))
        return replace(record, fields=fields)

    def _part(self, cells: Fields) -> str:
        """Where a column says it of each row."""
        for name, value in cells.items():
            if key(name) in PART_COLUMNS and isinstance(value, str) and key(value) in PARTS:
                return "train" if key(value) in TRAINING_PARTS else key(value)
        return ""

    def _groups(self, cells: Fields, columns: Fields) -> Fields:
        groups = {name: text_of(cells.get(name)) for name in as_list(columns.get("groups"))}
        none = [name for name, value in groups.items() if not _is_group(value)]
        told = [f"{name} (no group: a list, or longer than 100 characters)" for name in none]
        self.aside += [reason for reason in told if reason not in self.aside]
        return {name: value for name, value in groups.items() if name not in none}

    def _gold(self, record: Record, options: Any, columns: Fields, answer: Any) -> Fields:
        if options not in NOTHING:
            marks = answer if self.known.answer_by == "marks" else None
            texts, place = own_options(record, options, answer, marks=marks)
            if columns["answer"] in as_list(columns["options"])[:1] and place is None:
                # The right one stands first in every row: not so on people's pages.
                texts, place = mixed(texts)
            if place is not None:
                return {"choices": texts, "answer": place, "is_settled": True}
            named = labels_in(record, answer) if self._as_set else answer
            return {"choices": texts, "answer": texts_of(named)}
        if self._as_set:
            return {"answer": [self._named(record, one) for one in labels_in(record, answer)]}
        return {"answer": self._own_gold(record, answer)}

    def _label_names(self, rows: Sequence[Record], columns: Fields, file: str) -> list[str]:
        """What the numbers for gold stand for, if anything. Raises Ambiguous."""
        if named := self._said.get("label_names") or self.known.label_names:
            return list(named)
        path = as_list(columns["answer"])[0]
        numbers = {str(text_of(value_at(row.fields, path))).removesuffix(".0") for row in rows}
        if not self._choices or not all(one.isdecimal() for one in numbers):
            return []
        names = list(self._choices)
        if "0" in numbers or numbers & {*names}:
            return names
        first = text_of(value_at(rows[0].fields, path))
        raise Ambiguous(
            file,
            f"the answers are numbers and the labels names: the first is “{first}”.",
            ("label_names", names, "counted from 0"),
            ("label_names", ["(none)", *names], "counted from 1"),
            row=rows[0].fields,
        )

    def _own_gold(self, record: Record, answer: Any) -> list[Any]:
        """A list holds the pieces of a text, or several ways to write one answer."""
        if isinstance(answer, dict) and isinstance(answer.get("text"), list):
            starts = as_list(answer.get("answer_start")) + [None] * len(answer["text"])
            pairs = zip(answer["text"], starts, strict=False)
            return [{"text": text, "answer_start": start} for text, start in pairs]
        if isinstance(answer, list) and any(isinstance(one, dict) for one in answer):
            return [
                {name: one[name] for name in ("text", "answer_start") if name in one}
                for one in answer
                if isinstance(one, dict)
            ]
        if isinstance(answer, list):
            texts = [self._named(record, one) for one in answer]
            return texts if self._are_pieces(record, texts) else [{"text": one} for one in texts]
        text = str(text_of(answer))
        if self.known.marked:
            return [boxed(record, text)]
        _, mark, gold = text.rpartition(MARK)
        if mark and "\n" not in gold.strip():
            self._kind = "number"
            return [gold.strip()]
        return [self._named(record, answer)]

    def _are_pieces(self, record: Record, texts: Sequence[Any]) -> bool:
        said = self._said.get("answers") or self.known.pieces
        if said or not self.has_text or len(texts) < 2:
            return said == "set" or (not said and self.has_text)
        raise Ambiguous(
            record.where,
            f"the answer is a list ({', '.join(map(str, texts[:3]))}).",
            ("answers", "alternatives", "several ways to write one answer, any of which is right"),
            ("answers", "set", "one answer of several pieces, all of which are wanted"),
            row=record.fields,
        )

    def _named(self, record: Record, value: Any) -> Any:
        """The label that a number stands for, where they have names."""
        names = self._names
        text = str(text_of(value)).removesuffix(".0")
        number = {"false": "0", "true": "1"}.get(text.lower(), text) if len(names) == 2 else text
        if not names or text in names:
            return text_of(value)
        if not number.isdecimal() or int(number) >= len(names):
            record.refuse(
                f"the answer is “{text[:60]}”, but the labels are {', '.join(names)}: correct "
                '"label_names" in the task\'s file.'
            )
        return names[int(number)]


def _is_group(value: Any) -> bool:
    return not isinstance(value, list | dict) and len(str(value)) <= LONGEST_GROUP


def _id(row: Record, columns: Fields, number: int) -> str:
    value = value_at(row.fields, columns["id"]) if "id" in columns else None
    return str(number if value in NOTHING else value)


def _option_columns(names: Sequence[str]) -> list[str]:
    """Those that count on from a, 0 or 1."""
    counted: dict[str, dict[str, str]] = {}
    for name in names:
        if match := OPTION.fullmatch(key(name)):
            counted.setdefault(key(name)[: -len(match[1])], {})[match[1]] = name
    for signs in (string.ascii_lowercase, string.digits, string.digits[1:]):
        for places in counted.values():
            given = [places[sign] for sign in signs if sign in places]
            if len(given) > 1 and all(sign in places for sign in signs[: len(given)]):
                return given
    return []


def _is_text_column(name: str, rows: Sequence[Record]) -> bool:
    texts = sum(holds_text(row.fields.get(name)) for row in rows)
    return texts * 2 >= len(rows) > 0


def _written(value: Any) -> str:
    return "empty" if value in NOTHING else f"“{text_of(value)}”"
