"""Tables of texts with one label each.

Several text fields make several segments, such as premise and hypothesis. `id` and `question`
fields are used if present; all other fields are ignored.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from annotation.benchmarks.formats.content import (
    LONGEST_ID,
    ReadExample,
    Record,
    json_type,
    note_differing_gold,
    once_each,
)
from annotation.benchmarks.formats.files import read_table
from annotation.benchmarks.formats.known_sets import HIDDEN
from annotation.models import Role
from annotation.models.errors import BadInput

DEFAULT_QUESTION = "Which label fits best?"


@dataclass(frozen=True)
class LabelledData:
    """Each content once, in the file's order."""

    file: str
    examples: tuple[ReadExample, ...]
    notes: dict[str, list[str]] = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, str]:
        """The labels by content, which a sample is drawn from: a file's order does not matter."""
        return {example.content_hash: example.label for example in self.examples}


def read_labelled(
    data: bytes,
    file: str,
    *,
    texts: Sequence[str] = ("text",),
    label: str = "label",
    question: str = DEFAULT_QUESTION,
) -> LabelledData:
    """Read labelled texts from these fields; the question is that of rows that have none. Raises
    BadInput at the first row that cannot be used."""
    records = read_table(data, file)
    labelled = distinct(file, (_read_example(record, texts, label, question) for record in records))
    if not labelled.examples:
        raise BadInput(f"{file} is empty: it needs a heading and one row for each text.")
    return labelled


def labelled_example(
    *,
    where: str,
    source_id: str,
    context: Sequence[str],
    question: str,
    label: str,
    role: str = Role.TEST,
) -> ReadExample:
    gold = [[{"text": label}]]
    return ReadExample(where, role, source_id, tuple(context), question, (), gold, copy=1)


def distinct(file: str, examples: Iterator[ReadExample]) -> LabelledData:
    """A person answers a content once, so a repeated one is left out; the first label counts."""
    rows, notes = list(examples), defaultdict[str, list[str]](list)
    kept = once_each(rows, notes)
    note_differing_gold(rows, notes)
    return LabelledData(file, tuple(kept), notes)


def _read_example(record: Record, texts: Sequence[str], label: str, question: str) -> ReadExample:
    context = [text for name in texts for text in _segments(record, name)]
    if not any(segment.strip() for segment in context):
        record.refuse("the text is empty.")
    question = record.fields.get("question") or question
    named = record.fields.get("id", record.line)
    return labelled_example(
        where=record.where,
        source_id=record.as_text(str(named), "“id”").strip()[:LONGEST_ID] or str(record.line),
        context=context,
        question=record.as_text(question, "“question”"),
        label=_read_label(record, label),
    )


def _segments(record: Record, name: str) -> list[str]:
    value = record.field(name)
    if isinstance(value, list) and value:
        return [record.as_text(segment, f"each part of “{name}”") for segment in value]
    return [record.as_text(value, f"“{name}”")]


def _read_label(record: Record, name: str) -> str:
    value = record.field(name)
    if str(value or "").strip() and str(value).strip().lower() in HIDDEN:
        record.refuse(f"“{name}” is “{value}”: there is no label. Leave such rows out of the file.")
    if isinstance(value, bool) or not isinstance(value, str | int):
        record.refuse(f"“{name}” must be a label, but it is {json_type(value)}.")
    label = record.as_text(str(value), f"“{name}”").strip()
    if not label:
        record.refuse(f"“{name}” is empty.")
    return label
