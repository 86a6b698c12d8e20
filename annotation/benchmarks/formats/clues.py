"""The layout of CLUES: one folder per task, with a test file and numbered shot files.

<Folder>/<stem>_test.jsonl
<Folder>/<stem>_train_<shots>_<split>.jsonl
<Folder>/task.json                            (optional)
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from django.utils.text import slugify

from annotation.benchmarks.archives import Files
from annotation.benchmarks.formats import own_options, samples
from annotation.benchmarks.formats.content import (
    LONGEST_ID,
    Alternatives,
    ReadExample,
    ReadSet,
    ReadTask,
    Record,
    Span,
    json_type,
    read_records,
)
from annotation.kinds import answer_kind, answer_kinds
from annotation.models import Kind, Normalisation, ReferencePolicy, Role
from annotation.models.benchmark import Direction
from annotation.models.errors import BadInput
from annotation.models.texts import is_text
from scoring.core.normalisation import TOLERANCE

# Where a folder's slug is not the name used in the literature.
SLUGS = {"sst-2": "sst2", "conll2003": "conll03", "wikiann_en": "wikiann", "squad-v2": "squadv2"}
# What a task's own files do not say, or say wrongly. The tasks of CLUES are described by files of
# the same form that come with the project.
TASK_FILE = "task.json"
TEST_FILE = re.compile(r".*_test\.jsonl")
SHOT_FILE = re.compile(r".*_train_(\d{1,6})_(\d{1,6})\.jsonl")

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class TaskFolder:
    name: str
    slug: str
    # From the name within the folder to the name that reads it.
    files: Mapping[str, str]


class RowReader:
    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = defaultdict(list)
        # Whether an answer is a list of alternatives, not of the pieces of one.
        self.lists_alternatives = False

    def read(self, record: Record, role: str) -> ReadExample:
        context = _read_context(record)
        if not all(segment.strip() for segment in context):
            self.notes["empty_context"].append(record.where)
        options = own_options.read_options(record)
        return ReadExample(
            where=record.where,
            role=role,
            source_id=_read_id(record),
            context=context,
            question=record.text("question"),
            candidates=_read_candidates(record, context),
            alternatives=self._read_answer(record, context, options),
            options=options,
        )

    def _read_answer(
        self, record: Record, context: Sequence[str], options: Sequence[str]
    ) -> Alternatives:
        if options:
            return [[{"text": text}] for text in own_options.read_answer(record)]
        answer = record.field("answer")
        if not isinstance(answer, list):
            record.refuse(f"“answer” must be a list, but it is {json_type(answer)}.")
        if any(isinstance(entry, dict) for entry in answer):
            self.lists_alternatives = True
            return _each_once([[self._read_entry(record, entry, context)] for entry in answer])
        return _each_once([[{"text": record.as_text(text, "each answer")} for text in answer]])

    def _read_entry(self, record: Record, entry: object, context: Sequence[str]) -> Span:
        if not isinstance(entry, dict) or "text" not in entry:
            record.refuse(
                "the entries of “answer” must all be strings, or all objects with a text."
            )
        text = record.as_text(entry["text"], "the text of an answer")
        start = entry.get("answer_start")
        if start is None:
            return {"text": text}
        if type(start) is not int:
            record.refuse("“answer_start” must be a whole number.")
        if start < 0 or not context[0].startswith(text, start):
            self.notes["start_does_not_fit"].append(f"{record.where}: “{text}” at {start}")
            return {"text": text}
        return {"text": text, "segment": 0, "start": start}


def _read_context(record: Record) -> tuple[str, ...]:
    context = record.field("context")
    if isinstance(context, list) and context:
        return tuple(record.as_text(segment, "each part of “context”") for segment in context)
    if not isinstance(context, str):
        record.refuse("“context” must be a string or a list of strings.")
    return (record.text("context"),)


def _read_id(record: Record) -> str:
    value = record.field("id")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        record.refuse(f"“id” must be a string or a number, but it is {json_type(value)}.")
    text = record.as_text(str(value), "“id”")
    if not text or len(text) > LONGEST_ID:
        record.refuse(f"“id” must have 1 to {LONGEST_ID} characters.")
    return text


def _read_candidates(record: Record, context: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    entities = record.fields.get("entities")
    if entities is None:
        return ()
    if not isinstance(entities, list):
        record.refuse(f"“entities” must be a list, but it is {json_type(entities)}.")
    if entities and len(context) > 1:
        record.refuse("“entities” need a context of one string, since they name no part of it.")
    return tuple(_read_entity(record, entity, context[0]) for entity in entities)


def _read_entity(record: Record, entity: object, text: str) -> tuple[int, int, int]:
    ends = entity if isinstance(entity, dict) else {}
    start, last = ends.get("start"), ends.get("end")
    if type(start) is not int or type(last) is not int:
        record.refuse("each of the “entities” must be an object with the numbers start and end.")
    if not 0 <= start <= last < len(text):
        record.refuse(
            f"the entity from {start} to {last} does not lie in the context "
            f"of {len(text)} characters."
        )
    # The file's ends are inclusive.
    return (0, start, last + 1)


def _each_once(alternatives: Alternatives) -> Alternatives:
    """Each alternative once, each of its texts once, without empty texts; no alternatives make one
    empty one."""
    kept: dict[frozenset[str], list[Span]] = {}
    for spans in alternatives:
        by_text: dict[str, Span] = {}
        for span in spans:
            by_text.setdefault(span["text"], span)
        by_text.pop("", None)
        kept.setdefault(frozenset(by_text), list(by_text.values()))
    return list(kept.values()) or [[]]


def read_benchmark(
    files: Files, only: Collection[str] | None, progress: Progress
) -> tuple[list[ReadTask], list[str]]:
    """Every task of a folder or archive, or `only` these slugs, and the names of files that the
    layout does not know. Raises BadInput."""
    folders, ignored = find_folders(files.names)
    slugs = [folder.slug for folder in folders]
    for slug in only or ():
        if slug not in slugs:
            raise BadInput(f"There is no task “{slug}” here; there are {', '.join(slugs)}.")
    wanted = [folder for folder in folders if not only or folder.slug in only]
    tasks = []
    for number, folder in enumerate(wanted):
        progress(number, len(wanted), f"Reading {folder.name}")
        tasks.append(read_task(folder, files))
    return tasks, ignored


def find_folders(names: Sequence[str]) -> tuple[list[TaskFolder], list[str]]:
    paths = _paths(names)
    grouped: dict[str, dict[str, str]] = defaultdict(dict)
    ignored = []
    for name, parts in paths.items():
        is_read = any(pattern.fullmatch(parts[-1]) for pattern in (TEST_FILE, SHOT_FILE))
        if len(parts) == 2 and (is_read or parts[1] == TASK_FILE):
            grouped[parts[0]][parts[1]] = name
        else:
            ignored.append(name)
    if not grouped:
        raise BadInput(
            "There is no folder here with a file that ends in _test.jsonl; "
            "name the folder that holds the folders of the tasks."
        )
    return _distinct(TaskFolder(name, _slug(name), grouped[name]) for name in grouped), ignored


def read_task(folder: TaskFolder, files: Files) -> ReadTask:
    reader = RowReader()
    own: Fields = {}
    if name := folder.files.get(TASK_FILE):
        own = read_task_file(files.read(name), name)
    sets = [_read_set(files, reader, *set_file) for set_file in _set_files(folder)]
    rows = [row for read_set in sets for row in read_set.examples]
    answer_by = own.pop("answer_by", "")
    has_own = any(row.options for row in rows)
    if has_own:
        sets, rows = _with_numbers(sets, rows, answer_by)
    kind = own.get("kind") or derive_kind(rows)
    derived = _derived(rows, kind, folder, reader.lists_alternatives)
    for row in rows:
        if problem := answer_kind(kind).problem_of_row(row):
            raise BadInput(f"{row.where}: the task's kind is {kind}, so {problem}.")
    _check_normalisation(folder, own, kind)
    if tolerance := own.pop("tolerance", ""):
        if not answer_kind(kind).takes_tolerance:
            raise BadInput(f"{folder.files[TASK_FILE]}: only numbers have a “tolerance”.")
        own["normalisation"] = answer_kind(kind).normalisations[0] + TOLERANCE + tolerance
    choices = own.pop("choices", labels_of(rows))
    if answer_kind(kind).takes_labels and not has_own:
        sets = [replace(read_set, choices=choices) for read_set in sets]
    _note_differing_gold(rows, reader.notes)
    # The project's own words for a task that it knows, if this is the task they describe.
    shipped = shipped_description(folder.slug)
    defaults = {**derived, **(shipped if shipped.get("kind", kind) == kind else {})}
    contexts = [row.context for row in rows]
    if problem := samples.problem_of_sample(own.get("sample", {}), kind, choices, contexts):
        raise BadInput(f"{folder.files[TASK_FILE]}: the sample cannot be used: {problem}.")
    if samples.problem_of_sample(defaults.get("sample", {}), kind, choices, contexts):
        defaults["sample"] = {"asks": defaults["sample"].get("asks", "")}
    sets = [_once_each(read_set, reader.notes) for read_set in sets]
    return ReadTask(folder.slug, own, defaults, sets, dict(reader.notes))


def _with_numbers(
    sets: Sequence[ReadSet], rows: Sequence[ReadExample], answer_by: str
) -> tuple[list[ReadSet], list[ReadExample]]:
    """The gold of rows with options of their own, by number: in one way for the whole task."""
    numbered = own_options.with_numbers(rows, answer_by)
    of_sets = iter(numbered)
    sets = [replace(one, examples=list(islice(of_sets, len(one.examples)))) for one in sets]
    return sets, numbered


def derive_kind(rows: Sequence[ReadExample]) -> str:
    return next(kind.name for kind in answer_kinds() if kind.fits(rows))


def labels_of(rows: Iterable[ReadExample]) -> list[str]:
    """The labels that the gold names; the question's wording may name others."""
    return sorted({text for row in rows for spans in row.gold_texts for text in spans})


