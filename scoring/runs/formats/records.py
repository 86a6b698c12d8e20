"""What a reader of predictions passes to the import, whatever the format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class RunFields:
    """What a file says of a run; empty or None if nothing. `shots` may be "all"."""

    benchmark: str = ""
    task: str = ""
    system: str = ""
    method: str = ""
    parameters: str = ""
    shots: int | str | None = None
    split: int | None = None
    episode: int | None = None
    citation: str = ""
    url: str = ""
    uses_labelled: bool | None = None
    uses_unlabelled: bool | None = None
    protocol: tuple[str, ...] = ()


@dataclass(frozen=True)
class FreeText:
    """What a system wrote, still to be turned into a set of pieces (see free_text.py)."""

    text: str


@dataclass(frozen=True)
class ClassNumber:
    """A label by its index among the choices of its test set."""

    number: int


@dataclass(frozen=True)
class Prompted:
    """What an exported prompt says of itself, which is believed before anything that a tool or an
    option says."""

    run: RunFields
    # The example's own id.
    example: str
    # The texts that were offered, and the labels that they stand for.
    options: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    # How the prompt was made.
    how: Mapping[str, Any] = field(default_factory=dict)

    def label_of(self, option: str) -> str:
        return dict(zip(self.options, self.labels, strict=True)).get(option, option)


Answer = tuple[str, ...] | FreeText | ClassNumber


@dataclass(frozen=True)
class ReadPrediction:
    where: str
    run: RunFields
    answer: Answer
    # The example by its id, or by texts that hold its context and question, or by both.
    source_id: str | None = None
    texts: tuple[str, ...] = ()
    # Or by its place in the test set, from 0, in a file without ids.
    place: int | None = None
    # What the example says of itself, where it is an exported prompt.
    prompted: Prompted | None = None
    # The id also gives the task and the episode.
    any_episode: bool = False


@dataclass(frozen=True)
class Refused:
    """A record that cannot be used."""

    where: str
    reason: str


@dataclass(frozen=True)
class LeftOut:
    """A record that was not asked for, such as another filter's."""

    reason: str


Read = ReadPrediction | Refused | LeftOut


@dataclass(frozen=True)
class ReadOptions:
    """What the importer says besides the file."""

    # These override what the file says.
    run: RunFields = field(default_factory=RunFields)
    # Which filter or scorer counts, if a file holds several.
    choice: str = ""
    epoch: int = 1
    # Free text: what separates pieces, and which word means none.
    separator: str = ""
    none_word: str = ""
    # What the numbers of labels mean, from 0, in a file that has numbers alone.
    labels: tuple[str, ...] = ()
    # Store answers that the system has given already, with other shots or another split.
    same_answers: bool = False


class Reader(Protocol):
    """One module per format."""

    NAME: str

    def fits(self, path: Path) -> bool: ...

    def read(self, path: Path, options: ReadOptions) -> Iterator[Read]: ...
