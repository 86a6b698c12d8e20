"""Drawing shot sets out of a labelled part by a seed: nested, and by label where labels repeat. The
order of a file does not matter, and more sets never change others."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

from annotation.benchmarks.archives import SentFile
from annotation.benchmarks.formats.content import ReadExample, ReadSet
from annotation.models import Role
from annotation.models.errors import BadInput
from scoring.core.episodes import Draws

MOST_SHOTS, MOST_SPLITS = 1_000, 100


@dataclass(frozen=True)
class Draw:
    """Sets of these sizes for so many splits, from a file or from the part that lies beside the
    test set; or from the rows that a test set of `test` leaves of one file."""

    shots: Sequence[int]
    splits: int = 5
    seed: int = 0
    source: Path | SentFile | None = None
    test: int = 0

    def __post_init__(self) -> None:
        if not all(0 < shots <= MOST_SHOTS for shots in self.shots):
            raise BadInput(f"A shot set holds 1 to {MOST_SHOTS} examples.")
        if not 0 < self.splits <= MOST_SPLITS:
            raise BadInput(f"There can be 1 to {MOST_SPLITS} splits.")
        if min(self.seed, self.test) < 0:
            raise BadInput("The seed and the size of a test set are whole numbers from 0.")


def with_drawn(sets: Sequence[ReadSet], parts: Sequence[ReadSet], draw: Draw) -> list[ReadSet]:
    """The sets, and those that are drawn out of the labelled parts. No shot set teaches the content
    of a test example. Raises BadInput."""
    if draw.test:
        sets, parts = _divided(sets, draw)
    asked = {row.content_hash for part in sets if part.role == Role.TEST for row in part.examples}
    rows = _distinct(row for part in parts for row in part.examples)
    rows = [row for row in rows if row.content_hash not in asked]
    file = parts[0].file if parts else sets[-1].file
    _check_room(file, len(rows), max(draw.shots), f"that are not in {sets[-1].file}")
    drawn = list(_drawn(rows, file, draw))
    if taken := {read_set.name for read_set in sets} & {drawn_set.name for drawn_set in drawn}:
        raise BadInput(f"{file}: there is a set {min(taken)} already; draw other sizes.")
    return [*drawn, *sets]


def _divided(sets: Sequence[ReadSet], draw: Draw) -> tuple[list[ReadSet], list[ReadSet]]:
    """A test set drawn out of the one that was read, and the rest as a labelled part."""
    whole = sets[-1]
    rows = Draws(draw.seed, "test").shuffled(_distinct(iter(whole.examples)))
    _check_room(whole.file, len(rows), draw.test, "")
    rest = [replace(row, role=Role.TRAINING) for row in rows[draw.test :]]
    return [*sets[:-1], replace(whole, examples=rows[: draw.test])], [replace(whole, examples=rest)]


def _distinct(rows: Iterator[ReadExample]) -> list[ReadExample]:
    by_content = {row.content_hash: row for row in rows}
    return [by_content[content] for content in sorted(by_content)]


def _check_room(file: str, count: int, needed: int, which: str) -> None:
    if count < needed:
        raise BadInput(
            f"{file} holds {count} different rows {which}".rstrip()
            + f", too few to draw {needed} from."
        )


def _drawn(rows: Sequence[ReadExample], file: str, draw: Draw) -> Iterator[ReadSet]:
    """Each split is a draw of its own; its smaller sets begin its larger ones."""
    for split in range(1, draw.splits + 1):
        order = _in_turns(rows, Draws(draw.seed, "split", split))
        for shots in sorted(set(draw.shots)):
            yield ReadSet(
                f"train-{shots}-{split}",
                Role.TRAINING,
                f"{file}, drawn with seed {draw.seed}",
                order[:shots],
                shots=shots,
                split=split,
            )


def _in_turns(rows: Sequence[ReadExample], draws: Draws) -> list[ReadExample]:
    """Shuffle; by turns of each label where labels repeat, so that every beginning is balanced."""
    shuffled = draws.shuffled(rows)
    by_label: dict[str, list[ReadExample]] = defaultdict(list)
    for row in shuffled:
        by_label["" if row.options else str(row.gold_texts)].append(row)
    if len(by_label) * 2 > len(rows):
        return shuffled
    turns = zip_longest(*(by_label[label] for label in draws.shuffled(sorted(by_label))))
    return [row for row in chain.from_iterable(turns) if row is not None]
