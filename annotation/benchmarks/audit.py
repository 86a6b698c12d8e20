"""What a benchmark gets wrong. A finding is a warning with examples, never a crash.

`audit_task` gives the findings that `Task.audit` holds (their form: findings.py). The codes
are the names of the checks and the keys of READER_MESSAGES.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from annotation.benchmarks.chains import Contents, shots_and_split
from annotation.benchmarks.findings import (
    MOST_EXAMPLES,
    NOTE,
    WARNING,
    Finding,
    Material,
    Row,
    ceiling,
    floors,
    reach,
    several_alternatives,
    shortened,
    stands_in,
    warning,
)
from annotation.kinds import answer_kind
from annotation.models import ItemSet, Role, Task

# What a reader found in the files and corrected before anything was stored.
READER_MESSAGES = {
    "start_does_not_fit": (
        "Answers that are not where their answer_start says: {count}. Their position was left out; "
        "their text counts."
    ),
    "repeated_in_set": (
        "Rows that repeat the content of another row of their file: {count}. Each content is "
        "asked once, so these sets are smaller than their files."
    ),
    "gold_differs": (
        "Training rows whose gold differs from an equal row's elsewhere: {count}. The first row's "
        "gold counts."
    ),
    "empty_context": "Rows with an empty context, or an empty part of one: {count}.",
}


def audit_task(task: Task, notes: Mapping[str, Sequence[str]] | None = None) -> list[Finding]:
    """Every finding of a task as it is stored, after its reader's notes."""
    material = Material(task)
    findings = [check(material) for check in CHECKS]
    read = [warning(code, READER_MESSAGES[code], cases) for code, cases in (notes or {}).items()]
    return [finding for finding in (*read, *findings) if finding]


def shots_do_not_nest(material: Material) -> Finding | None:
    """By the numbers of their files; and the chains that do nest."""
    shots = sorted({shots_and_split(item_set)[0] for item_set in material.contents})
    if len(shots) < 2:
        return None
    paths = [chain.path for chain in material.chains]
    astray = _misnumbered(material.contents)
    sizes = "→".join(map(str, shots))
    chains = f"By content these splits nest ({sizes} shots): {', '.join(paths)}."
    if not astray:
        return Finding("shots_nest", NOTE, f"The shot sets nest under their numbers. {chains}")
    return Finding(
        "shots_do_not_nest",
        WARNING,
        f"Shot sets that do not hold the smaller set of their number: {len(astray)}. {chains} "
        "Batches are made by these chains; every set keeps its file's number.",
        tuple(item_set.name for item_set in astray[:MOST_EXAMPLES]),
        {"count": len(astray), "chains": paths},
    )


def shot_sets_without_chain(material: Material) -> Finding | None:
    nested = {item_set for chain in material.chains for item_set in chain.sets.values()}
    alone = [item_set for item_set in material.contents if item_set not in nested]
    return warning(
        "shot_sets_without_chain",
        "Shot sets that hold no chain of smaller sets, so that batches leave them out: {count}.",
        [item_set.name for item_set in alone],
    )


def gold_not_in_context(material: Material) -> Finding | None:
    if not answer_kind(material.task.kind).takes_pieces:
        return None
    spans = [(row, text) for row in material.distinct for text in sorted(row.gold)]
    absent = [row.says(f"“{text}”") for row, text in spans if not stands_in(text, row.example)]
    return warning(
        "gold_not_in_context",
        "Gold spans that do not occur in their context as written, so nobody can select them: "
        f"{{count}} of {len(spans)}.",
        absent,
    )


def gold_not_offered(material: Material) -> Finding | None:
    if not answer_kind(material.task.kind).takes_options:
        return None
    rows = [row for row in material.distinct if not material.givable(row)]
    return warning(
        "gold_not_offered",
        f"Examples that do not offer their gold answer: {{count}} of {len(material.distinct)}.",
        [row.says(", ".join(sorted(row.gold)) or "no answer") for row in rows],
    )


