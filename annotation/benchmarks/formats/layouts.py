"""Which files of a benchmark hold which sets of which tasks, by their names alone: in the layout of
CLUES, or as tables."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.utils.text import slugify

from annotation.benchmarks.archives import PACKED, TABLES, UNNAMED
from annotation.benchmarks.formats.known_sets import KINDS_OF_PART, PARTS, VERSIONS
from annotation.benchmarks.formats.task_files import TASK_FILE
from annotation.models import Role
from annotation.models.errors import BadInput

# Where a folder's slug is not the name used in the literature.
SLUGS = {"sst-2": "sst2", "conll2003": "conll03", "wikiann_en": "wikiann", "squad-v2": "squadv2"}
TEST_FILE = re.compile(r".*_test\.jsonl")
SHOT_FILE = re.compile(r".*_train_(\d{1,6})_(\d{1,6})\.jsonl")
# In which parts may be asked.
ORDER = [part + kind for part in PARTS for kind in KINDS_OF_PART]
# A table's name: its task, which part of it, and which piece of that part.
_PART = rf"(?P<part>{'|'.join(PARTS)})(?P<kind>{'|'.join(KINDS_OF_PART)})(?:[-_ ]*(?:data|set))?"
TABLE = re.compile(rf"(?P<task>.*?)[-_. ]?(?:(?<![a-z]){_PART})?(?:-\d{{5}}-of-\d{{5}})?", re.I)
# Or the part first, and its task.
PART_FIRST = re.compile(rf"{_PART}[-_.](?P<task>.+)", re.I)
# Or between its task and its version.
PART_WITHIN = re.compile(rf"(?P<task>.+?)[-_. ]{_PART}[-_. ](?P<version>v\d[\d.]*)", re.I)
# What is no name of a task beside the part, and beside words for versions.
VERSION = re.compile(r"(?<![a-z\d])v?\d[\d.]*(?![a-z])")
# What a data set's repository holds beside its tables.
NO_TABLES = re.compile(
    r"dataset_infos?\.json|dataset_dict\.json|state\.json|results_.*\.json|run_spec\.json|"
    r"per_instance_stats\.json|stats\.json"
)
# A log of lm-eval is named for its task.
SAMPLES = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT.*")
# Files with a text a line.
TEXTS = ("_text.txt", "_texts.txt", "-text.txt", "-texts.txt")
# Folders that name no task.
DATA = ("data",)
# A log of Inspect, unpacked: its head, and a file for each sample.
LOG_HEAD, LOG_ROWS = "header.json", "samples"


@dataclass(frozen=True)
class SetFiles:
    files: Sequence[str]
    role: str
    shots: int | None = None
    split: int | None = None
    # Of a table: which part of its set it is.
    part: str = ""
    # Of each file, which one of several of its part.
    versions: Sequence[str] = ()
    # By a file, those that hold more of its rows.
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Read only to draw shot sets from.
    is_part: bool = False


@dataclass(frozen=True)
class TaskFiles:
    name: str
    slug: str
    sets: Sequence[SetFiles]
    # The name of its task.json, if it has one.
    file: str
    is_table: bool = False


def find_folders(names: Sequence[str], title: str) -> tuple[list[TaskFiles], list[str]]:
    """Tasks in CLUES's layout, none where no folder is laid out so. `title` names what holds them
    all, which may be one task's folder itself:

    <Folder>/<stem>_test.jsonl
    <Folder>/<stem>_train_<shots>_<split>.jsonl
    <Folder>/task.json                            (optional)
    """
    grouped: dict[str, dict[str, str]] = defaultdict(dict)
    ignored = []
    paths = _paths(names, (".jsonl", TASK_FILE))
    if any(len(parts) == 1 and SHOT_FILE.fullmatch(parts[0]) for parts in paths.values()):
        paths = {name: (title, *parts) for name, parts in paths.items()}
    for name, parts in paths.items():
        is_read = any(pattern.fullmatch(parts[-1]) for pattern in (TEST_FILE, SHOT_FILE))
        if len(parts) == 2 and (is_read or parts[1] == TASK_FILE):
            grouped[parts[0]][parts[1]] = name
        else:
            ignored.append(name)
    if not any(files.keys() - {TASK_FILE} for files in grouped.values()):
        return [], []
    ignored += sorted(_paths(names, TABLES).keys() - paths.keys())
    return distinct(_of_folder(folder, files) for folder, files in grouped.items()), ignored


def _of_folder(folder: str, files: Mapping[str, str]) -> TaskFiles:
    names = sorted(files)
    tests = [files[name] for name in names if TEST_FILE.fullmatch(name)]
    if len(tests) != 1:
        raise BadInput(
            f"{folder}: one file must end in _test.jsonl, "
            f"but there {'are ' + ' and '.join(tests) if tests else 'is none'}."
        )
    shot_files: dict[tuple[int, int], str] = {}
    for name in names:
        if numbers := SHOT_FILE.fullmatch(name):
            other = shot_files.setdefault((int(numbers[1]), int(numbers[2])), files[name])
            if other != files[name]:
                raise BadInput(f"{other} and {files[name]} are the same split; keep one of them.")
    pairs = sorted(shot_files.items())
    training = [SetFiles([file], Role.TRAINING, *numbers) for numbers, file in pairs]
    sets = [*training, SetFiles(tests, Role.TEST)]
    return TaskFiles(folder, slug_of(folder), sets, files.get(TASK_FILE, ""))


def find_tables(
    names: Sequence[str], title: str, task_files: Collection[str]
) -> tuple[list[TaskFiles], list[str]]:
    """Tables, one task a file, named for it; or for its folder, if the file is named for a part
    alone. `title` names what holds them all. A file named as a task's own may be a table, too."""
    paths = _paths(names, (*TABLES, *TEXTS, TASK_FILE))
    rows = sorted(name for name, parts in paths.items() if parts[0] == LOG_ROWS)
    if LOG_HEAD in paths and rows:
        return [_of_tables(title, {"test": [(row, "") for row in rows]})], []
    parts_of: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    ignored = sorted(name for name, parts in paths.items() if NO_TABLES.fullmatch(parts[-1]))
    tables = [name for name in sorted(paths) if name not in (*ignored, *task_files)]
    described = {name: _task_and_part(paths[name], title) for name in tables}
    folders = defaultdict[tuple[str, ...], set[str]](set)
    for task, folder, *same in described.values():
        folders[task, *same].add(folder)
    several = {task for (task, *_), holding in folders.items() if len(holding) > 1}
    for name, (task, folder, part, version) in described.items():
        # Files of one name in several folders are tasks of their own.
        own_task = f"{task}-{folder}" if task in several and folder else task
        parts_of[own_task][part].append((name, version))
    if not parts_of:
        texts = [name for name in names if name.endswith(".txt")]
        if len(texts) > 1:
            listed = " and ".join(texts[:2]) + (" and others" if len(texts) > 2 else "")
            raise BadInput(
                f"{listed} are no tables: write one with a row a text, its text and its "
                "label side by side."
            )
        raise BadInput(
            "There is no table of questions here (CSV, TSV, JSON, JSON lines, Parquet) and no "
            "folder with a file that ends in _test.jsonl; name the folder that holds them."
        )
    by_folder = {parts[:-1]: name for name, parts in paths.items() if name in task_files}

    def nearest(files: Mapping[str, Sequence[tuple[str, str]]]) -> str:
        """The task file in the folder of its tables, or above."""
        folder = paths[next(iter(files.values()))[0][0]][:-1]
        above = (folder[:depth] for depth in range(len(folder), -1, -1))
        return next((by_folder[folder] for folder in above if folder in by_folder), "")

    tasks = (_of_tables(name, files, nearest(files)) for name, files in parts_of.items())
    return distinct(tasks), ignored


