from time import process_time

import pytest

from annotation.kinds import answer_kind, answer_kinds
from annotation.kinds.base import AnswerKind
from annotation.kinds.replies import LONGEST_REPLY, last_answer, read_label, read_pieces

LABELS = ["negative", "positive"]


@pytest.mark.parametrize(
    "reply",
    [
        "positive",
        " positive\n",
        "Positive",
        "POSITIVE.",
        "positive.",
        "**positive**",
        "**Positive.**",
        "`positive`",
        '"positive"',
        "B",
        "B)",
        "(B)",
        "B.",
        "b)",
        "**B**",
        "B. positive",
        "(B) positive",
        "B) **positive**",
        "Answer: positive",
        "Answer: B",
        "**Answer:** positive",
        "Answer: (B) positive.",
        "The answer is positive.",
        "Label: positive",
        "The sentiment is positive.",
        "The feeling of the text: positive.",
        "positive。",
        "positive (it is full of charm)",
        "positive, because it is full of charm",
        "positive because it is full of charm",
        "The answer is **positive**, because it is full of charm.",
        "positive\n\nContext: too long by far\nAnswer: negative",
        "positive\nContext: too long by far\nAnswer: negative",
        "positive Context: too long by far Answer: negative",
        "Positive.\n\nQuestion: and this?\nOptions: negative; positive\nAnswer: negative",
        "It is full of charm.\nAnswer: positive",
        "Let us think. It is full of charm.\n\nTherefore, the final answer is: **positive**",
        "The text praises the film.\n\npositive",
        "The feeling is positive, since it praises.",
        "B - positive",
        "<think>Is it\nnegative? No.</think>\n\npositive",
        "<answer>positive</answer>",
        r"So \boxed{\text{positive}}",
    ],
)
def test_reads_a_label_as_a_person_would(reply: str) -> None:
    assert read_label(reply, LABELS) == "positive"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "C",
        "neutral",
        "positive or negative",
        "negative, positive",
        "not positive",
        "The feeling is positive, but the wording negative.",
        "Positive words abound",
        "Let me see.\nAnswer: positive\nAnswer: negative",
        "It could be either.",
        "positively",
    ],
)
def test_leaves_what_cannot_be_read(reply: str) -> None:
    assert read_label(reply, LABELS) == reply


@pytest.mark.parametrize(
    ("reply", "options", "label"),
    [
        ("very positive.", ["positive", "very positive"], "very positive"),
        ("Positive.", ["positive", "very positive"], "positive"),
        ("not entailment", ["entailment", "not_entailment"], "not_entailment"),
        ("I have no idea", ["yes", "no"], "I have no idea"),
        ("No, it does not.", ["yes", "no"], "no"),
        ("A", ["B", "A"], "A"),
        ("U.S.", ["U.S.", "U.N."], "U.S."),
        ("(A) (B) odd", ["weather", "sport", "(B) odd"], "(B) odd"),
        ("the mill", ["The Mill", "the mill"], "the mill"),
        ("THE MILL", ["The Mill", "the mill"], "THE MILL"),
    ],
)
def test_does_not_guess(reply: str, options: list[str], label: str) -> None:
    assert read_label(reply, options) == label


@pytest.mark.parametrize(
    ("reply", "pieces"),
    [
        ('["Anna", "Boris"]', ["Anna", "Boris"]),
        ('Answer: ["Anna"]', ["Anna"]),
        ('```json\n["Anna"]\n```', ["Anna"]),
        ('["Anna"]\n\nContext: Boris met Clara.\nAnswer: ["Clara"]', ["Anna"]),
        ('["Anna"] The other name is no person.', ["Anna"]),
        ("[]", []),
        ("None.", []),
        ("none here", []),
        ("", []),
        ("Anna\nBoris\n", ["Anna", "Boris"]),
        ("- Anna\n- Boris", ["Anna", "Boris"]),
        ('1. "Anna"\n2. “Boris”', ["Anna", "Boris"]),
        ("Anna\n\nContext: Boris met Clara.", ["Anna"]),
        ("U.S.", ["U.S."]),
        ('"Anna" and "Boris"', ['"Anna" and "Boris"']),
        ("[1, 2]", ["[1, 2]"]),
        ('["the Question: who?"]', ["the Question: who?"]),
    ],
)
def test_reads_pieces_as_a_person_would(reply: str, pieces: list[str]) -> None:
    assert read_pieces(reply) == pieces


