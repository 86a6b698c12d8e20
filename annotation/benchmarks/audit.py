"""The audit of a task: what its checks find.

`Task.audit` is a list of findings, each {code, severity, message, examples, figures}:

- code names the check; severity is "warning" (something to be known before the data are
  used) or "note";
- message is one or two sentences; examples are up to five cases, as short texts;
- figures are the numbers behind the message: counts and shares as they are, and scores in
  percent by reference policy, such as {"any": {"empty": 51.3}, "set": {"empty": 51.3}}.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

from annotation.benchmarks.chains import Contents, shots_and_split, unchained
from annotation.benchmarks.material import (
    ALMOST_ALL,
    Material,
    Row,
    ceiling_score,
    floor_scores,
    floors_of,
    offers_gold,
    shortened,
)
from annotation.benchmarks.reader_notes import PLAIN, READER_MESSAGES
from annotation.kinds import answer_kind
from annotation.kinds.markup import unreadable
from annotation.models import Example, ItemSet, ReferencePolicy, Role, Task
from annotation.models.benchmark import Markup
from scoring.core.normalisation import NONE, beyond_keyboards
from scoring.core.spans import holds, measure_reach

WARNING, NOTE = "warning", "note"
MOST_EXAMPLES = 5
# How many items a document or a template has, and in how many it comes, to be taken for one.
CLUSTER_SIZES, FEWEST_CLUSTERS = (2, 10), 5
# From which share of the score, in percent, one answer is enough for a whole task.
CONSTANT = 90
# Fewer test examples say nothing of that.
FEW = 5
T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    code: str
    severity: str
    message: str
    examples: tuple[str, ...] = ()
    figures: dict[str, Any] = field(default_factory=dict)


def warning(code: str, message: str, cases: Sequence[str], **figures: int) -> Finding | None:
    if not cases:
        return None
    shown = tuple(shortened(case) for case in cases[:MOST_EXAMPLES])
    figures = {"count": len(cases), **figures}
    return Finding(code, WARNING, message.format(count=len(cases)), shown, figures)


def floors(material: Material) -> Finding | None:
    """The S1 of answers that ignore the question."""
    if not material.test:
        return None
    figures = _by_policy(material, floor_scores)
    policy = material.task.reference_policy
    scores = [f"{one.in_words} {figures[policy][one.rule]:.2f}" for one in floors_of(material)]
    message = (
        f"What no skill earns (S1 in percent, policy {policy}{_normalised(material)}): "
        f"{', '.join(scores)}."
    )
    best = max(figures[policy][floor.rule] for floor in floors_of(material) if floor.is_allowed)
    if best < CONSTANT or len(material.test) < FEW:
        return Finding("floors", NOTE, message, (), figures)
    message += " One answer, the same to every item, is right almost everywhere: people notice."
    return Finding("floors", WARNING, message, (), figures)


def ceiling(material: Material) -> Finding | None:
    """The S1 of the best answers that the task's form allows."""
    if not material.test:
        return None
    figures = _by_policy(material, ceiling_score)
    policy = material.task.reference_policy
    return Finding(
        "ceiling",
        NOTE if figures[policy] > ALMOST_ALL else WARNING,
        "The best answers that this task's form allows reach an S1 of "
        f"{figures[policy]:.2f} percent (policy {policy}{_normalised(material)}).",
        (),
        figures,
    )


def _by_policy(material: Material, score: Callable[[Material, str], T]) -> dict[str, T]:
    """Found once where it is the same under both, since no gold has several alternatives."""
    if all(len(row.texts) == 1 for row in material.test):
        return dict.fromkeys(ReferencePolicy.values, score(material, ReferencePolicy.ANY))
    return {policy: score(material, policy) for policy in ReferencePolicy.values}


