"""The rows of a benchmark's files, in the fields of CLUES: each becomes an example."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from annotation.benchmarks.archives import Files
from annotation.benchmarks.formats import content, images, own_options
from annotation.benchmarks.formats.cells import ask_about_unused, holds_text
from annotation.benchmarks.formats.known_sets import is_aside
from scoring.core.normalisation import in_one_form

MOST_GROUPS, LONGEST_GROUP = 10, content.LONGEST_GROUP
# Those of CLUES; is_impossible and plausible_answers say nothing that the answer does not.
FIELDS = {
    *("id", "context", "question", "answer", "entities", "choices", "options", "groups"),
    *("is_impossible", "plausible_answers", "proposed", *images.FIELDS, images.TEXTS),
    *("is_settled", "part", "id_of"),
}


class RowReader:
    def __init__(self, files: Files, *, as_set: bool = False) -> None:
        self._images = images.ImageReader(files)
        # Whether several options in an answer are one set, not alternatives.
        self._as_set = as_set
        self.canary = ""
        self.notes: dict[str, list[str]] = defaultdict(list)
        # Whether an answer is a list of alternatives, not of the pieces of one.
        self.lists_alternatives = False
        # Of all rows, the last of them, and in how many of them which field that is not used holds
        # text.
        self.count, self.last = 0, content.Record("", 0, {})
        self.texts: Counter[str] = Counter()

    def check_unused(self, known: Collection[str]) -> None:
        """Raise Ambiguous for fields of text that nothing is made of, beside the known ones."""
        often = [name for name, count in self.texts.items() if 2 * count >= self.count]
        if names := sorted(name for name in often if name not in known and not is_aside(name)):
            ask_about_unused(self.last.file, names, self.last.fields)

    def read(self, record: content.Record, role: str) -> content.ReadExample:
        self.canary = self.canary or record.canary
        others = record.fields.keys() - FIELDS
        unused = sorted(name for name in others if not content.CANARY.fullmatch(name))
        record.check_unused(unused)
        self.texts.update(name for name in unused if holds_text(record.fields[name]))
        self.count, self.last = self.count + 1, record
        noted = self.notes["unused_columns"]
        noted += [name for name in unused if name not in noted]
        context, question = _read_context(record), record.text("question")
        # As in tables: a question without a text is the text.
        if context == ("",) and question.strip():
            context, question = (question,), ""
        if not all(segment.strip() for segment in context):
            self.notes["empty_context"].append(record.where)
        options = own_options.read_options(record)
        return content.ReadExample(
            where=record.where,
            role=role,
            source_id=_read_id(record),
            context=context,
            question=question,
            candidates=_read_candidates(record, context),
            alternatives=self._read_answer(record, context, options),
            options=options,
            image_files=self._images.read(record),
            groups=_read_groups(record),
            proposed=record.fields.get("proposed", ""),
            is_settled=record.fields.get("is_settled", False),
            part=record.fields.get("part", ""),
        )

    def _read_answer(
        self, record: content.Record, context: Sequence[str], options: Sequence[str]
    ) -> content.Alternatives:
        if options:
            named = own_options.read_answer(record, may_be_empty=self._as_set)
            return [[{"text": text}] for text in named]
        answer = record.field("answer")
        if not isinstance(answer, list):
            record.refuse(f"“answer” must be a list, but it is {content.json_type(answer)}.")
        if any(isinstance(entry, dict) for entry in answer):
            self.lists_alternatives = True
            entries = [[self._read_entry(record, entry, context)] for entry in answer]
            return self._each_once(record, entries)
        texts = [{"text": record.as_text(text, "each answer")} for text in answer]
        return self._each_once(record, [texts])

    def _each_once(
        self, record: content.Record, alternatives: content.Alternatives
    ) -> content.Alternatives:
        """Each alternative once, each of its texts once, without empty texts; no alternatives make
        one empty one."""
        kept: dict[frozenset[str], list[content.Span]] = {}
        for spans in alternatives:
            by_text: dict[str, content.Span] = {}
            for span in spans:
                if by_text.setdefault(span["text"], span) is not span and span["text"]:
                    self.notes["equal_pieces"].append(f"{record.where}: “{span['text']}”")
            by_text.pop("", None)
            kept.setdefault(frozenset(by_text), list(by_text.values()))
        return list(kept.values()) or [[]]

    def _read_entry(
        self, record: content.Record, entry: object, context: Sequence[str]
    ) -> content.Span:
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


def _read_context(record: content.Record) -> tuple[str, ...]:
    context = record.field("context")
    if isinstance(context, list) and context:
        return tuple(record.as_text(segment, "each part of “context”") for segment in context)
    if not isinstance(context, str):
        record.refuse("“context” must be a string or a list of strings.")
    return (record.text("context"),)


def _read_id(record: content.Record) -> str:
    value = record.field("id")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        record.refuse(f"“id” must be a string or a number, but it is {content.json_type(value)}.")
    text = record.as_text(str(value), "“id”")
    if not text or len(text) > content.LONGEST_ID:
        record.refuse(f"“id” must have 1 to {content.LONGEST_ID} characters.")
    return text


def _read_candidates(record: content.Record, context: Sequence[str]) -> content.Candidates:
    entities = record.fields.get("entities")
    if entities is None:
        return ()
    if not isinstance(entities, list):
        record.refuse(f"“entities” must be a list, but it is {content.json_type(entities)}.")
    if entities and len(context) > 1:
        record.refuse("“entities” need a context of one string, since they name no part of it.")
    return tuple(_read_entity(record, entity, context[0]) for entity in entities)


def _read_entity(record: content.Record, entity: object, text: str) -> tuple[int, int, int]:
    ends = entity if isinstance(entity, dict) else {}
    start, end = ends.get("start"), ends.get("end")
    if type(start) is not int or type(end) is not int:
        record.refuse("each of the “entities” must be an object with the numbers start and end.")
    if not 0 <= start <= end <= len(text):
        record.refuse(
            f"the entity from {start} to {end} does not lie in the context "
            f"of {len(text)} characters."
        )
    return (0, start, end)


def with_exclusive_ends(rows: Sequence[content.ReadExample]) -> list[content.ReadExample]:
    """CLUES's files have inclusive ends of entities; which they are is known by the gold, more of
    which is offered if they are read rightly."""
    longer = [
        replace(row, candidates=tuple((0, start, end + 1) for _, start, end in row.candidates))
        for row in rows
    ]
    return longer if _offered_gold(longer) > _offered_gold(rows) else list(rows)


def _offered_gold(rows: Iterable[content.ReadExample]) -> int:
    return sum(
        [in_one_form(row.context[0][start:end])]
        in [[*map(in_one_form, texts)] for texts in row.gold_texts]
        for row in rows
        for _, start, end in row.candidates
    )


def _read_groups(record: content.Record) -> dict[str, str]:
    groups = record.fields.get("groups") or {}
    if not isinstance(groups, dict) or len(groups) > MOST_GROUPS:
        record.refuse(f"“groups” must be an object of at most {MOST_GROUPS} texts.")
    texts = {name: record.as_text(text, f"“{name}”").strip() for name, text in groups.items()}
    for name, text in texts.items():
        if len(text) > LONGEST_GROUP or not 0 < len(name) <= LONGEST_GROUP:
            record.refuse(f"the group “{name[:40]}” is longer than {LONGEST_GROUP} characters.")
    return {name: text for name, text in texts.items() if text}
