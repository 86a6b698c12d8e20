import re
from decimal import ROUND_FLOOR, Decimal

import pytest
from django.conf import settings
from django.template import Context, Template
from django.utils import translation

from annotation.work.wording import (
    amount_text,
    full_stop,
    language_name,
    percent_text,
    range_text,
    seconds_text,
    share_text,
)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "1,234.50\u00a0EUR"),
        ("de", "1.234,50\u00a0EUR"),
        ("fr", "1\u202f234,50\u00a0EUR"),
        ("ar", "1,234.50\u00a0EUR"),
        ("ja", "1,234.50\u00a0EUR"),
        ("zh-hans", "1,234.50\u00a0EUR"),
    ],
)
def test_writes_an_amount_in_the_readers_way_with_its_currency(language: str, text: str) -> None:
    template = Template("{% load wording %}{{ amount|money:'EUR' }}")
    with translation.override(language):
        assert template.render(Context({"amount": Decimal("1234.5")})) == text


def test_groups_and_keeps_every_cent_as_written_in_india() -> None:
    with translation.override("hi"):
        assert (
            amount_text(Decimal("90071992547409.93"), "INR") == "9,00,71,99,25,47,409.93\u00a0INR"
        )
        assert amount_text(12, "INR", places=0) == "12\u00a0INR"
        # What was due before whole yen were paid stays what it was.
        told = [amount_text(Decimal(amount), "JPY") for amount in ("1200.00", "21.77")]
        assert told == ["1,200\u00a0JPY", "21.77\u00a0JPY"]


@pytest.mark.parametrize(
    ("language", "whole", "tenths"),
    [
        ("en", "67%", "59.9%"),
        ("de", "67\u00a0%", "59,9\u00a0%"),
        ("fr", "67\u00a0%", "59,9\u00a0%"),
        ("ar", "67%", "59.9%"),
        ("hi", "67%", "59.9%"),
        ("ja", "67%", "59.9%"),
    ],
)
def test_writes_shares_in_the_readers_way(language: str, whole: str, tenths: str) -> None:
    with translation.override(language):
        assert share_text(2 / 3) == whole
        assert percent_text(59.98, ROUND_FLOOR) == tenths


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "正解：<bdi>2</bdi>"),
        ("zh-hans", "正确答案：<bdi>2</bdi>"),
        ("de", "Die richtige Antwort: <bdi>2</bdi>"),
    ],
)
def test_puts_no_space_between_sentences_of_scripts_without(language: str, text: str) -> None:
    template = "{% load i18n wording %}{% translate 'The right answer:' %}{% gap %}<bdi>2</bdi>"
    with translation.override(language):
        assert Template(template).render(Context()) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ar", "1 ساعة و2 دقيقة و3 ثوانٍ"),
        ("ru", "1 час 2 минуты 3 секунды"),
        ("ja", "1時間2分3秒"),
    ],
)
def test_counts_time_in_the_forms_of_the_language(language: str, text: str) -> None:
    with translation.override(language):
        assert seconds_text(3723) == text


@pytest.mark.parametrize(
    ("reader", "code", "name"),
    [
        ("en", "de", "German"),
        ("ja", "fr", "フランス語"),
        ("en", "en-GB", ""),
        ("zh-hans", "zh", ""),
        ("en", "und", ""),
        ("en", "no code", ""),
        ("en", "", ""),
    ],
)
def test_calls_another_language_by_the_readers_name(reader: str, code: str, name: str) -> None:
    with translation.override(reader):
        assert language_name(code) == name


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (61, "1 minute 1 second"),
        (1254, "20 minutes 54 seconds"),
        (3600, "1 hour"),
        (7325, "2 hours 2 minutes 5 seconds"),
    ],
)
def test_writes_a_time_to_the_second(seconds: int, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("score", "text"),
    [(0, "0"), (0.001, "1"), (0.4, "40"), (2 / 3, "67"), (0.999, "99"), (1, "100")],
)
def test_writes_a_score_in_percent_and_rounds_to_neither_end(score: float, text: str) -> None:
    assert share_text(score) == f"{text}%"


@pytest.mark.parametrize(
    ("text", "stop"),
    [("Rome", "."), ("New York, BC.", ""), ("Yahoo!", ""), ("東京。", ""), ("أين؟", "")],
)
def test_ends_a_sentence_once(text: str, stop: str) -> None:
    assert full_stop(text) == stop


def test_writes_no_range_of_one() -> None:
    assert range_text("5", "5") == "5"
    assert range_text("5", "7") == "5 to 7"


@pytest.mark.parametrize("folder", ["annotation/work", "annotation/kinds"])
def test_calls_things_on_annotators_pages_by_one_name(folder: str) -> None:
    """An item is no example there, and those who run the study go by no other name."""
    texts = [
        (page.name, text)
        for page in (settings.BASE_DIR / "templates" / folder).glob("*.html")
        for text in re.findall(
            r"""translate (["'])(.+?)\1 %|blocktranslate.*?%}(.+?){% endblock""",
            page.read_text(),
            re.DOTALL,
        )
    ]
    assert texts
    assert [row for row in texts if re.search(r"\b(examples?|researchers?)\b", str(row[1]))] == []


@pytest.mark.parametrize(
    ("least", "most", "text"),
    [
        ("19 minutes", "20 minutes", "19 to 20 minutes"),
        ("50 minutes", "1 hour 10 minutes", "50 minutes to 1 hour 10 minutes"),
        ("1 minute", "2 minutes", "1 minute to 2 minutes"),
        ("2\xa0USD", "3\xa0USD", "2\xa0USD to 3\xa0USD"),
        ("5 minutes", "5 minutes", "5 minutes"),
    ],
)
def test_says_a_unit_of_both_ends_once(least: str, most: str, text: str) -> None:
    assert range_text(least, most) == text
