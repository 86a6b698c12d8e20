"""Episodes as FLEX's toolkit writes them: the rows of a challenge, and its answer key.

Both are files of one JSON object a line. A challenge row is a training example with its class,
or a question without; the answer key has the class of every question. Classes are numbers, and
every episode has its own textual label for each.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha1
from typing import Any

from django.utils.text import slugify

from annotation.errors import BadInput
from annotation.formats.labelled import ContentExample, labelled_example
from annotation.formats.lines import Record, read_records
from annotation.models import Role, Transfer

# Challenges that are known by their checksum.
PUBLISHED = {
    "29332397efd53c29e77c4fe66405d13ae061306a": "flex",
    "95e0bd71d00fe562878a1cbe7591368b1b338034": "gao",
    "31823db1a92462cd4760526ba23c244789170968": "bansal",
    "5207d3b32f0b2a957badca3cc297e80b7dec18b9": "bao",
}
TRANSFERS = {
    **dict.fromkeys(("newsgroup", "reuters", "huffpost", "fewrel", "amazon"), Transfer.CLASS),
    **dict.fromkeys(("mr", "cr", "snli", "scitail"), Transfer.DOMAIN),
    **dict.fromkeys(("subj", "trec", "conll"), Transfer.TASK),
}
# Two sentences stand in one text, with this between them.
BETWEEN_SENTENCES = "###"
QUESTIONS = {
    "fewrel": "How is the thing between the # signs related to the one between the * signs?",
    "conll": "What is the thing between the # signs?",
    "snli": "If the first text is true, what about the second?",
    "scitail": "Does the first text show that the second is true?",
    "mr": "Which feeling does the text express?",
    "cr": "Which feeling does the text express?",
    "subj": "Does the text state facts or opinions?",
    "trec": "What kind of answer does this question ask for?",
}
TOPIC_QUESTION = "What is the text about?"


@dataclass(frozen=True)
class FlexEpisode:
    """task_id is its number in the whole challenge; labels by class number."""

    task_id: int
    dataset: str
    labels: tuple[str, ...]
    training: tuple[ContentExample, ...]
    test: tuple[ContentExample, ...]


@dataclass(frozen=True)
class FlexChallenge:
    file: str
    # Over the questions, as the toolkit takes it.
    checksum: str
    by_dataset: dict[str, list[FlexEpisode]]

    @property
    def published(self) -> str:
        return PUBLISHED.get(self.checksum, "")


@dataclass
class _Rows:
    """The rows of one episode, in the file's order."""

    training: list[Record] = field(default_factory=list)
    test: list[Record] = field(default_factory=list)


def read_challenge(challenge: tuple[bytes, str], answers: tuple[bytes, str]) -> FlexChallenge:
    """From both files, each with its name. Raises BadInput at the first row that cannot be
    used."""
    gold = _read_answers(*answers)
    rows: dict[int, _Rows] = defaultdict(_Rows)
    hashed: list[str] = []
    asked: dict[str, str] = {}
    for record in read_records(*challenge):
        episode = rows[_whole(record, "task_id")]
        if _flag(record, "is_train"):
            episode.training.append(record)
            continue
        episode.test.append(record)
        hashed.append(record.text("hashed_id"))
        question = record.text("question_id")
        if question in asked:
            record.refuse(f"the question “{question}” stands in {asked[question]} already.")
        asked[question] = record.where
    by_dataset: dict[str, list[FlexEpisode]] = defaultdict(list)
    copies: dict[str, _Copies] = defaultdict(_Copies)
    for task_id in sorted(rows):
        episode = _read_episode(task_id, rows[task_id], gold, copies, challenge[1])
        by_dataset[episode.dataset].append(episode)
    _check_answers(gold, asked, answers[1])
    return FlexChallenge(challenge[1], sha1("|".join(hashed).encode()).hexdigest(), by_dataset)


def question_of(dataset: str) -> str:
    return QUESTIONS.get(dataset, TOPIC_QUESTION)


def slug_of(dataset: str) -> str:
    return slugify(dataset)[:80]


def _read_answers(data: bytes, file: str) -> dict[str, tuple[int, str]]:
    """By question, its class and where the key says so."""
    found: dict[str, tuple[int, str]] = {}
    for record in read_records(data, file):
        question = record.text("question_id")
        if question in found:
            record.refuse(f"the question “{question}” stands in {found[question][1]} already.")
        if record.fields.get("is_distractor"):
            record.refuse("this question is a distractor, which this import does not know.")
        found[question] = (_class_number(record), record.where)
    return found


