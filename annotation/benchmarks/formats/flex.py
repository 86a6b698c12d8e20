"""Episodes as FLEX's toolkit writes them: the rows of a challenge, and its answer key.

Both are files of one JSON object per line. A challenge row is a training example with its class,
or a question without; the answer key has the class of every question. Classes are numbers, and
every episode has its own textual label for each.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha1

from django.utils.text import slugify

from annotation.benchmarks.formats import content
from annotation.benchmarks.formats.labelled import labelled_example
from annotation.models import Role, Transfer
from annotation.models.errors import BadInput

Lines = Iterable[bytes]
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
# Two sentences share one text, with this between them.
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


@dataclass(slots=True)
class _Row:
    """What an import keeps of a row until a data set is stored: a challenge has a million rows."""

    line: int
    id: str
    text: str
    # Of a question, once the answer key is joined.
    number: int


@dataclass
class _Rows:
    """The rows of one episode, in the file's order."""

    dataset: str
    labels: tuple[str, ...]
    training: list[_Row] = field(default_factory=list)
    test: list[_Row] = field(default_factory=list)


class FlexChallenge:
    """The episodes of both files, checked. Raises BadInput at the first row that cannot be used."""

    def __init__(self, challenge: Lines, answers: Lines, file: str, answers_file: str) -> None:
        self.file = file
        self._rows: dict[int, _Rows] = {}
        # Equal texts are one string.
        self._texts: dict[str, str] = {}
        gold = _read_answers(answers, answers_file)
        # Over the questions, as the toolkit takes it.
        digest = sha1()
        asked: set[str] = set()
        for record in content.records_of(challenge, file):
            rows = self._rows_of(record)
            is_train = record.field("is_train")
            if not isinstance(is_train, bool):
                record.refuse("“is_train” must be true or false.")
            if is_train:
                rows.training.append(self._row(record, "hashed_id", _class_number(record), rows))
                continue
            question = record.text("question_id")
            if question in asked:
                record.refuse(f"the question “{question}” has been asked already.")
            if question not in gold:
                record.refuse("the answer key does not have this question.")
            rows.test.append(self._row(record, "question_id", gold[question], rows))
            digest.update((("|" if asked else "") + record.text("hashed_id")).encode())
            asked.add(question)
        self.checksum = digest.hexdigest()
        self._check_whole(gold, asked, answers_file)

    @property
    def few_shot(self) -> int:
        return sum(bool(rows.training) for rows in self._rows.values())

    @property
    def zero_shot(self) -> int:
        return len(self._rows) - self.few_shot

    @property
    def published(self) -> str:
        """The name under which exactly these episodes were published."""
        return PUBLISHED.get(self.checksum, "")

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(rows.dataset for _, rows in sorted(self._rows.items())))

    def sets(self, dataset: str) -> list[content.ReadSet]:
        """The sets of one data set's episodes, in the order of the challenge."""
        copies = _Copies()
        episodes = [(n, rows) for n, rows in sorted(self._rows.items()) if rows.dataset == dataset]
        return [
            read_set
            for number, (task_id, rows) in enumerate(episodes, start=1)
            for read_set in self._episode(number, task_id, rows, copies)
        ]

    def _rows_of(self, record: content.Record) -> _Rows:
        task_id = record.field("task_id")
        if type(task_id) is not int or task_id < 0:
            record.refuse("“task_id” must be a whole number from 0.")
        dataset, labels = record.text("dataset"), _labels(record)
        rows = self._rows.get(task_id)
        if rows is None:
            if not slug_of(dataset):
                record.refuse("“dataset” must be a name with letters or digits.")
            rows = self._rows[task_id] = _Rows(dataset, labels)
        if (rows.dataset, rows.labels) != (dataset, labels):
            record.refuse(f"the rows of the episode {task_id} differ in their dataset or labels.")
        return rows

    def _row(self, record: content.Record, id_field: str, number: int, rows: _Rows) -> _Row:
        if number >= len(rows.labels):
            record.refuse(f"the class {number} is none of the episode's {len(rows.labels)}.")
        text = record.text("txt")
        if not text.strip():
            record.refuse("“txt” is empty: people can only work on texts.")
        text = self._texts.setdefault(text, text)
        return _Row(record.line, record.text(id_field)[: content.LONGEST_ID], text, number)

    def _check_whole(self, gold: Iterable[str], asked: set[str], answers_file: str) -> None:
        for task_id, rows in self._rows.items():
            if not rows.test:
                raise BadInput(f"{self.file}: the episode {task_id} has no question.")
        for question in gold:
            if question not in asked:
                raise BadInput(
                    f"{answers_file}: the question “{question}” is not in the challenge; "
                    "give the answer key of the same challenge."
                )

    def _episode(
        self, number: int, task_id: int, rows: _Rows, copies: "_Copies"
    ) -> list[content.ReadSet]:
        """task_id is its number in the whole challenge."""
        roles = ((Role.TRAINING, rows.training), (Role.TEST, rows.test))
        read = [self._example(row, role, rows) for role, of_role in roles for row in of_role]
        examples, file = list(copies.numbered(read)), f"{self.file}: task_id {task_id}"
        return content.episode_sets(number, rows.labels, examples, file)

    def _example(self, row: _Row, role: str, rows: _Rows) -> content.ReadExample:
        # As published, spaces included: the released prompts have them too.
        sentences = row.text.split(BETWEEN_SENTENCES)
        return labelled_example(
            where=f"{self.file}, line {row.line}",
            role=role,
            source_id=row.id,
            context=sentences if len(sentences) == 2 else [row.text],
            question=QUESTIONS.get(rows.dataset, TOPIC_QUESTION),
            label=rows.labels[row.number],
        )


