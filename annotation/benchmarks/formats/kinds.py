"""Of which kind a table's questions are, where nothing names it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from annotation.benchmarks.formats.content import Ambiguous, ReadExample, Span
from annotation.benchmarks.formats.tables import TableReader
from annotation.kinds import answer_kinds
from annotation.kinds.choice import MOST_LABELS, label_of
from annotation.kinds.spans import KIND as SPANS
from scoring.core.normalisation import in_one_form, read_number
from scoring.core.spans import holds

# Fewer rows than this repeat nothing.
FEW = 8


def kind_of_table(rows: Sequence[ReadExample], tables: TableReader, *, is_named: bool) -> str:
    """is_named: whether the labels are. Labels have to repeat, a text is typed, and what stands in
    the text is marked in it. Raises Ambiguous."""
    if any(row.options or row.candidates for row in rows):
        return next(kind.name for kind in answer_kinds() if kind.fits(rows))
    golds = [label_of(row) for row in rows]
    marked = tables.has_text and all(_is_in_text(row) for row in rows)
    if not all(golds):
        return (
            SPANS.name if marked or any(len(t) > 1 for r in rows for t in r.gold_texts) else "text"
        )
    counts = Counter(in_one_form(gold or "").strip() for gold in golds)
    if is_named:
        return "choice"
    if all(read_number(gold) is not None for gold in counts):
        return _of_numbers(rows, counts)
    if marked:
        return SPANS.name
    repeat = len(counts) * 2 <= len(rows)
    if (repeat and len(counts) <= MOST_LABELS) or (tables.is_label and len(rows) < FEW):
        return "choice"
    if not tables.is_label and len(counts) * 5 > len(rows) * 4:
        return "text"
    raise Ambiguous(
        rows[0].where,
        f"{len(rows)} rows have {len(counts)} different answers (“{golds[0]}”).",
        ("kind", "choice", "labels to choose from"),
        ("kind", "text", "answers to type"),
        row=rows[0].shown,
    )


def _of_numbers(rows: Sequence[ReadExample], counts: Counter[str]) -> str:
    """Numbers from 0 on that repeat may stand for labels."""
    are_labels = {*counts} == {*map(str, range(len(counts)))} and len(counts) * 2 <= len(rows)
    if not are_labels:
        return "number"
    names = ", ".join(f'"…{number}"' for number in sorted(counts))
    raise Ambiguous(
        rows[0].where,
        f"every answer is one of the numbers {', '.join(sorted(counts))}.",
        ("kind", "number", "a number to type"),
        ("kind", "choice", f'a button for each; with their names: "label_names": [{names}]'),
        row=rows[0].shown,
    )


def _is_in_text(row: ReadExample) -> bool:
    texts = [text for texts in row.gold_texts for text in texts]
    return all(any(holds(segment, text) for segment in row.context) for text in texts)


def with_plain_labels(rows: Sequence[ReadExample]) -> list[ReadExample]:
    """Labels that look alike are one: without white space around them, in one form of letters."""
    return [
        replace(row, alternatives=[[_plain(span) for span in spans] for spans in row.alternatives])
        for row in rows
    ]


def _plain(span: Span) -> Span:
    return {"text": in_one_form(span["text"]).strip()}
