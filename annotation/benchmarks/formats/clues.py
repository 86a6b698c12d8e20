"""The layout of CLUES: one folder per task, with a test file and numbered shot files.

<Folder>/<stem>_test.jsonl
<Folder>/<stem>_train_<shots>_<split>.jsonl
<Folder>/task.json                            (optional, see task_file.py)
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from django.utils.text import slugify

from annotation.benchmarks.archives import Files
from annotation.benchmarks.formats import task_file
from annotation.benchmarks.formats.clues_rows import RowReader
from annotation.benchmarks.formats.content import ReadExample, ReadSet, ReadTask
from annotation.benchmarks.formats.lines import read_records
from annotation.models import Kind, Role
from annotation.models.errors import BadInput

# Where a folder's slug is not the name used in the literature.
SLUGS = {"sst-2": "sst2", "conll2003": "conll03", "wikiann_en": "wikiann", "squad-v2": "squadv2"}
TEST_FILE = re.compile(r".*_test\.jsonl")
SHOT_FILE = re.compile(r".*_train_(\d{1,6})_(\d{1,6})\.jsonl")
# Gold strings are labels where there are few of them and the context rarely holds them.
MOST_LABELS = 20

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class ReadBenchmark:
    tasks: list[ReadTask]
    # Names of files that the layout does not know.
    ignored: list[str]


@dataclass(frozen=True)
class TaskFolder:
    name: str
    slug: str
    # From the name within the folder to the name that reads it.
    files: Mapping[str, str]


def read_benchmark(files: Files, only: Collection[str] | None, progress: Progress) -> ReadBenchmark:
    """Every task of a folder or archive, or `only` these slugs. Raises BadInput."""
    folders, ignored = find_folders(files.names)
    wanted = _wanted(folders, only)
    tasks = []
    for number, folder in enumerate(wanted):
        progress(number, len(wanted), f"Reading {folder.name}")
        tasks.append(read_task(folder, files))
    return ReadBenchmark(tasks, ignored)


def find_folders(names: Sequence[str]) -> tuple[list[TaskFolder], list[str]]:
    """The folders of tasks, and whatever lies beside their files."""
    paths = _without_top_folder({n: PurePosixPath(n).parts for n in names if _counts(n)})
    grouped: dict[str, dict[str, str]] = defaultdict(dict)
    ignored = []
    for name, parts in paths.items():
        if len(parts) == 2 and _is_known(parts[1]):
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
    """One folder: its task file, its shot files and its test file."""
    reader = RowReader()
    own = _own_fields(folder, files)
    sets = [_read_set(place, files, reader) for place in _places(folder)]
    rows = [row for read_set in sets for row in read_set.examples]
    derived = _derived(rows, folder, reader.lists_alternatives)
    kind = own.get("kind", derived["kind"])
    _check_answers(rows, kind)
    choices = own.pop("choices", labels_of(rows))
    if kind == Kind.CHOICE:
        sets = [replace(read_set, choices=choices) for read_set in sets]
    _note_differing_gold(rows, reader.notes)
    defaults = {**derived, **_shipped(folder.slug, kind)}
    sets = [_once_each(read_set, reader.notes) for read_set in sets]
    return ReadTask(folder.slug, own, defaults, sets, dict(reader.notes))


def derive_kind(rows: Sequence[ReadExample]) -> str:
    """What kind of answers the rows have, from their entities and their gold."""
    if any(row.candidates for row in rows):
        return Kind.CANDIDATE
    labels = [label for row in rows if (label := _label_of(row)) is not None]
    if len(labels) < len(rows) or len(set(labels)) > MOST_LABELS:
        return Kind.SPANS
    named = sum(_names(row.context, label) for row, label in zip(rows, labels, strict=True))
    return Kind.SPANS if 2 * named > len(rows) else Kind.CHOICE


def labels_of(rows: Iterable[ReadExample]) -> list[str]:
    """The labels that the gold names; the question's wording may name others."""
    return sorted({text for row in rows for spans in row.gold_texts for text in spans})


