"""Importing episodes that FLEX's toolkit wrote: one task for each of its data sets."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.contrib.auth.models import User

from annotation.benchmarks.exposure import exposure_key_for
from annotation.benchmarks.formats.content import ReadSet, ReadTask, records_of
from annotation.benchmarks.formats.flex import TRANSFERS, FlexChallenge, slug_of
from annotation.benchmarks.importing import check_names, store_tasks
from annotation.benchmarks.storing import TaskReport
from annotation.kinds.choice import KIND as CHOICE
from annotation.models import Role, Task
from annotation.models.errors import BadInput

SOURCE = "FLEX's toolkit"


@dataclass(frozen=True)
class EpisodesReport:
    benchmark: str
    # The published challenge that these episodes are, by their checksum.
    published: str
    checksum: str
    tasks: list[TaskReport]
    few_shot: int
    zero_shot: int


def import_episodes(
    paths: Sequence[Path], *, name: str, owner: User | None = None
) -> EpisodesReport:
    """The rows of a challenge and its answer key, in either order; all of it is stored, or nothing.
    Raises BadInput, and Frozen where a started study would change."""
    check_names(name)
    rows, answers = _both(paths)
    with _opened(rows) as lines, _opened(answers) as key:
        challenge = FlexChallenge(lines, key, rows.name, answers.name)
    _check_slugs(challenge)
    counts: Counter[str] = Counter()

    def read() -> Iterator[ReadTask]:
        counts.clear()
        for dataset in challenge.datasets:
            present = Task.objects.filter(benchmark__name=name, slug=slug_of(dataset)).first()
            _check_same(present, challenge)
            # One data set at a time: together they may fill the memory.
            sets = challenge.sets(dataset)
            counts.update(read_set.role for read_set in sets)
            yield _read_task(dataset, sets, challenge)

    reports = store_tasks(name, read, owner=owner)
    return EpisodesReport(
        benchmark=name,
        published=challenge.published,
        checksum=challenge.checksum,
        tasks=reports,
        few_shot=counts[Role.TRAINING],
        zero_shot=counts[Role.TEST] - counts[Role.TRAINING],
    )


def _both(paths: Sequence[Path]) -> tuple[Path, Path]:
    """The challenge, then its answer key."""
    if len(paths) != 2:
        raise BadInput("Give two files: the rows of a challenge, and its answer key.")
    challenges = [path for path in paths if _is_challenge(path)]
    if len(challenges) != 1:
        what = "both are" if challenges else "neither is"
        raise BadInput(
            f"One of the two files must be a challenge, with “is_train” in its rows; {what}."
        )
    return challenges[0], paths[1 - list(paths).index(challenges[0])]


def _is_challenge(path: Path) -> bool:
    with _opened(path) as lines:
        return "is_train" in next(records_of(lines, path.name)).fields


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def _check_slugs(challenge: FlexChallenge) -> None:
    datasets: dict[str, str] = {}
    for dataset in challenge.datasets:
        other = datasets.setdefault(slug_of(dataset), dataset)
        if other != dataset:
            raise BadInput(
                f"{challenge.file}: the data sets {other} and {dataset} would be one task; "
                "rename one of them."
            )


def _check_same(present: Task | None, challenge: FlexChallenge) -> None:
    """Episodes are imported once: existing ones must be these very ones."""
    if present is None:
        return
    known = present.sampling.get("checksum")
    if known != challenge.checksum:
        raise BadInput(
            f"{challenge.file}: the task {present.slug} already exists with other sets; its "
            f"checksum is {str(known)[:12]}…, not {challenge.checksum[:12]}…. "
            "Import these episodes as another benchmark (--name)."
        )


def _read_task(dataset: str, sets: Sequence[ReadSet], challenge: FlexChallenge) -> ReadTask:
    contents = {row.content_hash for read_set in sets for row in read_set.examples}
    return ReadTask(
        slug=slug_of(dataset),
        own={
            "kind": CHOICE.name,
            "sampling": {
                "kind": "episodes",
                "source": SOURCE,
                "challenge": challenge.published,
                "checksum": challenge.checksum,
            },
        },
        defaults={
            "title": dataset,
            "transfer": TRANSFERS.get(dataset, ""),
            "exposure_key": exposure_key_for(contents),
        },
        sets=sets,
    )
