"""The rows of CLUES: one question about one context, with its gold and perhaps entities."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.benchmarks.formats.content import Alternatives, ReadExample, Span
from annotation.benchmarks.formats.lines import Record, json_type

LONGEST_ID = 200


class RowReader:
    """Reads rows of one task, and notes what it found and corrected."""

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = defaultdict(list)
        # Whether an answer is a list of alternatives, not of the pieces of one.
        self.lists_alternatives = False

    def read(self, record: Record, role: str) -> ReadExample:
        context = _read_context(record)
        if not all(segment.strip() for segment in context):
            self.notes["empty_context"].append(record.where)
        return ReadExample(
            where=record.where,
            role=role,
            source_id=_read_id(record),
            context=context,
            question=record.text("question"),
            candidates=_read_candidates(record, context),
            alternatives=self._read_answer(record, context),
        )

    def _read_answer(self, record: Record, context: Sequence[str]) -> Alternatives:
        answer = record.field("answer")
        if not isinstance(answer, list):
            record.refuse(f"“answer” must be a list, but it is {json_type(answer)}.")
        if any(isinstance(entry, dict) for entry in answer):
            self.lists_alternatives = True
            return _once_each([[self._read_entry(record, entry, context)] for entry in answer])
        return _once_each([[{"text": record.as_text(text, "each answer")} for text in answer]])

    def _read_entry(self, record: Record, entry: object, context: Sequence[str]) -> Span:
        if not isinstance(entry, dict) or "text" not in entry:
            record.refuse(
                "the entries of “answer” must all be strings, or all objects with a text."
            )
        text = record.as_text(entry["text"], "the text of an answer")
        start = entry.get("answer_start")
        if start is None:
            return {"text": text}
        if type(start) is not int:
            record.refuse("“answer_start” must be a whole number.")
        if start < 0 or not context[0].startswith(text, start):
            self.notes["start_does_not_fit"].append(f"{record.where}: “{text}” at {start}")
            return {"text": text}
        return {"text": text, "segment": 0, "start": start}


def _read_context(record: Record) -> tuple[str, ...]:
    context = record.field("context")
    if isinstance(context, list) and context:
        return tuple(record.as_text(segment, "each part of “context”") for segment in context)
    if not isinstance(context, str):
        record.refuse("“context” must be a string or a list of strings.")
    return (record.text("context"),)


def _read_id(record: Record) -> str:
    value = record.field("id")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        record.refuse(f"“id” must be a string or a number, but it is {json_type(value)}.")
    text = record.as_text(str(value), "“id”")
    if not text or len(text) > LONGEST_ID:
        record.refuse(f"“id” must have 1 to {LONGEST_ID} characters.")
    return text


def _read_candidates(record: Record, context: Sequence[str]) -> tuple[tuple[int, int, int], ...]:
    entities = record.fields.get("entities")
    if entities is None:
        return ()
    if not isinstance(entities, list):
        record.refuse(f"“entities” must be a list, but it is {json_type(entities)}.")
    if entities and len(context) > 1:
        record.refuse("“entities” need a context of one string, since they name no part of it.")
    return tuple(_read_entity(record, entity, context[0]) for entity in entities)


def _read_entity(record: Record, entity: object, text: str) -> tuple[int, int, int]:
    ends = entity if isinstance(entity, dict) else {}
    start, last = ends.get("start"), ends.get("end")
    if type(start) is not int or type(last) is not int:
        record.refuse("each of the “entities” must be an object with the numbers start and end.")
    if not 0 <= start <= last < len(text):
        record.refuse(
            f"the entity from {start} to {last} does not lie in the context "
            f"of {len(text)} characters."
        )
    # The file's ends are inclusive.
    return (0, start, last + 1)


def _once_each(alternatives: Alternatives) -> Alternatives:
    """Each alternative once, each of its texts once, without empty texts; no alternatives make one
    empty one."""
    kept: dict[frozenset[str], list[Span]] = {}
    for spans in alternatives:
        by_text: dict[str, Span] = {}
        for span in spans:
            by_text.setdefault(span["text"], span)
        by_text.pop("", None)
        kept.setdefault(frozenset(by_text), list(by_text.values()))
    return list(kept.values()) or [[]]