def several_alternatives(material: Material) -> Finding | None:
    rows = [row for row in material.test if len(row.texts) > 1]
    if not rows:
        return None
    highest = ceiling_score(material, ReferencePolicy.SET)
    return Finding(
        "several_alternatives",
        NOTE,
        f"Test examples with several alternatives: {len(rows)} of {len(material.test)}. Under the "
        "reference policy set, which takes their union, one answer reaches an S1 of at most "
        f"{highest:.2f} percent on average; under any it is held against the best of them.",
        tuple(row.says(" | ".join(sorted(row.gold))) for row in rows[:MOST_EXAMPLES]),
        {"rows": len(rows), "ceiling_set": highest},
    )


def reach(material: Material) -> Finding | None:
    """How many of the gold spans two taps select."""
    if not answer_kind(material.task.kind).takes_pieces:
        return None
    spans = [
        (_segment_of(span, row.example), span["text"], span.get("start"))
        for row in material.distinct
        for alternative in row.alternatives
        for span in alternative
    ]
    measured = measure_reach(spans)
    if not measured.spans:
        return None
    return Finding(
        "reach",
        WARNING if measured.missed else NOTE,
        f"Gold spans of the contexts that two taps select: {measured.reached} of {measured.spans} "
        f"({100 * measured.share:.2f} %), without tapping punctuation {measured.by_words}."
        + (
            f" In scripts without spaces ({measured.unspaced} of them) the browser finds the "
            "words: a span that begins or ends within one is chosen by “Exact”."
            if measured.unspaced
            else ""
        ),
        tuple(shortened(f"“{text}”") for text in measured.missed[:MOST_EXAMPLES]),
        {name: getattr(measured, name) for name in ("share", "reached", "by_words", "spans")},
    )


def typed_comparison(material: Material) -> Finding | None:
    """How typed answers are compared, where a task can choose: it may have named nothing."""
    known, named = answer_kind(material.task.kind).normalisations, material.task.normalisation
    if len(known) == 1:
        return None
    message = (
        f"Typed answers, of people and models alike, are compared under the normalisation {named}; "
        f"“normalisation” in the task's file names another, as long as nobody has worked on it: "
        f"{', '.join(known)}."
    )
    return Finding("typed_comparison", NOTE, message, (), {"normalisation": named})


def gold_beyond_keyboards(material: Material) -> Finding | None:
    """Typed answers cannot match it, though they look the same."""
    normalisation = material.task.normalisation
    if len(answer_kind(material.task.kind).normalisations) == 1:
        return None
    cases = []
    for row in material.distinct:
        beyond = [beyond_keyboards(text, normalisation) for texts in row.texts for text in texts]
        if beyond and all(beyond):
            signs = " ".join(f"U+{ord(sign):04X}" for sign in beyond[0])
            cases.append(row.says(f"{' / '.join(sorted(row.gold))} ({signs})"))
    return warning(
        "gold_beyond_keyboards",
        "Examples whose gold has signs that usual keyboards do not give: {count}. What is typed "
        "cannot match it. The normalisation typed takes apostrophes, quotes, dashes and spaces of "
        "any form for the plain ones; other signs have to go from the file.",
        cases,
    )


def _normalised(material: Material) -> str:
    """Named if there is any."""
    normalisation = material.task.normalisation
    return f", normalisation {normalisation}" if normalisation != NONE else ""


def _segment_of(span: Mapping[str, Any], example: Example) -> str:
    """The segment that a gold span names, else the first one that holds it."""
    if "segment" in span:
        named: str = example.context[span["segment"]]
        return named
    holding = [segment for segment in example.context if holds(segment, span["text"])]
    return holding[0] if holding else ""


def audit_task(task: Task, notes: Mapping[str, Sequence[str]] | None = None) -> list[Finding]:
    material = Material(task)
    findings = [check(material) for check in CHECKS]
    return [finding for finding in (*reader_findings(notes or {}), *findings) if finding]


def reader_findings(notes: Mapping[str, Sequence[str]]) -> list[Finding]:
    findings = [_read_finding(code, cases) for code, cases in notes.items()]
    return [finding for finding in findings if finding]


def _read_finding(code: str, cases: Sequence[str]) -> Finding | None:
    finding = warning(code, READER_MESSAGES[code], cases)
    if finding is None or code not in PLAIN:
        return finding
    return replace(finding, severity=NOTE, examples=(shortened("; ".join(cases)),))


