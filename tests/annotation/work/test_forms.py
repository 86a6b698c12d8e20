"""How what a browser sends is read."""

import pytest
from django.http import QueryDict

from annotation.models.errors import BadInput
from annotation.work.forms import SentAnswer, read_sent_answer, read_step
from annotation.work.judging import BrowserTimes


def read(query: str) -> SentAnswer:
    return read_sent_answer(QueryDict(f"step=0&{query}"))


def test_reads_a_choice_and_its_times() -> None:
    sent = read("option=1&browser_ms=900&first_action_ms=200&active_ms=800")
    assert sent.raw.option == 1
    assert sent.times == BrowserTimes(900, 200, 800)


def test_reads_selected_and_typed_pieces() -> None:
    sent = read("spans=[[0,1,2]]&typed=Anna%0D%0ABoris")
    assert sent.raw.spans == [[0, 1, 2]]
    assert sent.raw.typed == "Anna\r\nBoris"


@pytest.mark.parametrize("value", ["", "-3", "99999999999999", "soon", "NaN", "1.5", "²"])
def test_never_refuses_an_answer_for_the_browsers_clock(value: str) -> None:
    assert read(f"option=0&browser_ms={value}").times == BrowserTimes()


def test_takes_none_from_either_of_its_two_fields() -> None:
    assert read("none=&none=1").raw.none
    assert not read("none=").raw.none
    assert not read("").raw.none


@pytest.mark.parametrize("spans", ["{}", "nonsense", "3", "[" * 100_000])
def test_says_what_to_do_about_spans_that_cannot_be_read(spans: str) -> None:
    with pytest.raises(BadInput, match="select it again"):
        read(f"spans={spans}")


@pytest.mark.parametrize("option", ["x", "-1", "1.0", "9" * 5000])
def test_refuses_an_option_that_is_no_number(option: str) -> None:
    with pytest.raises(BadInput, match="not among the choices"):
        read(f"option={option}")


@pytest.mark.parametrize("query", ["", "step=", "step=-1", "step=x", "step=" + "9" * 5000])
def test_refuses_a_form_without_its_step(query: str) -> None:
    with pytest.raises(BadInput, match="Reload the page"):
        read_step(QueryDict(query))