def _task_and_part(parts: Sequence[str], title: str) -> tuple[str, str, str, str]:
    """Tell by the file's name, or by folders, its task, where that lies, which part of it, and
    which version of that."""
    *folders, file = parts
    stem = PurePosixPath(re.sub(rf"{PACKED}$", "", file, flags=re.I)).stem
    stem = "" if file == TASK_FILE else SAMPLES.sub(r"\1", stem)
    stem = stem[:-5].rstrip("-_") if file.lower().endswith(TEXTS) else stem
    match = TABLE.fullmatch(stem)
    assert match is not None  # it fits any name
    if not match["part"]:
        match = PART_FIRST.fullmatch(stem) or PART_WITHIN.fullmatch(stem) or match
    part = (match["part"] or "test") + (match["kind"] or "")
    inner = TABLE.fullmatch(folders[-1]) if folders else None
    if not match["part"] and inner and inner["part"] and not inner["task"]:
        part = inner["part"] + inner["kind"]
        folders.pop()
    from_file = (match["task"], match.groupdict().get("version") or "")
    names = [title, *(folder for folder in folders if folder not in DATA), *from_file]
    versions: list[str] = []
    while len(names) > 1 and is_version(names[-1]):
        versions = [*filter(None, [names.pop()]), *versions]
    version = "-".join(versions)
    is_name = names == [UNNAMED] and re.search("[a-z]{2}", version)
    return version if is_name else names[-1], "-".join(names[1:-1]), part.lower(), version


def is_version(name: str) -> bool:
    return {*re.split(r"[-_. ]+", VERSION.sub("", name.lower()))} <= {"", *VERSIONS}


def _of_tables(
    name: str, parts: Mapping[str, Sequence[tuple[str, str]]], task_file: str = ""
) -> TaskFiles:
    """Its parts in the order in which they may be asked; of several tests, the first."""
    sets = [
        SetFiles([file for file, _ in files], Role.TEST, part=part, versions=[v for _, v in files])
        for part in ORDER
        if (files := parts.get(part))
    ]
    return TaskFiles(name, slug_of(name), sets, task_file, is_table=True)


def _paths(names: Iterable[str], endings: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The parts of the names that count, without the one folder that holds all others."""
    paths = {
        name: parts
        for name in names
        for parts in [PurePosixPath(name).parts]
        if name.lower().endswith(endings)
        and not any(part.startswith((".", "__MACOSX")) for part in parts)
    }
    tops = {parts[0] for parts in paths.values()}
    if len(tops) == 1 and all(len(parts) == 3 for parts in paths.values()):
        return {name: parts[1:] for name, parts in paths.items()}
    return paths


def slug_of(name: str) -> str:
    slug = slugify(name)[:80]
    if not slug:
        raise BadInput(f"{name}: name the task with letters from a to z or digits.")
    return SLUGS.get(slug, slug)


def distinct(tasks: Iterable[TaskFiles]) -> list[TaskFiles]:
    by_slug: dict[str, TaskFiles] = {}
    for task in tasks:
        other = by_slug.setdefault(task.slug, task)
        if other is not task:
            raise BadInput(
                f"{other.name} and {task.name} are both the task {task.slug}; rename one of them."
            )
    return list(by_slug.values())
