"""The room that question and answers take on a task's page, found once for all of its items, so
that nothing has another size or place from one item to the next. It is told as shapes: how long the
words are, and no word of another item."""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from math import ceil

from annotation.kinds import answer_kind
from annotation.models.assignment import CHECK
from annotation.models.frozen import BatchContent, FrozenExample

# Longer ones take the room that they need, and no other item does.
LONGEST_OPTION, LONGEST_QUESTION = 90, 180
# Options stand in columns as close as their longest word allows; few of them one under another.
WORDS = (4, 6, 8, 10, 12, 16)
FEWEST_IN_COLUMNS = 4
# On a usual phone: letters in a line of an option and of a question, and how many lines may stay
# in sight beside the text.
_OPTION_LINE, _QUESTION_LINE, _IN_SIGHT = 26, 34, 9


@dataclass(frozen=True)
class Room:
    # The most options of an item.
    most: int
    # The step of WORDS that the longest word of an option fits; 0 where there are no columns.
    words: int
    # The shapes of the longest option and of the longest question.
    option: str
    question: str
    # Whether question and answers can stay in sight on a phone.
    stays: bool


def room_of(content: BatchContent, example: FrozenExample) -> Room:
    """The room of an example, as of all of its task in the batch."""
    of = "room of checks" if example.role == CHECK else "room"
    if of not in content.derived:
        of_task = (*content.training, *content.test)
        examples = content.checks if example.role == CHECK else of_task
        content.derived[of] = room_among(content.task_of(example).kind, examples)
    room: Room = content.derived[of]
    return room


def room_among(kind: str, examples: Collection[FrozenExample]) -> Room:
    """The room that these examples of one task need."""
    questions = {example.question for example in examples}
    options = [answer_kind(kind).options_as_read(example) for example in examples]
    return room_for(questions, options, lettered=any(example.options for example in examples))


def room_for(
    questions: Collection[str], options: Collection[Collection[str]], *, lettered: bool = False
) -> Room:
    """The room for the questions of a task, and for what its items offer, by letters or not."""
    texts = {text for offered in options for text in offered}
    option, question = _longest(texts, LONGEST_OPTION), _longest(questions, LONGEST_QUESTION)
    most = max(map(len, options), default=0)
    longest = max((_width(word) for text in texts for word in text.split()), default=0)
    longest += len("A. ") * lettered
    fitting = (step for step in WORDS if longest <= step and most >= FEWEST_IN_COLUMNS)
    # A box takes a line more than its text.
    lines = max(2, most) * (1 + ceil(_width(option) / _OPTION_LINE))
    lines += ceil(_width(question) / _QUESTION_LINE)
    return Room(most, next(fitting, 0), _shape(option), _shape(question), lines <= _IN_SIGHT)


def _longest(texts: Collection[str], limit: int) -> str:
    return max(sorted(texts), key=_width, default="")[:limit]


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + _is_wide(letter) for letter in text)


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def _shape(text: str) -> str:
    return re.sub(r"\S", lambda match: "口" if _is_wide(match[0]) else "n", text)
