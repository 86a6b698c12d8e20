"""The tasks that a benchmark's files hold, each with what its own file says."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from annotation.benchmarks.archives import TABLES, Files, way_to_table
from annotation.benchmarks.formats.content import Fields
from annotation.benchmarks.formats.joining import LINE, LINES, joined
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles, find_folders, find_tables
from annotation.benchmarks.formats.task_files import is_task_file, read_task_file
from annotation.benchmarks.formats.versions import in_versions
from annotation.models.errors import BadInput

Described = list[tuple[TaskFiles, Fields]]


def find_tasks(files: Files, said: Mapping[str, Any]) -> tuple[Described, list[str]]:
    """And the names of files that are not read. said: of all of them. Raises BadInput."""
    found, ignored = find_folders(files.names, files.title)
    if not found:
        task_files = [name for name in files.names if is_task_file(name, files)]
        others = [name for name in files.names if name not in task_files]
        if others and not any(name.lower().endswith(TABLES) for name in others):
            ways = [way_to_table(name, files.read(name)) for name in others]
            if all(ways):
                raise BadInput(ways[0])
        found, ignored = find_tables(files.names, files.title, task_files)
    owns = {task.own: read_task_file(files.read(task.own), task.own) for task in found if task.own}
    own = {task.own: {**owns.get(task.own, {}), **said} for task in found}
    joins = {task_file: one.get("join", "") for task_file, one in own.items()}
    if LINE in joins.values() and not any(map(LINES.fullmatch, files.names)):
        raise BadInput(
            f"“join” is “{LINE}”, but no file is named for answers a line: beside test.tsv, name "
            "it test-labels.txt."
        )
    for task_file, by in joins.items():
        if by not in ("", LINE):
            of_file = [task for task in found if task.own == task_file]
            title = PurePosixPath(task_file).parent.name or files.title
            found = [one for one in found if one not in of_file] + joined(of_file, title)
    left = (_without(task, own[task.own].get("leave_out", ())) for task in found)
    described = [
        (one, own[task.own])
        for task in left
        for one in in_versions(task, own[task.own])
        if one.sets
    ]
    there, meant = (
        {file for task in tasks for one in task.sets for file in one.files}
        for tasks in (found, [task for task, _own in described])
    )
    return described, [*ignored, *sorted(there - meant)]


def _without(task: TaskFiles, left_out: Collection[str]) -> TaskFiles:
    """Without the files that the task's file leaves out."""
    if not left_out:
        return task
    sets = list[SetFiles]()
    for one in task.sets:
        pairs = zip(one.files, one.versions, strict=True)
        if kept := [(file, version) for file, version in pairs if file not in left_out]:
            files, versions = zip(*kept, strict=True)
            sets.append(replace(one, files=files, versions=versions))
    return replace(task, sets=sets)
