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


def _has_several(one: SetFiles) -> bool:
    return len({*one.versions}) > 1


def _version_of(task: TaskFiles, version: str) -> TaskFiles:
    name = f"{task.name}-{version}".rstrip("-")
    sets = [_only(one, [version]) for one in task.sets if version in one.versions]
    return replace(task, name=name, slug=slug_of(name), sets=sets)


def _only(one: SetFiles, meant: Any) -> SetFiles:
    """With the files of these versions, where it has any of them."""
    pairs = [(f, v) for f, v in zip(one.files, one.versions, strict=True) if v in meant]
    files, versions = zip(*pairs, strict=True) if pairs else (one.files, one.versions)
    return replace(one, files=files, versions=versions)


def _ask(one: SetFiles) -> None:
    first = dict(zip(one.versions, one.files, strict=True))
    listed = " and ".join([*first.values()][:4]) + " and others" * (len(first) > 4)
    raise Ambiguous(
        "",
        f"{listed} are named as versions of one part ({one.part}).",
        ("versions", TOGETHER, "all their rows together are the part"),
        ("versions", EACH, "each is a task of its own"),
        *(("versions", [version], f"{file} is meant") for version, file in [*first.items()][:4]),
    )
