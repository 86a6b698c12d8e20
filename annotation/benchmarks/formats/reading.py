"""What the rows of a task's files say together: a task with its sets."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Any

from annotation.benchmarks.archives import Files, read_file
from annotation.benchmarks.formats import content, own_options, samples
from annotation.benchmarks.formats.class_names import class_names
from annotation.benchmarks.formats.content import Fields
from annotation.benchmarks.formats.drawing import Draw, with_drawn
from annotation.benchmarks.formats.files import as_utf8, read_table
from annotation.benchmarks.formats.finding import Described, check_read, check_somewhere, find_tasks
from annotation.benchmarks.formats.joining import (
    ask_to_join,
    lines_beside,
    with_lines,
    with_others,
)
from annotation.benchmarks.formats.kinds import (
    kind_of_rows,
    kind_of_table,
    rare_labels,
    with_plain_labels,
)
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles
from annotation.benchmarks.formats.one_table import Unlabelled
from annotation.benchmarks.formats.parts import (
    PART,
    ask_about_answer,
    ask_about_hidden,
    check_training,
    set_of,
    sets_of_table,
)
from annotation.benchmarks.formats.rows import RowReader, with_exclusive_ends
from annotation.benchmarks.formats.tables import FIELDS_OF_TABLES, TableReader
from annotation.benchmarks.formats.task_files import shipped_description
from annotation.benchmarks.scripts import (
    LANGUAGES,
    LATIN,
    UNKNOWN,
    has_own_letters,
    is_right_to_left,
    letters_of,
    read_from_the_right,
    script_of,
)
from annotation.kinds import answer_kind
from annotation.kinds.naming import WAYS
from annotation.models import Role
from annotation.models.benchmark import Direction, Markup
from annotation.models.errors import BadInput
from scoring.core.normalisation import TOLERANCE, in_one_form

# What stands in regular expressions, and hardly in what people type.
PATTERN = re.compile(r"\\[bdsw](?![a-zA-Z])|\.[*+]|\][?*+{]|\)\?")
LONGEST_LABEL, MOST_BUTTONS = 1_000, 300
Progress = Callable[[int, int, str], None]
ReadRecords = Callable[[str], Iterable[content.Record]]


def read_benchmark(
    files: Files,
    only: Collection[str] | None,
    progress: Progress,
    *,
    encoding: str = "",
    draw: Draw | None = None,
    said: Mapping[str, Any] | None = None,
    lax: bool = False,
) -> tuple[list[content.ReadTask], list[str]]:
    """Every task of a folder, an archive or a file, or `only` these slugs, and the names of files
    that were not read. said: what a task's file would say, for tables without one. lax: leave out
    the columns of tables that are not used, whatever they hold. Raises BadInput."""
    described, ignored = find_tasks(files, said or {})
    slugs = [task.slug for task, _stated in described]
    for slug in only or ():
        if slug not in slugs:
            raise BadInput(f"There is no task “{slug}” here; there are {', '.join(slugs)}.")
    chosen = [(task, stated) for task, stated in described if not only or task.slug in only]
    try:
        check_training([task for task, _stated in chosen])
        tasks = _read_all(chosen, files, progress, encoding=encoding, draw=draw, lax=lax)
        names = [name for task in tasks for name in task.names]
        check_somewhere(names, (said or {}).get("columns", {}))
        return tasks, ignored
    except BadInput:
        if not any("join" in stated for _task, stated in chosen):
            unread = [task for task, _stated in chosen]
            ask_to_join(unread, lambda file: [*read_table(files.read(file), file, encoding)])
        raise


def _read_all(
    chosen: Described, files: Files, progress: Progress, **how: Any
) -> list[content.ReadTask]:
    tasks, unlabelled = list[content.ReadTask](), list[Unlabelled]()
    unread = list[tuple[TaskFiles, BadInput]]()
    for number, (task, stated) in enumerate(chosen):
        progress(number, len(chosen), f"Reading {task.name}")
        try:
            tasks.append(read_task(task, files, dict(stated), **how))
        except Unlabelled as refusal:
            unlabelled.append(refusal)
        except content.Ambiguous:
            raise
        except BadInput as refusal:
            unread.append((task, refusal))
    check_read(unread, len(chosen))
    _leave_out(unlabelled, tasks)
    ask_about_hidden(tasks, {task.slug: stated for task, stated in chosen})
    return tasks


def _leave_out(unlabelled: Sequence[Unlabelled], tasks: Sequence[content.ReadTask]) -> None:
    """What has no answers, and no column that another task lacks, is a part of that one. Raises
    Unlabelled for others."""
    for refusal in unlabelled:
        others = [task for task in tasks if {*refusal.names} <= {*task.names}]
        if not others or not refusal.names:
            labels = [name for name, values in refusal.labels.items() if len(values) > 1]
            ask_about_answer(refusal, labels)
            raise refusal
        others[0].notes.setdefault("unlabelled", []).append(str(refusal))


def read_task(
    task: TaskFiles,
    files: Files,
    stated: Fields,
    *,
    encoding: str = "",
    draw: Draw | None = None,
    lax: bool = False,
) -> content.ReadTask:
    said = {name: stated.pop(name) for name in FIELDS_OF_TABLES if name in stated}
    if not task.is_table and (of_tables := said.keys() - {"columns", "answer_by", "unused"}):
        raise BadInput(f"{task.file}: “{min(of_tables)}” is said of tables alone: leave it out.")
    called = f"{task.name} {files.title}"
    choices, named_kind = stated.get("choices", ()), stated.get("kind", "")
    classes = class_names(files, called) if task.is_table else {}
    tables = TableReader(said, called, choices, kind=named_kind, classes=classes, lax=lax)
    reader = RowReader(files, as_set=tables.as_set)
    source = draw.source if draw else None

    beside = {file: others for set_files in task.sets for file, others in set_files.beside.items()}

    def raw(data: bytes, file: str) -> list[content.Record]:
        rows, by = [*read_table(data, file, encoding, tables.left_out)], said.get("join")
        if not rows:
            return rows
        if lines := lines_beside(file, files.names):
            rows = with_lines(rows, lines, files.read(lines), by)
        for other in beside.get(file, ()):
            rows = with_others(rows, [*read_table(files.read(other), other, encoding)], by or "")
        return rows

    def records(file: str) -> Iterable[content.Record]:
        data = read_file(source) if source and file == str(source) else files.read(file)
        if task.is_table:
            return tables.read(raw(data, file), file)
        return content.read_records(as_utf8(data, file, encoding), file)

    @cache
    def read(files: tuple[str, ...]) -> list[content.ReadExample]:
        tables.before = 0
        return _read_rows(records, reader, files, Role.TEST)

    if task.is_table:
        sets = sets_of_table(task, lambda files: read(tuple(files)), draw, said, reader.notes)
    else:
        sets = [_read_set(records, reader, set_files) for set_files in _to_read(task, draw)]
        if not lax:
            reader.check_unused(said.get("unused", ()))
    count = sum(len(read_set.examples) for read_set in sets)
    sets = _settled(sets, tables, is_table=task.is_table)
    kind = _kind_of(task, stated, tables, sets)
    _settle_normalisation(task, stated, kind)
    if task.is_table and answer_kind(kind).takes_labels:
        named = stated.get("choices", ())
        sets = [replace(one, examples=with_plain_labels(one.examples, named)) for one in sets]
    rows = [row for read_set in sets for row in read_set.examples]
    if task.is_table and answer_kind(kind).takes_one_label and not any(row.options for row in rows):
        reader.notes["rare_labels"] = rare_labels([row.label for row in rows])
    # The question's wording may name others.
    texts = {text for row in rows for texts in row.gold_texts for text in texts}
    labels = tables.in_order({in_one_form(text): text for text in sorted(texts)}.values())
    choices = stated.pop("choices", labels)
    _check_buttons(task, choices if answer_kind(kind).takes_labels else ())
    content.note_differing_gold(rows, reader.notes)
    defaults = _defaults(task, kind, rows, reader.lists_alternatives)
    _settle_script(stated, defaults, rows, reader.notes)
    if task.is_table and not (defaults | stated).get("language"):
        reader.notes["language_assumed"] = ["“language” in the task's file names another"]
    if len(answer_kind(kind).normalisations) > 1:
        listed = [row.where for row in rows if any("|" in t for ts in row.gold_texts for t in ts)]
        reader.notes["listed_in_text"] = listed
        golds = ((row.where, "\n".join(map("\n".join, row.gold_texts))) for row in rows)
        reader.notes["patterns"] = [where for where, gold in golds if PATTERN.search(gold)]
    _settle_sample(task, stated, defaults, kind, choices, [row.context for row in rows])
    kept = _without_parts(sets, draw, reader.notes)
    sets = [replace(one, examples=content.once_each(one.examples, reader.notes)) for one in kept]
    if answer_kind(kind).takes_labels and not any(row.options for row in rows):
        sets = [replace(read_set, choices=choices) for read_set in sets]
    _tell(tables, sets, count, reader.notes)
    if tables.asks_nothing:
        del reader.notes["empty_context"]
    reader.notes["canary"] = [reader.canary] if reader.canary else []
    notes = {code: cases for code, cases in reader.notes.items() if cases}
    return content.ReadTask(task.slug, stated, defaults, sets, notes, reader.canary, tables.names)


def _kind_of(
    task: TaskFiles, stated: Fields, tables: TableReader, sets: Sequence[content.ReadSet]
) -> str:
    """The kind that the task's file or its set names, or else its rows', which have to fit."""
    rows = [row for read_set in sets for row in read_set.examples]
    kind: str = stated.get("kind") or tables.kind
    if not kind:
        is_named = "choices" in stated
        kind = (
            kind_of_table(rows, tables, is_named=is_named) if task.is_table else kind_of_rows(rows)
        )
    _check_kind(task, stated, kind, rows)
    return kind


def _tell(
    tables: TableReader, sets: Sequence[content.ReadSet], count: int, notes: dict[str, list[str]]
) -> None:
    """What was made of all rows; of a table, which set it is, and of its columns."""
    if tables.columns_said:
        notes["recognised"] = [tables.known.name] if tables.known.name else []
        notes["columns"], notes["unused_columns"] = tables.columns_said, tables.unused
        notes["missing_unseen"], notes["left_aside"] = tables.unseen, tables.aside
        notes |= tables.notes
    # Several questions may stand in one row.
    kept = len({(row.where, row.source_id) for read_set in sets for row in read_set.examples})
    left = dict(tables.left_out)
    if repeated := len(notes["repeated_in_set"]):
        left["that repeat another of their file"] = repeated
    if others := count - kept - repeated:
        left["that no set holds"] = others
    read = count + sum(tables.left_out.values())
    first = tables.first_left_out
    reasons = "; ".join(
        f"{number} {reason}" + (f", the first in {first[reason]}" if reason in first else "")
        for reason, number in left.items()
    )
    left_out = f", {read - kept} left out: {reasons}" if reasons else ""
    notes["rows"] = [f"{read} read, {kept} stored{left_out}"]


def _to_read(task: TaskFiles, draw: Draw | None) -> list[SetFiles]:
    if draw and not draw.source:
        return [*task.sets]
    named = [SetFiles([str(draw.source)], Role.TRAINING, is_part=True)] if draw else []
    return [*named, *task.sets]


def _read_rows(
    records: ReadRecords, reader: RowReader, files: Sequence[str], role: str
) -> list[content.ReadExample]:
    rows: dict[str, content.ReadExample] = {}
    refused = list[content.Ambiguous]()
    for record in chain.from_iterable(map(records, files)):
        with content.gathered(refused):
            row = reader.read(record, role)
            _check_id(record, row, rows)
            rows[row.source_id] = row
    content.ask_about_rows(refused, len(rows))
    return list(rows.values())


def _check_id(
    record: content.Record, row: content.ReadExample, rows: Mapping[str, content.ReadExample]
) -> None:
    if first := rows.get(row.source_id):
        taken = f"the id “{row.source_id}” is taken already, in {first.where}."
        if record.leave_out_id:
            number = ("columns", {"id": ""}, "number the rows instead")
            name = record.fields["id_of"]
            grouped = (
                "columns",
                {"id": "", "groups": [*row.groups, name]},
                f"{number[2]}, and “{name}” is a group",
            )
            raise content.Ambiguous(record.where, taken, number, grouped, row=row.shown)
        record.refuse(taken)


def _read_set(records: ReadRecords, reader: RowReader, of: SetFiles) -> content.ReadSet:
    examples = _read_rows(records, reader, of.files, of.role)
    return set_of(of, examples)


def _settled(
    sets: Sequence[content.ReadSet], tables: TableReader, *, is_table: bool
) -> list[content.ReadSet]:
    """What all rows of the task tell together: which options their answers name, and where their
    entities end."""
    rows = [row for read_set in sets for row in read_set.examples]
    if any(row.options for row in rows):
        refused = list[content.Ambiguous]()
        for row in rows:
            with content.gathered(refused):
                own_options.check_unlike(row)
        # In the layout of CLUES no row is left out.
        content.ask_about_rows(refused, len(rows) - len(refused) if is_table else 0)
        # What the layout of CLUES counts from is known.
        ways = [way for way in WAYS if is_table or way != "number"]
        rows = own_options.with_numbers(
            rows,
            tables.answer_by,
            usual=tables.known.answer_by,
            known=ways,
            as_set=tables.as_set,
            is_table=is_table,
        )
    of_sets = iter(with_exclusive_ends(rows))
    return [replace(one, examples=list(islice(of_sets, len(one.examples)))) for one in sets]


def _without_parts(
    sets: Sequence[content.ReadSet], draw: Draw | None, notes: dict[str, list[str]]
) -> list[content.ReadSet]:
    """The sets, with those that are drawn out of labelled parts instead of the parts."""
    parts = [read_set for read_set in sets if read_set.name == PART]
    sets = [read_set for read_set in sets if read_set.name != PART]
    if draw is None:
        notes["not_drawn"] += [f"{part.file}: {len(part.examples)} rows" for part in parts]
        return sets
    return with_drawn(sets, parts, draw)


def _check_kind(
    task: TaskFiles, stated: Fields, kind: str, rows: Sequence[content.ReadExample]
) -> None:
    """Raise BadInput unless what is asked can be answered in this kind, and shown as it needs."""
    for row in rows:
        if problem := answer_kind(kind).problem_of_row(row):
            raise BadInput(f"{row.where}: the task's kind is {kind}, so {problem}.")
    if answer_kind(kind).takes_markup:
        return
    if stated.get("markup") == Markup.MARKDOWN:
        raise BadInput(
            f"{task.slug}: where words of a text are chosen it stays plain: leave “markup” out of "
            "the task's file."
        )
    if seen := next((row for row in rows if row.images), None):
        raise BadInput(
            f"{seen.where}: images cannot stand where words of a text are chosen ({kind})."
        )


def _check_buttons(task: TaskFiles, labels: Collection[str]) -> None:
    if len(labels) > MOST_BUTTONS:
        raise BadInput(
            f"{task.slug}: there are {len(labels):,} labels, and people choose among at most "
            f"{MOST_BUTTONS}. Is it another kind? Name it in the task's file (“kind”)."
        )
    if long := next((label for label in labels if len(label) > LONGEST_LABEL), None):
        raise BadInput(
            f"{task.slug}: the label “{long[:40]}…” has {len(long):,} characters, and at most "
            f"{LONGEST_LABEL:,} fit on a button."
        )


def _settle_normalisation(task: TaskFiles, stated: Fields, kind: str) -> None:
    """A tolerance stands behind the normalisation of numbers."""
    named, known = stated.get("normalisation"), answer_kind(kind).normalisations
    if named and named not in known:
        raise BadInput(
            f"{task.file}: answers of the kind {kind} are compared with the "
            f"normalisation {' or '.join(known)}, not {named}; leave “normalisation” out."
        )
    if tolerance := stated.pop("tolerance", ""):
        if not answer_kind(kind).takes_tolerance:
            raise BadInput(f"{task.file}: only numbers have a “tolerance”.")
        stated["normalisation"] = known[0] + TOLERANCE + tolerance


def _settle_script(
    said: Fields, defaults: Fields, rows: Sequence[content.ReadExample], notes: dict[str, list[str]]
) -> None:
    """The direction of what is shown follows from its language, or else from its letters."""
    letters = letters_of(text for row in rows for text in row.texts)
    script = script_of(letters)
    language: str = said.get("language") or defaults.get("language", "")
    if not language and script not in ("", LATIN):
        defaults["language"] = UNKNOWN
        fitting = LANGUAGES.get(script, "").split()
        lines = (f'"language": "{code}"' for code in fitting[:3])
        notes["language"] = [
            f"{script.capitalize()}. Name it in the task's file: {', or '.join(lines)}"
        ]
    elif language and script and not has_own_letters(language, script):
        notes["other_script"] = [
            f"most letters are {script.capitalize()}, “language” is “{language}”"
        ]
    if is_right_to_left(language) if language else read_from_the_right(letters):
        defaults["direction"] = Direction.RIGHT_TO_LEFT


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
    stated: Fields,
    defaults: Fields,
    kind: str,
    choices: Sequence[str],
    contexts: Sequence[Sequence[str]],
) -> None:
    if problem := samples.problem_of_sample(stated.get("sample", {}), kind, choices, contexts):
        raise BadInput(f"{task.file}: the sample cannot be used: {problem}.")
    if samples.problem_of_sample(defaults.get("sample", {}), kind, choices, contexts):
        defaults["sample"] = {"asks": defaults["sample"].get("asks", "")}
