"""Tables of questions, as today's benchmarks are published: CSV, TSV, JSON, JSON lines or Parquet,
and the rows that lm-eval, HELM and Inspect log. Their columns are found by their usual names, or
named in the task's file, and come out as rows in the fields of CLUES."""

import csv
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from io import BytesIO, StringIO
from itertools import islice
from typing import Any

from annotation.benchmarks.archives import MOST_BYTES
from annotation.benchmarks.formats.content import (
    CANARY,
    Record,
    check_storable,
    read_json,
    read_records,
)
from annotation.kinds.replies import as_python
from annotation.models.errors import BadInput

Fields = dict[str, Any]
# As they are named in the files of the field, without regard to case and signs; the first counts.
USUAL: Mapping[str, Sequence[str]] = {
    "id": ("id", "questionid", "exampleid", "qid", "uid", "guid", "idx", "docid"),
    "question": ("question", "query", "problem", "prompt", "input", "goal", "hypothesis", "stem"),
    "context": (
        *("context", "passage", "paragraph", "article", "story", "document", "premise", "text"),
        "sentence",
    ),
    "options": ("choices", "options", "endings"),
    "answer": ("answer", "answerkey", "answers", "label", "gold", "target", "correctoption"),
    "groups": ("subject", "category", "topic", "difficulty", "level", "language", "errortype"),
    "proposed": ("correctanswer",),
    "entities": ("entities",),
    "images": ("image", "images", "imagepath", "imagefile", "picture", "figure"),
    "image_text": ("imagetext", "imagedescription", "alttext", "alt"),
}
# What may stand in several columns.
SEVERAL = ("options", "groups", "images")
# One column for each option: A, B, C; choice_1, choice_2; sol1, sol2.
OPTION = re.compile(r"(?:option|choice|ending|sol|opt|answer)?([a-z]|\d)")
# GPQA names the right one and the others.
RIGHT, WRONG = "correctanswer", "incorrectanswer"
MARK = "#### "
FIRST = 3
LONGEST_LIST = 1_000_000
# What holds the rows of a file that is one object.
LISTS = ("samples", "instances", "request_states", "data", "examples", "questions", "rows")