def shots_do_not_nest(material: Material) -> Finding | None:
    """Tells which shot sets do not nest by the numbers of their files; and the chains that do."""
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
    return warning(
        "shot_sets_without_chain",
        "Shot sets that hold no chain of smaller sets, so that batches leave them out: {count}.",
        [item_set.name for item_set in unchained(material.contents, material.chains)],
    )


def gold_not_in_context(material: Material) -> Finding | None:
    if not answer_kind(material.task.kind).takes_pieces:
        return None
    spans = [(row, text) for row in material.distinct for text in sorted(row.gold)]
    absent = [
        row.says(f"“{text}”")
        for row, text in spans
        if not any(holds(segment, text) for segment in row.example.context)
    ]
    return warning(
        "gold_not_in_context",
        "Gold spans that do not occur in their context as written, so nobody can select them: "
        f"{{count}} of {len(spans)}.",
        absent,
    )


def gold_not_offered(material: Material) -> Finding | None:
    rows = [row for row in material.distinct if not offers_gold(material.task, row)]
    return warning(
        "gold_not_offered",
        f"Examples that do not offer their gold answer: {{count}} of {len(material.distinct)}.",
        [row.says(", ".join(sorted(row.gold)) or "no answer") for row in rows],
    )


def labels_not_in_question(material: Material) -> Finding | None:
    """A note, where questions name the labels at all."""
    if not answer_kind(material.task.kind).takes_labels:
        return None
    labels = sorted({label for row in material.distinct for label in row.item_set.choices})
    questions = {row.example.question for row in material.distinct}
    if not any(label in question for label in labels for question in questions):
        return None
    finding = warning(
        "labels_not_in_question",
        "Labels that are missing from some questions: {count}. They are offered all the same.",
        [label for label in labels if any(label not in question for question in questions)],
    )
    return finding and replace(finding, severity=NOTE)


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
    other_gold = sum(any(row.gold != rows[0].gold for row in rows[1:]) for rows in groups.values())
    return warning(
        "equal_test_rows",
        "Test rows that repeat the content of another under a different id: "
        f"{{count}} of {len(material.test)}; contents with more than one gold: {other_gold}.",
        [row.says() for row in repeated],
        distinct=len(groups),
    )


def likely_clusters(material: Material) -> Finding | None:
    """Groups of about a document's size, whose items may hang together beyond their texts."""
    by_group: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in material.test:
        for name, value in row.example.groups.items():
            by_group[name][value].add(row.example.context_hash)
    sizes = {
        name: sum(map(len, values.values())) / len(values) for name, values in by_group.items()
    }
    small, large = CLUSTER_SIZES
    likely = [
        name
        for name, size in sizes.items()
        if len(by_group[name]) >= FEWEST_CLUSTERS and small <= size <= large
    ]
    finding = warning(
        "likely_clusters",
        "Groups with a few test items to each value: {count}. If a value is a document, a story or "
        "a template, whose items hang together, declare it as clusters in the settings of the "
        "study.",
        likely,
    )
    return finding and replace(finding, severity=NOTE)


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


def unreadable_mathematics(material: Material) -> Finding | None:
    if material.task.markup != Markup.MARKDOWN:
        return None
    cases = [
        row.says(formula)
        for row in material.distinct
        for text in (*row.example.context, row.example.question, *row.example.options)
        for formula in unreadable(text)
    ]
    message = "Formulas that cannot be read, and are shown as they were written: {count}."
    return warning("unreadable_mathematics", message, cases)


def images_without_text(material: Material) -> Finding | None:
    rows = [row for row in material.distinct if not all(one["text"] for one in row.example.images)]
    return warning(
        "images_without_text",
        "Examples with an image that no text describes, so that people who cannot see it cannot "
        "answer: {count}.",
        [row.says() for row in rows],
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
    likely_clusters,
    several_ids,
    several_alternatives,
    unreadable_mathematics,
    images_without_text,
    typed_comparison,
    gold_beyond_keyboards,
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
