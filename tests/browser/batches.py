"""Small batches of every answer kind, with texts of several scripts, and the way through them."""

from collections.abc import Sequence
from typing import Any

from annotation.kinds.gold import gold_in_force
from annotation.models import Batch, Judgement, Kind, Outcome, Role
from annotation.models.frozen import sequence
from tests.browser.person import MOUSE, Person
from tests.texts import Text, running_batch_of

FERRY = (
    "The ferry from Split to Vis takes a little over two hours . Marta Kovač , who has steered it "
    "for eleven years , learned the trade on the Danube at Novi Sad ; her brother still works "
    "there , for the shipping company Dunav Line ( DL ) ."
)
NEWS = "SOCCER - JAPAN GET LUCKY WIN , CHINA IN SURPRISE DEFEAT . AL-AIN , United Arab Emirates"
CHINESE = "日本队在亚洲杯小组赛中以二比一险胜叙利亚队，中国队意外输给乌兹别克斯坦队。"
ARABIC = "فاز المنتخب الياباني على سوريا بهدفين لهدف ، وخسرت الصين أمام أوزبكستان في العين ."
PEOPLE = ["Split", "Vis", "Marta Kovač", "the Danube", "Novi Sad", "Dunav Line"]


def _choices() -> list[Text]:
    return [Text(f"{FERRY} {n}", question="Good or bad?", gold=[("good", "bad")[n % 2]])
            for n in range(6)]  # fmt: skip


def _candidates() -> list[Text]:
    return [Text(f"{FERRY} {n}", question="@placeholder is meant.", gold=[who], candidates=PEOPLE)
            for n, who in enumerate(PEOPLE)]  # fmt: skip


def _typed() -> list[Text]:
    golds: list[list[str]] = [["Vis"], [], ["eleven years"], ["Novi Sad"], [], ["2 : 1"]]
    return [Text(f"{FERRY} {n}", question="What is asked?", gold=g) for n, g in enumerate(golds)]


def _several_spans() -> list[Text]:
    return [
        Text(FERRY, gold=["Split", "Vis", "Novi Sad", "Danube"]),
        Text(NEWS, gold=["JAPAN", "CHINA", "AL-AIN", "United Arab Emirates"]),
        Text(CHINESE, gold=["日本", "叙利亚", "乌兹别克斯坦"]),
        Text(ARABIC, gold=["سوريا", "أوزبكستان", "العين"]),
        Text(f"{FERRY} 1", gold=[]),
        Text(f"{FERRY} 2", gold=["Dunav Line ( DL )", "Marta"]),
    ]


def _one_span() -> list[Text]:
    return [Text(text.context, gold=text.gold[:1]) for text in _several_spans()]


def _numbers() -> list[Text]:
    golds = ["1,130", "2.5", "-3", "1/2", "$ 40", "12 %"]
    return [Text(f"{FERRY} {n}", question="How many?", gold=[gold]) for n, gold in enumerate(golds)]


def _labels() -> list[Text]:
    golds = [["good"], ["good", "bad"], [], ["bad"], ["bad", "good"], []]
    return [Text(f"{FERRY} {n}", question="Which fit?", gold=gold) for n, gold in enumerate(golds)]


WORK: dict[str, Any] = {
    "choice": (Kind.CHOICE, _choices, {}),
    "candidate": (Kind.CANDIDATE, _candidates, {}),
    "short text": (Kind.TEXT, _typed, {}),
    "number": (Kind.NUMBER, _numbers, {}),
    "labels": (Kind.LABELS, _labels, {}),
    "several spans": (Kind.SPANS, _several_spans, {}),
    "one span": (Kind.SPANS, _one_span, {"max_spans": 1}),
}


def batch_of(work: str) -> Batch:
    """Two examples for practice, and four for the test."""
    kind, texts, fields = WORK[work]
    return running_batch_of(kind, training=texts()[:2], tests=texts()[2:], **fields)


def works_through(person: Person, batch: Batch, ways: Sequence[str], leaves: str = MOUSE) -> None:
    """Every example answered with its gold, by each way in turn."""
    person.enter(batch)
    assignment = person.assignment
    examples = sequence(batch.pk, assignment.order_seed)
    golds = gold_in_force([example.pk for example in examples], batch.task_id, 1)
    for step, example in enumerate(examples):
        assert person.step == step
        by = ways[step % len(ways)]
        person.answers((golds[example.pk].alternative_texts() or [[]])[0], by, example)
        person.goes_on(by)
        if example.role == Role.TRAINING:
            assert person.panel == "reveal"
            assert "Right." in person.page.locator("[data-verdict]").inner_text()
            person.goes_on(leaves)
            if person.panel == "practice-done":
                person.goes_on(by)


def is_done_right(person: Person, batch: Batch) -> None:
    """The code is shown, and every answer that is stored is the gold."""
    assert "CODE-COMPLETED" in person.page.locator("main").inner_text()
    assignment = batch.assignments.get()
    assert assignment.outcome == Outcome.COMPLETED
    answers = Judgement.objects.filter(assignment=assignment)
    golds = gold_in_force([answer.example_id for answer in answers], batch.task_id, 1)
    wrong = [
        (answer.answer, gold)
        for answer in answers
        if sorted(answer.answer)
        != sorted(gold := (golds[answer.example_id].alternative_texts() or [[]])[0])
    ]
    assert not wrong, wrong
    assert person.problems == []
