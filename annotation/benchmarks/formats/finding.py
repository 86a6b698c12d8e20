"""The tasks that a benchmark's files hold, each with what its own file says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from annotation.benchmarks.archives import TABLES, Files, advice_on
from annotation.benchmarks.formats.columns import is_there
from annotation.benchmarks.formats.content import Ambiguous, Fields
from annotation.benchmarks.formats.joining import LINE, LINES, joined
from annotation.benchmarks.formats.known_sets import as_list
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles, find_folders, find_tables
from annotation.benchmarks.formats.task_files import also_said, is_task_file, read_task_file
from annotation.benchmarks.formats.versions import in_versions
from annotation.models.errors import BadInput

# Refusals of tables, in one sentence.
MOST_TOLD = 3
Described = list[tuple[TaskFiles, Fields]]


def find_tasks(files: Files, said: Mapping[str, Any]) -> tuple[Described, list[str]]:
    """Tasks, and the names of files that are not read. said: of all of them. Raises BadInput."""
    tasks, ignored = find_folders(files.names, files.title)
    if not tasks:
        task_files = [name for name in files.names if is_task_file(name, files)]
        others = [name for name in files.names if name not in task_files]
        if others and not any(name.lower().endswith(TABLES) for name in others):
            advice = [advice_on(name, files.read(name)) for name in others]
            if all(advice):
                raise BadInput(advice[0])
        tasks, ignored = find_tables(files.names, files.title, task_files)
    says = {file: read_task_file(files.read(file), file) for task in tasks if (file := task.file)}
    # Of several tables, those have its columns that a line was said of.
    shared = {"shared": said["columns"]} if len(tasks) > 1 and "columns" in said else {}
    rest = {name: value for name, value in said.items() if not (shared and name == "columns")}
    stated = {task.file: also_said(says.get(task.file, {}), {**rest, **shared}) for task in tasks}
    joins = {task_file: fields.get("join", "") for task_file, fields in stated.items()}
    if LINE in joins.values() and not any(map(LINES.fullmatch, files.names)):
        raise BadInput(
            f"“join” is “{LINE}”, but no file is named for answers a line: beside test.tsv, name "
            "it test-labels.txt."
        )
    for task_file, by in joins.items():
        if by not in ("", LINE):
            of_file = [task for task in tasks if task.file == task_file]
            title = PurePosixPath(task_file).parent.name or files.title
            tasks = [task for task in tasks if task not in of_file] + joined(of_file, title)
    left = (_without(task, stated[task.file].get("leave_out", ())) for task in tasks)
    described = [
        (version, stated[task.file])
        for task in left
        for version in in_versions(task, stated[task.file])
        if version.sets
    ]
    files_found, files_meant = (
        {file for task in group for part in task.sets for file in part.files}
        for group in (tasks, [task for task, _stated in described])
    )
    return described, [*ignored, *sorted(files_found - files_meant)]


def check_read(refused: Sequence[tuple[TaskFiles, BadInput]], count: int) -> None:
    """Raise what hinders tables; Ambiguous where others of the `count` can be read."""
    if 0 < len(refused) < count and all(task.is_table for task, _refusal in refused):
        told = " ".join(str(refusal) for _task, refusal in refused[:MOST_TOLD])
        files = [file for task, _refusal in refused for part in task.sets for file in part.files]
        hint = "What is meant for one table alone goes into a task.json in its folder."
        raise Ambiguous("", f"{told} {hint}", ("leave_out", files, "leave out what cannot be read"))
    for _task, refusal in refused:
        raise refusal


def check_somewhere(names: Sequence[str], columns: Fields) -> None:
    """Raise BadInput for a column that is said of several tables and that none of them has."""
    for name, path in ((name, path) for name, of in columns.items() for path in as_list(of)):
        if not is_there(path, names):
            raise BadInput(f"No table has a column “{path}” for the {name}.")


def _without(task: TaskFiles, left_out: Collection[str]) -> TaskFiles:
    """The task without the files that its own file leaves out."""
    if not left_out:
        return task
    sets = list[SetFiles]()
    for part in task.sets:
        pairs = zip(part.files, part.versions, strict=True)
        if kept := [(file, version) for file, version in pairs if file not in left_out]:
            files, versions = zip(*kept, strict=True)
            sets.append(replace(part, files=files, versions=versions))
    return replace(task, sets=sets)