def _paths(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts of the names that count, without the one folder that holds all others."""
    paths = {
        name: parts
        for name in names
        for parts in [PurePosixPath(name).parts]
        if (name.endswith(".jsonl") or parts[-1] == TASK_FILE)
        and not any(part.startswith((".", "__MACOSX")) for part in parts)
    }
    tops = {parts[0] for parts in paths.values()}
    if len(tops) == 1 and all(len(parts) == 3 for parts in paths.values()):
        return {name: parts[1:] for name, parts in paths.items()}
    return paths


def _slug(folder: str) -> str:
    slug = slugify(folder)[:80]
    if not slug:
        raise BadInput(f"{folder}: name the folder with letters from a to z or digits.")
    return SLUGS.get(slug, slug)


def _distinct(folders: Iterable[TaskFolder]) -> list[TaskFolder]:
    by_slug: dict[str, TaskFolder] = {}
    for folder in folders:
        other = by_slug.setdefault(folder.slug, folder)
        if other is not folder:
            raise BadInput(
                f"The folders {other.name} and {folder.name} are both the task {folder.slug}; "
                "rename one of them."
            )
    return list(by_slug.values())


def _set_files(folder: TaskFolder) -> list[tuple[str, int | None, int | None]]:
    """Each file with its shots and split; a test file, the last, has neither."""
    names = sorted(folder.files)
    tests = [folder.files[name] for name in names if TEST_FILE.fullmatch(name)]
    if len(tests) != 1:
        raise BadInput(
            f"{folder.name}: one file must end in _test.jsonl, "
            f"but there {'are ' + ' and '.join(tests) if tests else 'is none'}."
        )
    shot_files: dict[tuple[int, int], str] = {}
    for name in names:
        if numbers := SHOT_FILE.fullmatch(name):
            file = folder.files[name]
            other = shot_files.setdefault((int(numbers[1]), int(numbers[2])), file)
            if other != file:
                raise BadInput(f"{other} and {file} are the same split; keep one of them.")
    training = [(file, *numbers) for numbers, file in sorted(shot_files.items())]
    return [*training, (tests[0], None, None)]


def _read_set(
    files: Files, reader: RowReader, file: str, shots: int | None, split: int | None
) -> ReadSet:
    role = Role.TEST if shots is None else Role.TRAINING
    rows: dict[str, ReadExample] = {}
    for record in read_records(files.read(file), file):
        row = reader.read(record, role)
        if first := rows.get(row.source_id):
            record.refuse(f"the id “{row.source_id}” is taken already, in {first.where}.")
        rows[row.source_id] = row
    examples = list(rows.values())
    if shots is not None:
        _check_size(examples, shots)
    name = "test" if shots is None else f"train-{shots}-{split}"
    return ReadSet(name, role, file, examples, shots=shots, split=split)


def _check_size(rows: Sequence[ReadExample], shots: int) -> None:
    """k rows, or k contexts (with every question asked of each)."""
    asked = Counter(row.question for row in rows)
    contexts = len({row.context for row in rows})
    # Two of the k contexts may be equal: each question is still asked k times.
    evenly = len(asked) > 1 and set(asked.values()) == {shots}
    if len(rows) != shots and contexts != shots and not evenly:
        raise BadInput(
            f"{rows[-1].where}: the file ends here with {len(rows)} rows of {contexts} contexts, "
            f"but its name says {shots} shots; it needs {shots} of either."
        )


def _derived(
    rows: Sequence[ReadExample], kind: str, folder: TaskFolder, lists_alternatives: bool
) -> dict[str, Any]:
    single = all(len(spans) <= 1 for row in rows for spans in row.alternatives)
    one_span = answer_kind(kind).takes_pieces and lists_alternatives and single
    return {
        "kind": kind,
        "max_spans": 1 if one_span else None,
        "name": folder.name[:80],
        "title": folder.name[:200],
    }


def _check_normalisation(folder: TaskFolder, own: dict[str, Any], kind: str) -> None:
    named, known = own.get("normalisation"), answer_kind(kind).normalisations
    if named and named not in known:
        raise BadInput(
            f"{folder.files[TASK_FILE]}: answers of the kind {kind} are compared with the "
            f"normalisation {' or '.join(known)}, not {named}; leave “normalisation” out."
        )


def _note_differing_gold(rows: Iterable[ReadExample], notes: dict[str, list[str]]) -> None:
    first: dict[str, ReadExample] = {}
    for row in rows:
        same = first.setdefault(row.identity, row)
        own, other = ({frozenset(texts) for texts in one.gold_texts} for one in (row, same))
        if own != other:
            notes["gold_differs"].append(f"{row.where}, against {same.where}")


def _once_each(read_set: ReadSet, notes: dict[str, list[str]]) -> ReadSet:
    """A person answers an example once, so a set cannot hold it twice."""
    first: dict[str, ReadExample] = {}
    for row in read_set.examples:
        if first.setdefault(row.identity, row) is not row:
            notes["repeated_in_set"].append(f"{row.where}: {row.context[0]}")
    return replace(read_set, examples=list(first.values()))


SHIPPED = Path(__file__).resolve().parent.parent / "descriptions"

Fields = dict[str, Any]
# A tolerance: absolute, or of the gold.
SHARE = re.compile(r"(?=.{1,20}$)(?:\d+|\d*\.\d+)%?")


def read_task_file(data: bytes, file: str) -> Fields:
    try:
        fields = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise BadInput(f"{file}, line {error.lineno}: this is not JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}, line 1: this is not JSON in UTF-8.") from error
    if not isinstance(fields, dict):
        raise BadInput(f"{file}, line 1: a task file is one JSON object.")
    for name, value in fields.items():
        if name not in FIELDS:
            raise BadInput(f"{file}: there is no field “{name}”; there are {', '.join(FIELDS)}.")
        is_good, wanted = FIELDS[name]
        if not is_good(value):
            raise BadInput(f"{file}: “{name}” must be {wanted}.")
    return fields


def shipped_description(slug: str) -> Fields:
    """What comes with the project for this task; empty for a task it does not know."""
    file = SHIPPED / f"{slug}.json"
    return read_task_file(file.read_bytes(), file.name) if file.is_file() else {}


def _is_text(most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, str) and bool(value.strip()) and len(value) <= most and is_text(value)
    )


def _is_one_of(values: list[str]) -> Callable[[object], bool]:
    return lambda value: value in values


def _either(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _is_label_list(value: object) -> bool:
    if not isinstance(value, list) or not all(
        isinstance(label, str) and is_text(label) for label in value
    ):
        return False
    return len(value) >= 2 and "" not in value and len(set(value)) == len(value)


FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "title": (_is_text(200), "a text of at most 200 characters"),
    "name": (_is_text(80), "a text of at most 80 characters"),
    "description": (_is_text(100_000), "a text"),
    "kind": (_is_one_of(Kind.values), _either(Kind.values)),
    "choices": (_is_label_list, "a list of two or more different labels"),
    "normalisation": (_is_one_of(Normalisation.values), _either(Normalisation.values)),
    "answer_by": (_is_one_of(list(own_options.WAYS)), _either(list(own_options.WAYS))),
    "tolerance": (
        lambda value: isinstance(value, str) and bool(SHARE.fullmatch(value)),
        "a text such as 0.01, or 1% of the gold",
    ),
    "max_spans": (
        lambda value: value is None or (type(value) is int and 1 <= value <= 1000),
        "a number from 1 to 1000, or null",
    ),
    "language": (_is_text(20), "a language code such as en"),
    "direction": (_is_one_of(Direction.values), "ltr or rtl"),
    "reference_policy": (_is_one_of(ReferencePolicy.values), "set or any"),
    "exposure_key": (_is_text(64), "a text of at most 64 characters"),
    "sample": (samples.is_sample, samples.WANTED),
}
