"""The file of a backup: a zip with what it holds, the identity key, and a file for each table."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from zipfile import ZipFile

from annotation.benchmarks.archives import UNREADABLE
from annotation.models.errors import BadInput
from config.backups.rows import Content, content_of

FORMAT = 1
MANIFEST = "backup.json"
IDENTITY_KEY = "identity-key"
# What reading a file raises that is something else, or was damaged.
BROKEN = (*UNREADABLE, KeyError, TypeError, RecursionError)


def file_of(table: str) -> str:
    return f"tables/{table}.jsonl"


@dataclass(frozen=True)
class Held:
    """What a backup holds of one table."""

    table: str
    columns: list[str]
    rows: int
    checksum: str

    def matches(self, content: Content) -> bool:
        return (self.rows, self.checksum) == (content.rows, content.checksum)


@dataclass(frozen=True)
class Manifest:
    made_at: str
    migrations: list[tuple[str, str]]
    tables: list[Held]
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(held.rows for held in self.tables)

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


class Backup:
    """An opened backup, read through once: whoever gets one gets what was backed up.

    Raises BadInput for a file that is no backup, or not whole.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self._zip = ZipFile(file)
            self.manifest = _read_manifest(self._zip.read(MANIFEST))
            self.identity_key = self._zip.read(IDENTITY_KEY).decode().strip()
        except OSError as problem:
            raise BadInput(f"{file} can't be read: {problem.strerror or problem}.") from problem
        except BROKEN as problem:
            raise BadInput(f"{file} is no backup made by `manage.py backup`.") from problem
        self._check()

    def __enter__(self) -> "Backup":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._zip.close()

    def lines(self, held: Held) -> Iterator[bytes]:
        with self._zip.open(file_of(held.table)) as lines:
            yield from lines

    def _check(self) -> None:
        for held in self.manifest.tables:
            try:
                whole = held.matches(content_of(self.lines(held)))
            except BROKEN:
                whole = False
            if not whole:
                raise BadInput(
                    f"{self.file} is damaged: {file_of(held.table)} in it isn't what was backed "
                    "up. Take another backup."
                )


def _read_manifest(text: bytes) -> Manifest:
    read = json.loads(text)
    if read["format"] != FORMAT:
        raise BadInput(
            f"The backup has format {read['format']!r}, and this version reads {FORMAT}: "
            "restore it with the version that made it."
        )
    return Manifest(
        made_at=read["made_at"],
        migrations=[(app, name) for app, name in read["migrations"]],
        tables=[Held(**held) for held in read["tables"]],
    )