class TableReader:
    def __init__(self, named: Mapping[str, Any], *, as_set: bool = False) -> None:
        self._as_set = as_set
        # From a field to its column, or columns; where the task's file says so.
        self._named = named
        # Number, where a mark stands before the gold.
        self.kind = ""
        self.found: list[str] = []
        self.unused: list[str] = []

    def read(self, data: bytes, file: str) -> Iterator[Record]:
        raw = list(read_table(data, file))
        names = list(dict.fromkeys(name for record in raw for name in record.fields))
        columns = self._columns(names, file)
        self.found = [f"{field}: {', '.join(as_list(names))}" for field, names in columns.items()]
        used = {name for given in columns.values() for name in as_list(given)}
        unused = [name for name in names if name not in used and not CANARY.fullmatch(name)]
        self.unused += [name for name in unused if name not in self.unused]
        for number, record in enumerate(raw, start=1):
            record.check_unused(name for name in unused if name in record.fields)
            yield self._in_fields(record, columns, number)

    def _columns(self, names: Sequence[str], file: str) -> Fields:
        for field, given in self._named.items():
            if absent := [name for name in as_list(given) if name not in names]:
                raise BadInput(
                    f"{file}: there is no column “{absent[0]}” for the {field}; there are "
                    f"{', '.join(names)}."
                )
        every = {**usual_columns(names), **self._named}
        columns = {field: given for field, given in every.items() if given}
        has_question = bool({"question", "context"} & columns.keys())
        if not has_question or "answer" not in columns:
            lacking = "answer" if has_question else "question"
            there = f"there are {', '.join(names)}" if names else "there is no row"
            raise BadInput(
                f"{file}: no column is the {lacking}; {there}. Name it in the "
                f'task\'s file: "columns": {{"{lacking}": "…"}}.'
            )
        return columns

    def _in_fields(self, record: Record, columns: Fields, number: int) -> Record:
        cells = record.fields

        def cell(field: str) -> Any:
            given = columns.get(field)
            if isinstance(given, list):
                return [cells[name] for name in given if cells.get(name) not in (None, "")]
            return None if given is None else cells.get(given)

        question, context = cell("question"), cell("context")
        fields: Fields = {
            "id": number if cell("id") is None else cell("id"),
            # A question without a text is the text.
            "context": _text(question) if context in (None, "", []) else _texts(context),
            "question": "" if context in (None, "", []) else _text(question),
            "groups": {name: _text(cells.get(name)) for name in as_list(columns.get("groups"))},
            "proposed": str(_text(cell("proposed"))),
        }
        if record.canary:
            fields["canary"] = record.canary
        for field in ("entities", "images", "image_text"):
            if cell(field) is not None:
                fields[field] = cell(field)
        options, answer = cell("options"), cell("answer")
        if self._as_set and answer is not None:
            answer = _set_of(record, answer)
        elif answer in (None, "", []):
            record.refuse("there is no answer.")
        if options not in (None, "", []):
            fields["choices"], fields["answer"] = _own(record, options, answer)
        else:
            fields["answer"] = self._gold(answer, is_of_text="context" in columns)
        return Record(record.file, record.line, fields, record.unit)

    def _gold(self, answer: Any, *, is_of_text: bool) -> list[Any]:
        """A list holds the pieces of a text, or where there is none several ways to write one
        answer."""
        if isinstance(answer, dict) and isinstance(answer.get("text"), list):
            starts = answer.get("answer_start") or [None] * len(answer["text"])
            pairs = zip(answer["text"], starts, strict=False)
            return [{"text": text, "answer_start": start} for text, start in pairs]
        if isinstance(answer, list):
            texts = [_text(one) for one in answer]
            return texts if is_of_text or self._as_set else [{"text": text} for text in texts]
        _, mark, gold = str(_text(answer)).rpartition(MARK)
        if mark and "\n" not in gold.strip():
            self.kind = "number"
            return [gold.strip()]
        return [_text(answer)]


def usual_columns(names: Sequence[str]) -> Fields:
    by_key = {_key(name): name for name in reversed(names)}
    columns: Fields = {}
    for field, usual in USUAL.items():
        present = [by_key[key] for key in usual if key in by_key]
        if present:
            columns[field] = present if field == "groups" else present[0]
    wrong = [by_key[key] for key in sorted(by_key) if re.fullmatch(rf"{WRONG}\d", key)]
    if wrong and RIGHT in by_key:
        del columns["proposed"]
        return {**columns, "options": [by_key[RIGHT], *wrong], "answer": by_key[RIGHT]}
    images = [by_key[key] for key in sorted(by_key) if re.fullmatch(r"image\d", key)]
    if images and "images" not in columns:
        columns["images"] = images
    if "options" not in columns and (own := _option_columns(by_key)):
        columns["options"] = own
    return columns


def _option_columns(by_key: Mapping[str, str]) -> list[str]:
    """Those that count on from a, 0 or 1."""
    counted: dict[str, dict[str, str]] = {}
    for key, name in by_key.items():
        if match := OPTION.fullmatch(key):
            counted.setdefault(key[: -len(match[1])], {})[match[1]] = name
    for signs in (string.ascii_lowercase, string.digits, string.digits[1:]):
        for places in counted.values():
            given = [places[sign] for sign in signs if sign in places]
            if len(given) > 1 and all(sign in places for sign in signs[: len(given)]):
                return given
    return []


def _own(record: Record, options: Any, answer: Any) -> tuple[list[Any], Any]:
    """The options of a row, and which of them is right, as it is written."""
    if isinstance(options, dict) and {"text", "label"} <= options.keys():
        labels = [str(label) for label in options["label"]]
        right = labels.index(str(answer)) if str(answer) in labels else answer
        return list(options["text"]), right
    if isinstance(options, str):
        options = python_list(record, options)
    return options, answer if isinstance(answer, list) else _text(answer)