def _check_answers(gold: Iterable[str], asked: dict[str, str], file: str) -> None:
    for question in gold:
        if question not in asked:
            raise BadInput(
                f"{file}: the question “{question}” is not in the challenge; "
                "give the answer key of the same challenge."
            )


def _read_episode(
    task_id: int,
    rows: _Rows,
    gold: dict[str, tuple[int, str]],
    copies: dict[str, "_Copies"],
    file: str,
) -> FlexEpisode:
    if not rows.test:
        raise BadInput(f"{file}: the episode {task_id} has no question.")
    first = rows.test[0]
    labels = _labels(first)
    dataset = first.text("dataset")
    if not slug_of(dataset):
        first.refuse("“dataset” must be a name with letters or digits.")
    for record in (*rows.training, *rows.test):
        if record.text("dataset") != dataset or _labels(record) != labels:
            record.refuse(f"the rows of the episode {task_id} differ in their dataset or labels.")

    examples = list(
        copies[dataset].numbered(
            [
                *(
                    _example(row, Role.TRAINING, _class_number(row), labels)
                    for row in rows.training
                ),
                *(_example(row, Role.TEST, _gold_class(row, gold), labels) for row in rows.test),
            ]
        )
    )
    return FlexEpisode(
        task_id=task_id,
        dataset=dataset,
        labels=labels,
        training=tuple(examples[: len(rows.training)]),
        test=tuple(examples[len(rows.training) :]),
    )


def _gold_class(record: Record, gold: dict[str, tuple[int, str]]) -> int:
    known = gold.get(record.text("question_id"))
    if known is None:
        record.refuse("the answer key does not have this question.")
    return known[0]


class _Copies:
    """Tells apart equal texts of one data set: with other labels, or twice in one episode."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[str, int]]] = defaultdict(list)

    def numbered(self, examples: Iterable[ContentExample]) -> Iterator[ContentExample]:
        """All examples of one episode."""
        met: Counter[tuple[str, str]] = Counter()
        for each in examples:
            met[each.content_hash, each.label] += 1
            copy = (each.label, met[each.content_hash, each.label])
            known = self._known[each.content_hash]
            if copy not in known:
                known.append(copy)
            yield replace(each, copy=known.index(copy) + 1)


def _example(record: Record, role: str, number: int, labels: Sequence[str]) -> ContentExample:
    if number >= len(labels):
        record.refuse(f"the class {number} is none of the episode's {len(labels)}.")
    text = record.text("txt")
    if not text.strip():
        record.refuse("“txt” is empty: people can only work on texts.")
    return labelled_example(
        where=record.where,
        role=role,
        source_id=record.text("question_id" if role == Role.TEST else "hashed_id")[:200],
        context=_segments(text),
        question=question_of(record.text("dataset")),
        label=labels[number],
    )


def _segments(text: str) -> tuple[str, ...]:
    parts = text.split(BETWEEN_SENTENCES)
    return tuple(part.strip() for part in parts) if len(parts) == 2 else (text,)


def _labels(record: Record) -> tuple[str, ...]:
    """The textual labels by class number."""
    named = record.field("text_labels")
    keys, values = (
        (named.get("keys"), named.get("values")) if isinstance(named, dict) else (None, None)
    )
    numbers = record.field("labels")
    if not (isinstance(keys, list) and isinstance(values, list) and len(keys) == len(values)):
        record.refuse("“text_labels” must hold “keys” and “values”, as many of either.")
    by_number = {str(value): key for key, value in zip(keys, values, strict=True)}
    if not isinstance(numbers, list) or sorted(by_number) != sorted(map(str, numbers)):
        record.refuse("“labels” and “text_labels” do not name the same classes.")
    if set(by_number) != set(map(str, range(len(by_number)))):
        record.refuse("the classes must be numbered from 0.")
    labels = tuple(record.as_text(by_number[str(n)], "a label") for n in range(len(by_number)))
    if len(set(labels)) != len(labels) or "" in labels:
        record.refuse("every class must have a textual label of its own.")
    return labels


def _class_number(record: Record) -> int:
    value = record.field("label")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    record.refuse("“label” must be a class number as a string.")


def _whole(record: Record, name: str) -> int:
    value: Any = record.field(name)
    if type(value) is not int or value < 0:
        record.refuse(f"“{name}” must be a whole number from 0.")
    return int(value)


def _flag(record: Record, name: str) -> bool:
    value = record.field(name)
    if not isinstance(value, bool):
        record.refuse(f"“{name}” must be true or false.")
    return value
