from decimal import Decimal

import pytest
from django.template import Context, Template
from django.utils import translation

from annotation.work.wording import range_text, time_text


@pytest.mark.parametrize(
    ("language", "text"), [("en", "1,234.50\u00a0EUR"), ("de", "1.234,50\u00a0EUR")]
)
def test_writes_an_amount_in_the_readers_way_with_its_currency(language: str, text: str) -> None:
    template = Template("{% load wording %}{{ amount|money:'EUR' }}")
    with translation.override(language):
        assert template.render(Context({"amount": Decimal("1234.5")})) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (61, "1 minute 1 second"),
        (1254, "20 minutes 54 seconds"),
    ],
)
def test_writes_a_time_to_the_second(seconds: int, text: str) -> None:
    assert time_text(seconds) == text


def test_writes_no_range_of_one() -> None:
    assert range_text("5", "5") == "5"
    assert range_text("5", "7") == "5 to 7"
