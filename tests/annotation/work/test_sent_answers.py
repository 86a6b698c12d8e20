"""How what a browser sends is read."""

import pytest
from django.http import QueryDict

from annotation.kinds.base import Form
from annotation.models.errors import BadInput
from annotation.work.judging import BrowserTimes
from annotation.work.views import read_sent_answer, read_step

COLUMNS = ("browser_ms", "first_action_ms", "active_ms", "pastes", "typed", "decoy", "translated")
UNKNOWN = dict.fromkeys(COLUMNS)


def read(query: str) -> tuple[int, Form, BrowserTimes]:
    return read_sent_answer(QueryDict(f"step=0&{query}"))


def test_reads_a_choice_and_its_times() -> None:
    step, fields, times = read("option=1&browser_ms=900&first_action_ms=200&active_ms=800")
    assert (step, fields["option"]) == (0, "1")
    told = {"browser_ms": 900, "first_action_ms": 200, "active_ms": 800}
    assert times == UNKNOWN | told


@pytest.mark.parametrize(("sent", "known"), [("", False), ("+", False), ("GPT", True)])
def test_reads_whether_the_decoy_was_answered(sent: str, known: bool) -> None:
    assert read(f"option=1&keyed=40000&assistant={sent}")[2] == UNKNOWN | {
        "typed": 2**15 - 1,
        "decoy": known,
    }


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("0", False), ("1", True), ("", None), ("2", None), ("true", None), ("1&translated=x", None)],
)
def test_keeps_of_a_translation_only_yes_or_no(sent: str, kept: bool | None) -> None:
    assert read(f"option=1&translated={sent}")[2] == UNKNOWN | {"translated": kept}


@pytest.mark.parametrize("value", ["", "-3", "99999999999999", "soon", "NaN", "1.5", "²"])
def test_never_refuses_an_answer_for_the_browsers_clock(value: str) -> None:
    assert read(f"option=0&browser_ms={value}")[2] == UNKNOWN


@pytest.mark.parametrize("query", ["", "step=", "step=-1", "step=x", "step=" + "9" * 5000])
def test_refuses_a_form_without_its_step(query: str) -> None:
    with pytest.raises(BadInput, match="Reload the page"):
        read_step(QueryDict(query))
