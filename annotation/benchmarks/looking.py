"""A benchmark before it is stored: what was read of it, and its first items as people will see
them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from annotation.benchmarks.archives import open_files
from annotation.benchmarks.audit import NOTE, WARNING, reader_findings
from annotation.benchmarks.formats.columns import found_columns
from annotation.benchmarks.formats.content import (
    Ambiguous,
    Fields,
    ReadExample,
    ReadSet,
    ReadTask,
    written,
)
from annotation.benchmarks.formats.files import read_table
from annotation.benchmarks.formats.known_sets import set_of_rows
from annotation.benchmarks.formats.layouts import find_folders, find_tables
from annotation.benchmarks.formats.reading import Progress
from annotation.benchmarks.importing import audited, read_source, uploaded
from annotation.benchmarks.storing import TaskReport
from annotation.jobs import queue
from annotation.models import Job, Role
from annotation.models.errors import BadInput
from scoring.core.normalisation import in_one_form

JOB = "look_at_benchmark"
FIRST = 3


@queue.runs(JOB, keeps_upload=True)
def look_at_uploaded(job: Job, progress: queue.Progress) -> queue.Result:
    """Look at an upload, read as an import with the job's arguments would read it. What can be read
    in two ways comes back as a question, with its answers."""
    source, how = uploaded(job)
    try:
        tasks, ignored = read_source(source, how.pop("tasks", None), progress, **how)
    except Ambiguous as question:
        readings, row = list(question.readings.items()), list(question.row.items())
        return {"question": {"readings": readings, "row": row}, "summary": question.what}
    return {"looks": looks(tasks, progress), "ignored": ignored, "summary": "The files were read."}


def first_table(job: Job) -> tuple[str, Fields, dict[str, list[str]]]:
    """The first file of an upload, what its columns are found to be, and what they hold first.
    Raises BadInput where it has no table that can be read."""
    source, how = uploaded(job)
    with open_files(source, how["file_name"]) as files:
        if find_folders(files.names, files.title)[0]:
            raise BadInput("These files are in the layout of CLUES, whose fields have their names.")
        tasks, _ignored = find_tables(files.names, files.title, task_files=())
        task = tasks[0]
        file = task.sets[0].files[0]
        data = files.read(file)
    rows = [row.fields for row in islice(read_table(data, file, how.get("encoding", "")), FIRST)]
    known = set_of_rows(rows, f"{file} {task.name}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = {name: [written(row.get(name, "")) for row in rows] for name in names}
    return file, found_columns(names, known), cells


def looks(tasks: Sequence[ReadTask], progress: Progress) -> list[dict[str, Any]]:
    """Show of each task its first items and what its audit finds, doubts first."""
    reports = audited(tasks, progress)
    return [_look(task, report) for task, report in zip(tasks, reports, strict=True)]


def _look(task: ReadTask, report: TaskReport) -> dict[str, Any]:
    test = task.sets[-1]
    doubts = [finding for finding in report.findings if finding.severity == WARNING]
    notes = [note for note in reader_findings(task.notes) if note.severity == NOTE]
    return {
        "slug": task.slug,
        "kind": task.kind,
        "sets": [f"{read_set.name} ({len(read_set.examples)})" for read_set in task.sets],
        "doubts": [[finding.message, list(finding.examples)] for finding in doubts],
        "notes": [[finding.message, list(finding.examples)] for finding in notes],
        "items": [_item(row, test) for row in test.examples[:FIRST]],
        "practice": [
            _item(row, read_set)
            for read_set in task.sets[:1]
            if read_set.role == Role.TRAINING
            for row in read_set.examples[:1]
        ],
    }


def _item(row: ReadExample, read_set: ReadSet) -> dict[str, Any]:
    """An item with its gold. Beside each of its own options, or of the labels of its set, stands
    whether it is right; where an answer is typed or selected there are none."""
    gold = row.all_gold_texts
    if row.options:
        options = [[text, str(n) in gold] for n, text in enumerate(row.options)]
    else:
        right = {*map(in_one_form, gold)}
        options = [[text, in_one_form(text) in right] for text in read_set.choices]
    return {
        "where": row.where,
        "context": [*filter(None, row.context)],
        "question": row.question,
        "options": options,
        "gold": [" + ".join(texts) or "(nothing is to be found)" for texts in row.gold_texts],
    }


def in_lines(seen: Mapping[str, Any]) -> Iterator[str]:
    """A look at a task as a terminal shows it: a star for what is right."""
    yield f"{seen['slug']}: {seen['kind']}; {', '.join(seen['sets'])}"
    for message, examples in seen["doubts"]:
        yield f"  warning: {message} {'; '.join(examples)}"
    for message, examples in seen["notes"]:
        yield f"  {message} {'; '.join(examples)}"
    for item in seen["items"]:
        yield f"  {item['where']}"
        yield from (f"    | {line}" for text in item["context"] for line in text.splitlines()[:6])
        if item["question"]:
            yield f"    {item['question']}"
        if item["options"]:
            yield "    " + " ".join(f"[{text}{' *' * right}]" for text, right in item["options"])
        else:
            yield f"    * {' | '.join(item['gold'])}"
