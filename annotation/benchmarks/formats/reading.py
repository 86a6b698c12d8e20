"""What the rows of a task's files say together: a task with its sets."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from django.utils.translation import get_language_info

from annotation.benchmarks.archives import Files, read_file
from annotation.benchmarks.formats import content, own_options, samples
from annotation.benchmarks.formats.drawing import Draw, with_drawn
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles, find_folders, find_tables
from annotation.benchmarks.formats.rows import RowReader, with_exclusive_ends
from annotation.benchmarks.formats.tables import Fields, TableReader, as_utf8
from annotation.benchmarks.formats.task_files import read_task_file, shipped_description
from annotation.kinds import answer_kind, answer_kinds
from annotation.models import Role
from annotation.models.benchmark import Direction, Markup
from annotation.models.errors import BadInput
from scoring.core.normalisation import TOLERANCE, in_one_form

# A training part of this size or less is a set of shots as published, such as MMLU's of 5; a larger
# one is there to draw sets from.
MOST_SHOTS = 64
LONGEST_LABEL = 1_000
# The name of such a part, which is not stored.
PART = "labelled part"

Progress = Callable[[int, int, str], None]
ReadRecords = Callable[[str], Iterable[content.Record]]


def read_benchmark(
    files: Files,
    only: Collection[str] | None,
    progress: Progress,
    *,
    encoding: str = "",
    draw: Draw | None = None,
    columns: Mapping[str, Any] | None = None,
) -> tuple[list[content.ReadTask], list[str]]:
    """Every task of a folder, an archive or a file, or `only` these slugs, and the names of files
    that were not read. columns: as a task's file names them, for tables without one. Raises
    BadInput."""
    found, ignored = find_folders(files.names, files.title)
    if not found:
        found, ignored = find_tables(files.names, files.title)
    slugs = [task.slug for task in found]
    for slug in only or ():
        if slug not in slugs:
            raise BadInput(f"There is no task “{slug}” here; there are {', '.join(slugs)}.")
    wanted = [task for task in found if not only or task.slug in only]
    tasks = []
    for number, task in enumerate(wanted):
        progress(number, len(wanted), f"Reading {task.name}")
        tasks.append(read_task(task, files, encoding, draw, columns or {}))
    return tasks, ignored


def read_task(
    task: TaskFiles, files: Files, encoding: str, draw: Draw | None, columns: Mapping[str, Any]
) -> content.ReadTask:
    own = read_task_file(files.read(task.own), task.own) if task.own else {}
    as_set = bool(own.get("kind")) and answer_kind(own["kind"]).takes_sets
    tables = TableReader(own.pop("columns", columns), as_set=as_set)
    reader = RowReader(files, as_set=as_set)
    source = draw.source if draw else None

    def records(file: str) -> Iterable[content.Record]:
        data = read_file(source) if source and file == str(source) else files.read(file)
        data = as_utf8(data, file, encoding)
        return tables.read(data, file) if task.is_table else content.read_records(data, file)

    sets = [_read_set(records, reader, one) for one in _to_read(task, draw)]
    sets = _settled(sets, own.pop("answer_by", ""), as_set=as_set)
    rows = [row for read_set in sets for row in read_set.examples]
    fitting = (kind.name for kind in answer_kinds() if kind.fits(rows))
    kind = own.get("kind") or tables.kind or next(fitting)
    _check_kind(task, own, kind, rows)
    _settle_normalisation(task, own, kind)
    # The question's wording may name others.
    texts = {text for row in rows for texts in row.gold_texts for text in texts}
    labels = sorted({in_one_form(text): text for text in sorted(texts)}.values())
    choices = own.pop("choices", labels)
    _check_lengths(task, choices)
    if answer_kind(kind).takes_labels and not any(row.options for row in rows):
        sets = [replace(read_set, choices=choices) for read_set in sets]
    note_differing_gold(rows, reader.notes)
    defaults = _defaults(task, kind, rows, reader.lists_alternatives)
    if _reads_from_the_right(own.get("language", "")):
        defaults["direction"] = Direction.RIGHT_TO_LEFT
    _settle_sample(task, own, defaults, kind, choices, [row.context for row in rows])
    kept = _without_parts(sets, draw, reader.notes)
    sets = [replace(one, examples=once_each(one.examples, reader.notes)) for one in kept]
    if task.is_table:
        reader.notes["columns"], reader.notes["unused_columns"] = tables.found, tables.unused
    reader.notes["canary"] = [reader.canary] if reader.canary else []
    notes = {code: cases for code, cases in reader.notes.items() if cases}
    return content.ReadTask(task.slug, own, defaults, sets, notes, reader.canary)


def _to_read(task: TaskFiles, draw: Draw | None) -> list[SetFiles]:
    if draw and not draw.source:
        return [*task.sets]
    named = [SetFiles([str(draw.source)], Role.TRAINING, is_part=True)] if draw else []
    return [*named, *(one for one in task.sets if not one.is_part)]


def _read_set(records: ReadRecords, reader: RowReader, of: SetFiles) -> content.ReadSet:
    rows: dict[str, content.ReadExample] = {}
    for file in of.files:
        for record in records(file):
            row = reader.read(record, of.role)
            if first := rows.get(row.source_id):
                record.refuse(f"the id “{row.source_id}” is taken already, in {first.where}.")
            rows[row.source_id] = row
    examples = list(rows.values())
    if of.shots is not None:
        _check_size(examples, of.shots)
    named = partial(content.ReadSet, role=of.role, file=of.files[0], examples=examples)
    if of.role == Role.TEST:
        return named("test")
    if of.shots is None and (of.is_part or len(examples) > MOST_SHOTS):
        return named(PART)
    shots, split = of.shots or len(examples), of.split or 1
    return named(f"train-{shots}-{split}", shots=shots, split=split)


def _settled(
    sets: Sequence[content.ReadSet], answer_by: str, *, as_set: bool
) -> list[content.ReadSet]:
    """What all rows of the task tell together: which options their answers name, and where their
    entities end."""
    rows = [row for read_set in sets for row in read_set.examples]
    if any(row.options for row in rows):
        rows = own_options.with_numbers(rows, answer_by, as_set=as_set)
    of_sets = iter(with_exclusive_ends(rows))
    return [replace(one, examples=list(islice(of_sets, len(one.examples)))) for one in sets]


def _without_parts(
    sets: Sequence[content.ReadSet], draw: Draw | None, notes: dict[str, list[str]]
) -> list[content.ReadSet]:
    """With the sets that are drawn out of labelled parts instead."""
    parts = [one for one in sets if one.name == PART]
    sets = [one for one in sets if one.name != PART]
    if draw is None:
        notes["not_drawn"] += [f"{one.file}: {len(one.examples)} rows" for one in parts]
        return sets
    return with_drawn(sets, parts, draw)


def _check_size(rows: Sequence[content.ReadExample], shots: int) -> None:
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


def _check_kind(
    task: TaskFiles, own: Fields, kind: str, rows: Sequence[content.ReadExample]
) -> None:
    """That what is asked can be answered in this kind, and shown as its answers need it."""
    for row in rows:
        if problem := answer_kind(kind).problem_of_row(row):
            raise BadInput(f"{row.where}: the task's kind is {kind}, so {problem}.")
    if answer_kind(kind).takes_markup:
        return
    if own.get("markup") == Markup.MARKDOWN:
        raise BadInput(
            f"{task.slug}: where words of a text are chosen it stays plain: leave “markup” out of "
            "the task's file."
        )
    if seen := next((row for row in rows if row.images), None):
        raise BadInput(
            f"{seen.where}: images cannot stand where words of a text are chosen ({kind})."
        )


def _check_lengths(task: TaskFiles, labels: Iterable[str]) -> None:
    if long := next((label for label in labels if len(label) > LONGEST_LABEL), None):
        raise BadInput(
            f"{task.slug}: the label “{long[:40]}…” has {len(long):,} characters, and at most "
            f"{LONGEST_LABEL:,} fit on a button."
        )


def _settle_normalisation(task: TaskFiles, own: Fields, kind: str) -> None:
    """A tolerance stands behind the normalisation of numbers."""
    named, known = own.get("normalisation"), answer_kind(kind).normalisations
    if named and named not in known:
        raise BadInput(
            f"{task.own}: answers of the kind {kind} are compared with the "
            f"normalisation {' or '.join(known)}, not {named}; leave “normalisation” out."
        )
    if tolerance := own.pop("tolerance", ""):
        if not answer_kind(kind).takes_tolerance:
            raise BadInput(f"{task.own}: only numbers have a “tolerance”.")
        own["normalisation"] = known[0] + TOLERANCE + tolerance


def _reads_from_the_right(language: str) -> bool:
    with suppress(KeyError):  # a language that Django does not know
        return bool(get_language_info(language)["bidi"])
    return False


def _defaults(
    task: TaskFiles, kind: str, rows: Sequence[content.ReadExample], lists_alternatives: bool
) -> Fields:
    """The project's own words for a task that it knows, if this is the task they describe."""
    single = all(len(spans) <= 1 for row in rows for spans in row.alternatives)
    one_span = answer_kind(kind).takes_pieces and lists_alternatives and single
    shipped = shipped_description(task.slug)
    return {
        "kind": kind,
        "max_spans": 1 if one_span else None,
        "name": task.name[:80],
        "title": task.name[:200],
        **(shipped if shipped.get("kind", kind) == kind else {}),
    }


