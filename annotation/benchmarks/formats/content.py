"""What a reader of a benchmark format passes to the import, whatever the format."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from annotation.models import Role
from scoring.core.normalisation import NONE

Span = dict[str, Any]
Alternatives = list[list[Span]]


@dataclass(frozen=True)
class ReadExample:
    """One row of a file. No other field of the row is kept."""

    where: str
    role: str
    source_id: str
    context: tuple[str, ...]
    question: str
    candidates: tuple[tuple[int, int, int], ...]
    alternatives: Alternatives

    @cached_property
    def content_hash(self) -> str:
        return checksum([self.context, self.question, self.candidates])

    @cached_property
    def context_hash(self) -> str:
        return checksum(self.context)

    @property
    def identity(self) -> str:
        """Training ids start afresh in every file, so training rows are identified by content."""
        if self.role == Role.TRAINING:
            return f"content:{self.content_hash}"
        return f"id:{self.source_id}"

    @property
    def gold_texts(self) -> list[list[str]]:
        return [[span["text"] for span in spans] for spans in self.alternatives]


@dataclass(frozen=True)
class ReadSet:
    name: str
    role: str
    file: str
    examples: Sequence[ReadExample]
    choices: Sequence[str] = ()
    shots: int | None = None
    split: int | None = None
    episode: int | None = None

    @cached_property
    def checksum(self) -> str:
        return checksum([[row.identity, row.content_hash] for row in self.examples])


@dataclass(frozen=True)
class ReadTask:
    """`own` are the task's fields that its task file names: they win at every import;
    `defaults` fill a new task, and what is still empty in an existing one."""

    slug: str
    own: dict[str, Any]
    defaults: dict[str, Any]
    sets: Sequence[ReadSet]
    # What the reader found and corrected, by the audit's code: one line per case.
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        kind: str = self.own.get("kind") or self.defaults["kind"]
        return kind

    @property
    def normalisation(self) -> str:
        normalisation: str = self.own.get("normalisation", NONE)
        return normalisation

    def examples(self) -> dict[str, ReadExample]:
        """Every example once, by its identity; the first row that names it counts."""
        examples: dict[str, ReadExample] = {}
        for read_set in self.sets:
            for row in read_set.examples:
                examples.setdefault(row.identity, row)
        return examples


def checksum(value: object) -> str:
    """SHA-256 of a value's JSON, the same on every machine."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