class _Copies:
    """Tells apart equal texts of one data set: those with other labels, or twice in one episode."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[str, int]]] = defaultdict(list)

    def numbered(self, examples: Iterable[content.ReadExample]) -> Iterator[content.ReadExample]:
        met: Counter[tuple[str, str]] = Counter()
        for example in examples:
            met[example.content_hash, example.label] += 1
            copy = (example.label, met[example.content_hash, example.label])
            known = self._known[example.content_hash]
            if copy not in known:
                known.append(copy)
            number = known.index(copy) + 1
            yield replace(example, copy=number) if number > 1 else example


def slug_of(dataset: str) -> str:
    return slugify(dataset)[:80]


def _read_answers(lines: Lines, file: str) -> dict[str, int]:
    classes: dict[str, int] = {}
    for record in content.records_of(lines, file):
        question = record.text("question_id")
        if question in classes:
            record.refuse(f"the question “{question}” has been answered already.")
        if record.fields.get("is_distractor"):
            record.refuse("this question is a distractor, which this import does not know.")
        classes[question] = _class_number(record)
    return classes


def _labels(record: content.Record) -> tuple[str, ...]:
    named = record.field("text_labels")
    classes = named if isinstance(named, dict) else {}
    keys, values = classes.get("keys"), classes.get("values")
    numbers = record.field("labels")
    if not (isinstance(keys, list) and isinstance(values, list) and len(keys) == len(values)):
        record.refuse("“text_labels” must hold “keys” and “values”, the same number of each.")
    by_number = {str(value): key for key, value in zip(keys, values, strict=True)}
    if not isinstance(numbers, list) or sorted(by_number) != sorted(map(str, numbers)):
        record.refuse("“labels” and “text_labels” do not name the same classes.")
    if set(by_number) != set(map(str, range(len(by_number)))):
        record.refuse("the classes must be numbered from 0.")
    labels = tuple(record.as_text(by_number[str(n)], "a label") for n in range(len(by_number)))
    if len(set(labels)) != len(labels) or "" in labels:
        record.refuse("every class must have a textual label of its own.")
    return labels


def _class_number(record: content.Record) -> int:
    value = record.field("label")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    record.refuse("“label” must be a class number as a string.")