@pytest.mark.parametrize(
    "reply",
    [
        "['Anna', 'Boris']",
        '<think>["Anna"]?</think>["Anna", "Boris"]',
        '<answer>["Anna", "Boris"]</answer>',
    ],
)
def test_reads_pieces_behind_thoughts_and_marks(reply: str) -> None:
    assert read_pieces(reply) == ["Anna", "Boris"]


LOOPS = {
    "lead-ins": "The answer is ",
    "answers": "answer: ",
    "brackets": "[",
    "boxes": "\\boxed{",
    "tags": "<answer>",
    "closed tags": "<answer>good</answer>",
    "thoughts": "<think>",
    "lines": "good\nbad\n",
    "blank lines": "\n",
    "fields": "x\nContext :",
    "quotes": "\"'“”`",
    "marks": "#### ",
    "numbers": "1,",
    "sums": "1 = ",
    "and": "good and ",
}
OPTIONS = ("good", "bad", "the answer", "neither of them")


def seconds_to_read(kind: AnswerKind, reply: str, labels: tuple[str, ...]) -> float:
    began = process_time()
    kind.from_prompted(reply, OPTIONS, labels=labels)
    return process_time() - began


@pytest.mark.parametrize("kind", answer_kinds(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=list(LOOPS))
def test_reads_a_reply_that_goes_round_in_circles(kind: AnswerKind, loop: str) -> None:
    """A thousand times, as long as one may be, and a megabyte. A pattern that goes back and forth
    over one of them takes minutes."""
    for times in (1_000, LONGEST_REPLY // len(loop), 1_000_000 // len(loop)):
        for labels in ((), ("0", "1", "2", "3")):
            assert seconds_to_read(kind, loop * times, labels) < 5


@pytest.mark.parametrize("kind", answer_kinds(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("loop", LOOPS.values(), ids=list(LOOPS))
@pytest.mark.parametrize("end", ["", "</think>good"])
def test_only_looks_through_a_megabyte(kind: AnswerKind, loop: str, end: str) -> None:
    """Less than what folding its case a few dozen times takes, a millisecond each."""
    reply = loop * (1_000_000 // len(loop)) + end
    read, folded = [], []
    for _ in range(3):
        read.append(seconds_to_read(kind, reply, ("0", "1", "2", "3")))
        began = process_time()
        reply.casefold()
        folded.append(process_time() - began)
    assert min(read) < 40 * min(folded)


def test_keeps_a_reply_that_is_longer_than_any_answer_as_it_is() -> None:
    reply = "good" + " and so on" * 3_000
    assert answer_kind("choice").from_prompted(reply, OPTIONS) == [reply]
    thought = f"<think>{reply}</think>good"
    assert answer_kind("choice").from_prompted(thought, OPTIONS) == ["good"]


def test_takes_an_option_that_reads_like_a_lead_in_for_what_it_is() -> None:
    options = ("answer A", "answer B")
    assert read_label("Answer B", options) == "answer B"
    assert read_label("So the answer is: answer B", options) == "answer B"


@pytest.mark.parametrize(
    "reply",
    [
        "positive",
        "It sounds negative.\nBut it is not.\nAnswer: positive",
        "At first the answer is negative. No: the answer is positive.",
        "Answer: negative? It says “great”.\n**Answer:** positive",
        "It may be negative.\npositive",
        "<think>negative. Answer: negative</think>\nI think so.\nAnswer: positive.",
        "Negative: \\boxed{negative}? Then again, \\boxed{positive}",
        "Bad?\nAnswer: positive\n\nQuestion: And this?\nAnswer: negative",
        "The text.\nQuestion: what is it? It is good.\nAnswer: positive",
        "It says <answer>negative</answer>, or rather <answer>positive</answer>",
    ],
)
def test_reads_the_last_answer_of_a_reply_that_thinks_first(reply: str) -> None:
    assert read_label(last_answer(reply), LABELS) == "positive"


def test_reads_pieces_behind_the_last_mark() -> None:
    reply = 'Two names?\nAnswer: ["Anna"]\nNo, both.\nAnswer: ["Anna", "Boris"]'
    assert read_pieces(last_answer(reply)) == ["Anna", "Boris"]