def _set_of(record: Record, answer: Any) -> list[Any]:
    """A list, or the labels in a cell, which | or ; or , divides."""
    if isinstance(answer, list):
        return answer
    text = str(_text(answer)).strip()
    if text.startswith("["):
        return python_list(record, text, "the answer")
    sign = next((sign for sign in "|;," if sign in text), None)
    return [part.strip() for part in text.split(sign)] if text else []


def python_list(record: Record, text: str, what: str = "the options") -> list[Any]:
    """A list as Python writes it, which JSON's is too if it holds texts and numbers alone."""
    read = as_python(text.strip()) if len(text) <= LONGEST_LIST else None
    if not isinstance(read, list) or not all(type(one) in (str, int, float) for one in read):
        record.refuse(f"{what} must be a list of texts or numbers, but they are {text[:60]}.")
    return read


def first_rows(data: bytes, file: str, encoding: str) -> list[Fields]:
    """Of a table that is looked at before it is imported."""
    records = list(islice(read_table(as_utf8(data, file, encoding), file), FIRST))
    for record in records:
        check_storable(record.fields, record.where)
    return [record.fields for record in records]


def read_table(data: bytes, file: str) -> Iterator[Record]:
    ending = "." + file.lower().rpartition(".")[2]
    return READERS[ending](data, file)


def _lines(data: bytes, file: str) -> Iterator[Record]:
    last: Any = None
    for record in read_records(data, file):
        fields = _unwrapped(record.fields)
        # One row for every way in which lm-eval reads a reply.
        if "doc_id" in record.fields and record.fields["doc_id"] == last:
            continue
        last = record.fields.get("doc_id")
        yield Record(file, record.line, fields)


def _objects(data: bytes, file: str) -> Iterator[Record]:
    read = read_json(data, file)
    head = {}
    if isinstance(read, dict):
        head = {name: text for name, text in read.items() if CANARY.fullmatch(name)}
        lists = [read[name] for name in LISTS if isinstance(read.get(name), list)]
        read = lists[0] if lists else [read]
    if not isinstance(read, list) or not read:
        raise BadInput(f"{file}: a JSON file of questions is a list of objects.")
    for number, row in enumerate(read, start=1):
        if not isinstance(row, dict):
            raise BadInput(f"{file}, row {number}: each row must be an object.")
        fields = row["instance"] if isinstance(row.get("instance"), dict) else row
        # HELM lists the examples for prompts too.
        if fields.get("split") != "train" or "references" not in fields:
            yield Record(file, number, {**head, **_unwrapped(fields)}, "row")


def _unwrapped(row: Fields) -> Fields:
    """A row of a log as the question that it was asked about."""
    if isinstance(row.get("doc"), dict):
        return {"id": row.get("doc_id"), **row["doc"]}
    if isinstance(row.get("references"), list):
        given = row.get("input")
        question = given.get("text") if isinstance(given, dict) else given
        texts = [one.get("output", {}).get("text") for one in row["references"]]
        right = [n for n, one in enumerate(row["references"]) if "correct" in one.get("tags", ())]
        own = {"choices": texts, "answer": right}
        aliases = {"answer": [texts[number] for number in right]}
        is_choice = len(right) < len(texts)
        return {"id": row.get("id"), "question": question, **(own if is_choice else aliases)}
    if "target" in row and isinstance(row.get("input"), list):
        asked = [one.get("content") for one in row["input"] if one.get("role") == "user"]
        row = {**row, "input": asked[-1] if asked else ""}
    if "target" in row and "input" in row:
        kept = {"id": row.get("id"), "question": row["input"], "answer": row["target"]}
        return {**kept, "choices": row["choices"]} if row.get("choices") else kept
    return row


