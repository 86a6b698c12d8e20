"""Letters that look the same are the same, in whichever of Unicode's forms a file or a keyboard
writes them; what is stored stays as it came."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from annotation.benchmarks.formats.task_files import read_task_file
from annotation.kinds import answer_kind
from annotation.kinds.base import Answer, AskedExample, Reveal
from annotation.kinds.gold import answer_score, compare
from annotation.kinds.naming import WAYS
from annotation.models import Gold, Judgement
from annotation.models.errors import BadInput
from scoring.core.spans import measure_reach
from tests.annotation.kinds import typed
from tests.annotation.kinds.asked import content, example

# As a Mac writes them, accents apart; and what a keyboard gives.
WORDS = ("Besanc\u0327on", "une cre\u0302pe", "E\u0301ric", "Orle\u0301ans", "\u1112\u1161\u11ab")


def together(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def compared(answer: Answer, gold: list[str], normalisation: str = "none") -> Reveal:
    judgement = Judgement(answer=list(answer.texts), spans=[list(one) for one in answer.spans])
    right = Gold(alternatives=[[{"text": text} for text in gold]])
    return compare(judgement, right, "any", normalisation)


@pytest.mark.django_db
@pytest.mark.parametrize("word", WORDS)
def test_typed_answers_are_right_whichever_way_the_gold_is_written(
    tmp_path: Path, word: str
) -> None:
    row = {**typed.rows("Test", 1)[0], "answer": [{"text": word}]}
    typed.imported(tmp_path, test=[row], normalisation="squad")
    gold = Gold.objects.get(example__identity="id:Test0")
    assert gold.alternative_texts() == [[word]]
    assert answer_score([together(word)], gold, "any", "squad") == 1
    assert answer_score([f"{together(word)}x"], gold, "any", "squad") == 0


@pytest.mark.parametrize("write", [str, together])
@pytest.mark.parametrize("word", WORDS)
def test_a_selected_piece_keeps_its_place_in_the_stored_text(
    word: str, write: Callable[[str], str]
) -> None:
    asked = example(f"Ici, {word} est la.", f"Et {together(word)} aussi.")
    kind = answer_kind("spans")
    piece = write(word)
    answer = kind.read({"typed": piece}, asked, content("spans"))
    ((segment, start, end),) = answer.spans
    assert (segment, start, end) == (0, 5, 5 + len(word))
    assert answer.texts == (word,)
    assert kind.givable([piece], asked) == {piece}
    reveal = compared(answer, [together(word)])
    assert reveal.is_right
    assert set(reveal.marks.values()) == {"right"}
    kind.revealed(asked, reveal)


def test_a_piece_selected_in_both_forms_is_one_and_its_page_can_be_shown() -> None:
    asked = example("E\u0301ric", "\xc9ric")
    answer = Answer(texts=("E\u0301ric", "\xc9ric"), spans=((0, 0, 5), (1, 0, 4)))
    shown = answer_kind("spans").revealed(asked, compared(answer, ["\xc9ric"]))
    marks = [piece.marks for segment in shown["segments"] for piece in segment.pieces]
    assert [mark.split()[0] for mark in marks] == ["right", "right"]


def test_a_missed_piece_is_marked_where_the_text_writes_it_otherwise() -> None:
    asked = example("Vu par E\u0301ric hier.")
    shown = answer_kind("spans").revealed(asked, compared(Answer(()), ["\xc9ric"]))
    (segment,) = shown["segments"]
    assert [piece.text for piece in segment.pieces if "missed" in piece.marks] == ["E\u0301ric"]


def test_part_of_a_letter_is_no_piece_of_a_text() -> None:
    with pytest.raises(BadInput, match="cafe"):
        answer_kind("spans").read({"typed": "cafe"}, example("Un cafe\u0301."), content("spans"))


def test_two_taps_reach_gold_that_is_written_otherwise() -> None:
    reach = measure_reach([("Ici Besanc\u0327on.", "Besan\xe7on", None)])
    assert (reach.reached, reach.absent) == (1, 0)


@pytest.mark.parametrize("kind", ["choice", "labels"])
def test_a_label_is_offered_marked_and_right_in_either_form(kind: str) -> None:
    asked = example("Alors ?", labels=("\xe9t\xe9", "hiver"))
    gold = ["e\u0301te\u0301"]
    own = answer_kind(kind)
    answer = own.read(own.right_form(asked, gold), asked, content(kind))
    assert answer.texts == ("\xe9t\xe9",)
    assert own.givable(gold, asked) == set(gold)
    assert compared(answer, gold).is_right
    missed = own.revealed(asked, compared(Answer(("hiver",)), gold))
    assert [mark for _letter, _text, mark in missed["options"]] == ["missed", "extra"]
    (label,) = own.from_prompted("e\u0301te\u0301", ("\xe9t\xe9", "hiver"))
    assert label == "\xe9t\xe9"


def test_a_name_marked_in_both_forms_is_offered_once() -> None:
    candidates = ((0, 0, 5), (0, 8, 12))
    asked = example("E\u0301ric a \xc9ric.", candidates=candidates)
    kind = answer_kind("candidate")
    assert kind.options(asked) == ("E\u0301ric",)
    kind.shown(asked)
    answer = kind.read(kind.right_form(asked, ["\xc9ric"]), asked, content("candidate"))
    assert compared(answer, ["\xc9ric"]).is_right


def test_no_skill_earns_the_same_in_either_form() -> None:
    asked = [AskedExample(("x",), (), ("e\u0301te\u0301", "hiver"))]
    for floor in answer_kind("choice").floors[1:]:
        assert floor.score(asked, [[["\xe9t\xe9"]]], "any") > 0


def test_an_answer_names_its_option_in_either_form() -> None:
    assert WAYS["text"]("e\u0301te\u0301", ["hiver", "\xe9t\xe9"]) == 1


def test_a_task_file_names_no_label_twice_in_two_forms() -> None:
    labels = json.dumps({"choices": ["e\u0301te\u0301", "\xe9t\xe9"]}).encode()
    with pytest.raises(BadInput, match="choices"):
        read_task_file(labels, "task.json")