def labels_not_in_question(material: Material) -> Finding | None:
    if not answer_kind(material.task.kind).takes_labels:
        return None
    labels = {label for row in material.distinct for label in row.item_set.choices}
    unnamed = [
        label
        for label in sorted(labels)
        if any(label not in row.example.question for row in material.distinct)
    ]
    return warning(
        "labels_not_in_question",
        "Labels that are missing from some questions: {count}. The labels offered are those of the "
        "gold, whatever the question says.",
        unnamed,
    )


def training_in_test(material: Material) -> Finding | None:
    tested = {row.example.content_hash for row in material.test}
    both = [row for row in _training_once(material) if row.example.content_hash in tested]
    return warning(
        "training_in_test",
        "Training examples that are also test examples, so their gold is shown beforehand: "
        "{count}.",
        [row.says() for row in both],
    )


def context_in_both(material: Material) -> Finding | None:
    tested = {row.example.context_hash for row in material.test}
    contents = {row.example.content_hash for row in material.test}
    both = [
        row
        for row in _training_once(material)
        if row.example.context_hash in tested and row.example.content_hash not in contents
    ]
    return warning(
        "context_in_both",
        "Training examples that ask another question about a test context: {count}.",
        [row.says() for row in both],
    )


def equal_test_rows(material: Material) -> Finding | None:
    groups: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in material.test:
        groups[row.item_set.pk, row.example.content_hash].append(row)
    repeated = [row for group in groups.values() for row in group[1:]]
    other_gold = sum(
        any(row.gold != group[0].gold for row in group[1:]) for group in groups.values()
    )
    return warning(
        "equal_test_rows",
        "Test rows that repeat the content of another under a different id: "
        f"{{count}} of {len(material.test)}; contents with more than one gold: {other_gold}.",
        [row.says() for row in repeated],
        distinct=len(groups),
    )


def several_ids(material: Material) -> Finding | None:
    """One content under several ids, which is why a training example is identified by content."""
    ids: dict[int, dict[str, Row]] = defaultdict(dict)
    contents: dict[str, set[int]] = defaultdict(set)
    for row in material.training:
        ids[row.example.pk].setdefault(row.source_id, row)
        contents[row.source_id].add(row.example.pk)
    several = [rows for rows in ids.values() if len(rows) > 1]
    ambiguous = sum(len(examples) > 1 for examples in contents.values())
    if not several and not ambiguous:
        return None
    return Finding(
        "several_ids",
        NOTE,
        f"Training contents that have several ids: {len(several)} of {len(ids)}; ids used "
        f"for several contents: {ambiguous}. Their content tells training examples apart.",
        tuple(
            shortened(f"{', '.join(rows)}: {next(iter(rows.values())).example.context[0]}")
            for rows in several[:MOST_EXAMPLES]
        ),
        {"contents": len(ids), "several_ids": len(several), "ambiguous_ids": ambiguous},
    )


CHECKS: tuple[Callable[[Material], Finding | None], ...] = (
    shots_do_not_nest,
    shot_sets_without_chain,
    gold_not_in_context,
    gold_not_offered,
    labels_not_in_question,
    training_in_test,
    context_in_both,
    equal_test_rows,
    several_ids,
    several_alternatives,
    floors,
    ceiling,
    reach,
)


def _misnumbered(contents: Contents) -> list[ItemSet]:
    """Sets that do not hold the next smaller set of their own split number."""
    by_split: dict[int, list[ItemSet]] = defaultdict(list)
    for item_set in contents:
        by_split[shots_and_split(item_set)[1]].append(item_set)
    return [
        larger
        for sets in by_split.values()
        for smaller, larger in pairwise(sets)
        if not contents[smaller] <= contents[larger]
    ]


def _training_once(material: Material) -> list[Row]:
    return [row for row in material.distinct if row.item_set.role == Role.TRAINING]