def _separated(data: bytes, file: str) -> Iterator[Record]:
    text = decoded(data, file, "utf-8-sig")
    head, _, rest = text.partition("\n")
    aside = {}
    # As our own tables have it, above the names.
    if head.startswith("#") and "canary" in head.lower():
        aside = {"canary": head.strip("# \r")}
        text, head = f"\n{rest}", rest.partition("\n")[0]
    sign = "\t" if file.lower().endswith(".tsv") else max(",;\t", key=head.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=sign, strict=True)
    csv.field_size_limit(LONGEST_LIST)
    names: list[str] = []
    start = 1
    try:
        for cells in reader:
            where, start = start, reader.line_num + 1
            if not any(cells):
                continue
            if not names:
                names = _headless(cells) or [cell.strip() for cell in cells]
                if names != [cell.strip() for cell in cells]:
                    yield Record(file, where, {**dict(zip(names, cells, strict=True)), **aside})
                elif len(set(names)) < len(names):
                    raise BadInput(f"{file}, line 1: two columns have one name.")
                continue
            if [cell.strip() for cell in cells] == names:
                raise BadInput(f"{file}, line {where}: the line of names stands here once more.")
            if len(cells) != len(names):
                raise BadInput(
                    f"{file}, line {where}: this row has {len(cells)} cells, the first has "
                    f"{len(names)}."
                )
            yield Record(file, where, {**dict(zip(names, cells, strict=True)), **aside})
    except csv.Error as error:
        raise BadInput(f"{file}, line {start}: this is not CSV ({error}).") from error
    if not names:
        raise BadInput(f"{file} is empty: it needs a line of names and a row a question.")


def _headless(cells: Sequence[str]) -> list[str]:
    """The names of MMLU's columns, which its own files lack: question, options, letter."""
    letters = string.ascii_uppercase[: len(cells) - 2]
    if not 2 <= len(cells) - 2 == len(letters) or cells[-1] not in [*letters]:
        return []
    return ["question", *letters, "answer"]


def _columnar(data: bytes, file: str) -> Iterator[Record]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise BadInput(
            f"{file}: Parquet needs a package more: pip install -r requirements-parquet.txt"
        ) from None
    try:
        opened = parquet.ParquetFile(BytesIO(data))
        groups = (opened.metadata.row_group(n) for n in range(opened.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MOST_BYTES:
            raise BadInput(f"{file} is larger than {MOST_BYTES // 1_000_000} MB unpacked.")
        rows = opened.read().to_pylist()
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        raise BadInput(f"{file} is no readable Parquet file.") from error
    for number, row in enumerate(rows, start=1):
        yield Record(file, number, _unwrapped(row), "row")


READERS: Mapping[str, Callable[[bytes, str], Iterator[Record]]] = {
    ".csv": _separated,
    ".tsv": _separated,
    ".json": _objects,
    ".jsonl": _lines,
    ".parquet": _columnar,
}


def as_utf8(data: bytes, file: str, encoding: str) -> bytes:
    """What is UTF-8 already stays so: a folder may hold both, and hardly any other text with more
    than ASCII reads as UTF-8."""
    is_text = not file.lower().endswith(".parquet")
    if encoding and is_text and _is_other(data):
        return decoded(data, file, encoding).encode(errors="replace")
    return data


def _is_other(data: bytes) -> bool:
    try:
        return data.decode().isascii()
    except UnicodeDecodeError:
        return True


def decoded(data: bytes, file: str, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{file}, line {line}: byte {error.start + 1} of the file is not "
            f"{encoding.removesuffix('-sig').upper()}; save it as UTF-8, or name the encoding "
            "that it has, such as mac_roman."
        ) from error
    except (LookupError, UnicodeError) as error:
        raise BadInput(f"There is no encoding {encoding!r}; one is mac_roman.") from error


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def as_list(given: Any) -> list[str]:
    return given if isinstance(given, list) else [given] if given else []


def _text(value: Any) -> Any:
    """Numbers and truth values as they are written; a list or object as it is, to be refused."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value) if isinstance(value, int | float) else value


def _texts(value: Any) -> Any:
    return [_text(one) for one in value] if isinstance(value, list) else _text(value)