def _counts(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return not hidden and (name.endswith(".jsonl") or parts[-1] == task_file.NAME)


def _is_known(name: str) -> bool:
    return bool(name == task_file.NAME or TEST_FILE.fullmatch(name) or SHOT_FILE.fullmatch(name))


def _without_top_folder(paths: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
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


def _wanted(folders: list[TaskFolder], only: Collection[str] | None) -> list[TaskFolder]:
    slugs = [folder.slug for folder in folders]
    for slug in only or ():
        if slug not in slugs:
            raise BadInput(f"There is no task “{slug}” here; there are {', '.join(slugs)}.")
    return [folder for folder in folders if not only or folder.slug in only]


def _own_fields(folder: TaskFolder, files: Files) -> dict[str, Any]:
    name = folder.files.get(task_file.NAME)
    return task_file.read_task_file(files.read(name), name) if name else {}


def _shipped(slug: str, kind: str) -> dict[str, Any]:
    """The project's own words for a task that it knows, if this is the task they describe."""
    fields = task_file.shipped_description(slug)
    return fields if fields.get("kind", kind) == kind else {}


@dataclass(frozen=True)
class _Place:
    """A file, and which set it holds; a test file has neither shots nor split."""

    file: str
    shots: int | None = None
    split: int | None = None


def _places(folder: TaskFolder) -> list[_Place]:
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
    training = [_Place(file, *numbers) for numbers, file in sorted(shot_files.items())]
    return [*training, _Place(tests[0])]


def _read_set(place: _Place, files: Files, reader: RowReader) -> ReadSet:
    role = Role.TEST if place.shots is None else Role.TRAINING
    rows: dict[str, ReadExample] = {}
    for record in read_records(files.read(place.file), place.file):
        row = reader.read(record, role)
        if first := rows.get(row.source_id):
            record.refuse(f"the id “{row.source_id}” stands in {first.where} already.")
        rows[row.source_id] = row
    if place.shots is not None:
        _check_size(list(rows.values()), place.shots)
    return ReadSet(
        name="test" if place.shots is None else f"train-{place.shots}-{place.split}",
        role=role,
        file=place.file,
        examples=list(rows.values()),
        shots=place.shots,
        split=place.split,
    )


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
    rows: Sequence[ReadExample], folder: TaskFolder, lists_alternatives: bool
) -> dict[str, Any]:
    kind = derive_kind(rows)
    single = all(len(spans) <= 1 for row in rows for spans in row.alternatives)
    one_span = kind == Kind.SPANS and lists_alternatives and single
    return {"kind": kind, "max_spans": 1 if one_span else None, "title": folder.name[:200]}


def _names(context: Sequence[str], label: str) -> bool:
    """Whether the context holds the label as a word: the label "no" is not in "know"."""
    # ASCII: letters of scripts without spaces do not hide the word that stands between them.
    word = re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", re.ASCII)
    return any(word.search(segment) for segment in context)


def _label_of(row: ReadExample) -> str | None:
    texts = row.gold_texts
    return texts[0][0] if len(texts) == 1 and len(texts[0]) == 1 else None


def _check_answers(rows: Sequence[ReadExample], kind: str) -> None:
    for row in rows:
        if kind == Kind.CHOICE and _label_of(row) is None:
            raise BadInput(
                f"{row.where}: the task's kind is choice, so “answer” must be one label."
            )
        if kind == Kind.CANDIDATE and not row.candidates:
            raise BadInput(
                f"{row.where}: the task's kind is candidate, so “entities” must name some."
            )


def _note_differing_gold(rows: Iterable[ReadExample], notes: dict[str, list[str]]) -> None:
    first: dict[str, ReadExample] = {}
    for row in rows:
        same = first.setdefault(row.identity, row)
        if _gold_key(same) != _gold_key(row):
            notes["gold_differs"].append(f"{row.where}, against {same.where}")


def _gold_key(row: ReadExample) -> set[frozenset[str]]:
    return {frozenset(spans) for spans in row.gold_texts}


def _once_each(read_set: ReadSet, notes: dict[str, list[str]]) -> ReadSet:
    """A person answers an example once, so a set cannot hold it twice."""
    first: dict[str, ReadExample] = {}
    for row in read_set.examples:
        if first.setdefault(row.identity, row) is not row:
            notes["repeated_in_set"].append(f"{row.where}: {row.context[0]}")
    return replace(read_set, examples=list(first.values()))
