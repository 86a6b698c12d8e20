"""What an answer's form makes of what a browser sends."""

import pytest
from django.http import QueryDict

from annotation.acts.judging import BrowserTimes
from annotation.forms import AnswerForm


def read(**fields: object) -> AnswerForm:
    form = AnswerForm({"step": 0, **fields})
    assert form.is_valid(), form.errors
    return form


def test_reads_a_choice_and_its_times() -> None:
    form = read(option=1, browser_ms=900, first_action_ms=200, active_ms=800)
    assert form.raw_answer().option == 1
    assert form.times() == BrowserTimes(900, 200, 800)


@pytest.mark.parametrize("value", ["", "-3", "99999999999999", "soon", "NaN", "1.5"])
def test_never_refuses_an_answer_for_the_browsers_clock(value: str) -> None:
    form = read(option=0, browser_ms=value)
    assert form.times() == BrowserTimes()


def test_takes_none_from_either_of_its_two_fields() -> None:
    """The picker's hidden field comes first, the plain way's box behind it."""
    form = AnswerForm(QueryDict("step=0&none=&none=1"))
    assert form.is_valid()
    assert form.raw_answer().none
    assert not read(none="").raw_answer().none


@pytest.mark.parametrize("spans", ["{}", "nonsense", "3"])
def test_says_what_to_do_about_spans_that_cannot_be_read(spans: str) -> None:
    form = AnswerForm({"step": 0, "spans": spans})
    assert "select it again" in form.errors["spans"][0]