def _settle_sample(
    task: TaskFiles,
    own: Fields,
    defaults: Fields,
    kind: str,
    choices: Sequence[str],
    contexts: Sequence[Sequence[str]],
) -> None:
    if problem := samples.problem_of_sample(own.get("sample", {}), kind, choices, contexts):
        raise BadInput(f"{task.own}: the sample cannot be used: {problem}.")
    if samples.problem_of_sample(defaults.get("sample", {}), kind, choices, contexts):
        defaults["sample"] = {"asks": defaults["sample"].get("asks", "")}


def note_differing_gold(rows: Iterable[content.ReadExample], notes: dict[str, list[str]]) -> None:
    first: dict[str, content.ReadExample] = {}
    for row in rows:
        same = first.setdefault(row.identity, row)
        own, other = (
            {frozenset(map(in_one_form, texts)) for texts in one.gold_texts} for one in (row, same)
        )
        if own != other:
            notes["gold_differs"].append(f"{row.where}, against {same.where}")


def once_each(
    rows: Iterable[content.ReadExample], notes: dict[str, list[str]]
) -> list[content.ReadExample]:
    """A person answers an example once, so a set cannot hold it twice."""
    first: dict[str, content.ReadExample] = {}
    for row in rows:
        if first.setdefault(row.identity, row) is not row:
            notes["repeated_in_set"].append(f"{row.where}: {row.context[0]}")
    return list(first.values())
