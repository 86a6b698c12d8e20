import pytest

from annotation.kinds.replies import read_label, read_pieces

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
