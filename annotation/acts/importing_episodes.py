"""Importing episodes that FLEX's toolkit wrote: one task for each of its data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from annotation.acts.importing import TaskReport, save_task
from annotation.acts.sampling import check_names, episode_sets
from annotation.errors import BadInput
from annotation.exposure import exposure_key_for
from annotation.formats.content import ReadTask
from annotation.formats.flex import (
    TRANSFERS,
    FlexChallenge,
    FlexEpisode,
    read_challenge,
    slug_of,
)
from annotation.formats.lines import read_records
from annotation.models import Benchmark, Kind, Task

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


def import_episodes(paths: Sequence[Path], *, name: str) -> EpisodesReport:
    """The rows of a challenge and its answer key, in either order; all of it is stored or
    nothing. Raises BadInput, and Frozen where a started study would change."""
    check_names(name)
    challenge = read_challenge(*_both(paths))
    _check_slugs(challenge)
    with transaction.atomic():
        benchmark, _ = Benchmark.objects.select_for_update().get_or_create(name=name)
        for dataset in challenge.by_dataset:
            _check_same(
                Task.objects.filter(benchmark=benchmark, slug=slug_of(dataset)).first(), challenge
            )
        reports = [
            save_task(benchmark, _read_task(dataset, episodes, challenge))
            for dataset, episodes in challenge.by_dataset.items()
        ]
    every = [episode for episodes in challenge.by_dataset.values() for episode in episodes]
    few_shot = sum(bool(episode.training) for episode in every)
    return EpisodesReport(
        benchmark=name,
        published=challenge.published,
        checksum=challenge.checksum,
        tasks=reports,
        few_shot=few_shot,
        zero_shot=len(every) - few_shot,
    )


def _both(paths: Sequence[Path]) -> tuple[tuple[bytes, str], tuple[bytes, str]]:
    """The challenge, then its answer key."""
    if len(paths) != 2:
        raise BadInput("Give two files: the rows of a challenge, and its answer key.")
    files = [_read(path) for path in paths]
    challenges = [file for file in files if "is_train" in next(read_records(*file)).fields]
    if len(challenges) != 1:
        what = "both are" if challenges else "neither is"
        raise BadInput(
            f"One of the two files must be a challenge, with “is_train” in its rows; {what}."
        )
    return challenges[0], files[1 - files.index(challenges[0])]


def _read(path: Path) -> tuple[bytes, str]:
    try:
        return path.read_bytes(), path.name
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error


def _check_slugs(challenge: FlexChallenge) -> None:
    datasets: dict[str, str] = {}
    for dataset in challenge.by_dataset:
        other = datasets.setdefault(slug_of(dataset), dataset)
        if other != dataset:
            raise BadInput(
                f"{challenge.file}: the data sets {other} and {dataset} would be one task; "
                "rename one of them."
            )


def _check_same(present: Task | None, challenge: FlexChallenge) -> None:
    """Episodes are imported once: what is there must be these very ones."""
    if present is None:
        return
    known = present.sampling.get("checksum")
    if known != challenge.checksum:
        raise BadInput(
            f"{challenge.file}: the task {present.slug} is there and holds other sets; its "
            f"checksum is {str(known)[:12]}…, not {challenge.checksum[:12]}…. "
            "Import these episodes as another benchmark (--name)."
        )


def _read_task(dataset: str, episodes: Sequence[FlexEpisode], challenge: FlexChallenge) -> ReadTask:
    sets = [
        read_set
        for number, episode in enumerate(episodes, start=1)
        for read_set in episode_sets(
            number=number,
            labels=episode.labels,
            training=episode.training,
            test=episode.test,
            file=f"{challenge.file}: task_id {episode.task_id}",
        )
    ]
    contents = {row.content_hash for read_set in sets for row in read_set.examples}
    return ReadTask(
        slug=slug_of(dataset),
        own={
            "kind": Kind.CHOICE,
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
