"""Which of several files are meant that are named as versions of one part, such as a public and a
private test: nobody but the task's file says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.benchmarks.formats.content import Ambiguous
from annotation.benchmarks.formats.layouts import SetFiles, TaskFiles, slug_of

EACH, TOGETHER = "each", "together"


def in_versions(task: TaskFiles, said: Mapping[str, Any]) -> list[TaskFiles]:
    """The task with those that are said to be meant, or a task of each. Raises Ambiguous."""
    meant = said.get("versions", ())
    if meant == TOGETHER or not any(map(_has_several, task.sets)):
        return [task]
    if meant == EACH:
        versions = dict.fromkeys(version for one in task.sets for version in one.versions)
        return [_version_of(task, version) for version in versions]
    sets = [_only(one, meant) if _has_several(one) else one for one in task.sets]
    if several := next(filter(_has_several, sets), None):
        _ask(several)
    return [replace(task, sets=sets)]


def _has_several(set_files: SetFiles) -> bool:
    return len({*set_files.versions}) > 1


def _version_of(task: TaskFiles, version: str) -> TaskFiles:
    name = f"{task.name}-{version}".rstrip("-")
    sets = [_only(set_files, [version]) for set_files in task.sets if version in set_files.versions]
    return replace(task, name=name, slug=slug_of(name), sets=sets)


def _only(set_files: SetFiles, meant: Any) -> SetFiles:
    """The part with the files of these versions alone, where it has any of them."""
    pairs = [(f, v) for f, v in zip(set_files.files, set_files.versions, strict=True) if v in meant]
    files, versions = zip(*pairs, strict=True) if pairs else (set_files.files, set_files.versions)
    return replace(set_files, files=files, versions=versions)


def _ask(set_files: SetFiles) -> None:
    first = dict(zip(set_files.versions, set_files.files, strict=True))
    listed = " and ".join([*first.values()][:4]) + (" and others" if len(first) > 4 else "")
    raise Ambiguous(
        "",
        f"{listed} are named as versions of one part ({set_files.part}).",
        ("versions", TOGETHER, "all their rows together are the part"),
        ("versions", EACH, "each is a task of its own"),
        *(("versions", [version], f"{file} is meant") for version, file in [*first.items()][:4]),
    )
