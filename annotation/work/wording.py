"""Amounts and times as people read them, the same on every page."""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache

from babel import Locale, UnknownLocaleError
from babel.numbers import NumberPattern, format_currency, format_percent, parse_pattern
from django import template
from django.conf import settings
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from annotation.work.money import smallest_unit

# What stands between hours, minutes and seconds, where it is no space.
JOINTS = {"ar": " و", "ja": "", "zh-hans": ""}
register = template.Library()
NO_BREAK_SPACE = "\u00a0"
ENDS_OF_SENTENCES = tuple(".!?…。！？؟۔।")


@cache
def _locale(code: str) -> Locale:
    return Locale.parse(code, sep="-")


def _present_locale() -> Locale:
    return _locale(get_language() or settings.LANGUAGE_CODE)


@register.filter("money")
def amount_text(amount: Decimal | int, currency: str, places: int | None = None) -> str:
    """Write an amount in the way of the reader's language, with the currency's code: 1,234.50 USD.
    Whole amounts of a currency without cents have no places, 1,234 JPY; what was due in it before
    whole ones were paid keeps its two, 21.77 JPY."""
    if places is None:
        places = 0 if amount == int(amount) and smallest_unit(currency) == 1 else 2
    shape = _shape(_present_locale(), places)
    return format_currency(amount, currency, shape, _present_locale(), currency_digits=False)


@cache
def _shape(locale: Locale, places: int) -> NumberPattern:
    grouped = locale.decimal_formats[None].pattern.partition(".")[0]
    return parse_pattern(f"{grouped}{'.' if places else ''}{'0' * places}{NO_BREAK_SPACE}¤¤")


def short_amount(amount: Decimal, currency: str) -> str:
    """Write an amount without cents where there are none: 12 USD."""
    return amount_text(amount, currency, places=0 if amount == int(amount) else 2)


def about_amount(amount: Decimal, currency: str) -> str:
    return short_amount(amount.quantize(Decimal(1)) if amount >= 10 else amount, currency)


@register.simple_tag
def gap() -> str:
    """What stands between two sentences: nothing where scripts have no spaces."""
    return " " if JOINTS.get(get_language() or "", " ") else ""


@register.filter("hours")
def hours_text(minutes: int) -> str:
    """Write a time from an hour on with its hours: 7 hours 58 minutes."""
    hours, rest = divmod(minutes, 60)
    parts = [ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}] if hours else []
    if rest or not hours:
        parts.append(ngettext("%(n)d minute", "%(n)d minutes", rest) % {"n": rest})
    return _side_by_side(parts)


def minutes_text(minutes: int) -> str:
    """Write up to two hours in minutes alone: 75 minutes."""
    if minutes > 120:
        return hours_text(minutes)
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}


def seconds_text(seconds: int) -> str:
    """Write a time to the second, so that an amount can be worked out: 20 minutes 54 seconds."""
    minutes, rest = divmod(seconds, 60)
    parts = [hours_text(minutes)] if minutes else []
    if rest or not minutes:
        parts.append(ngettext("%(n)d second", "%(n)d seconds", rest) % {"n": rest})
    return _side_by_side(parts)


def _side_by_side(parts: Sequence[str]) -> str:
    return JOINTS.get(get_language() or "", " ").join(parts)


@register.filter("percent")
def share_text(score: float) -> str:
    """A score between 0 and 1 in whole percent; what is not quite all or nothing stays so."""
    whole = round(100 * score)
    if 0 < score < 1:
        whole = min(max(whole, 1), 99)
    return str(format_percent(Decimal(whole) / 100, locale=_present_locale()))


def percent_text(percent: float, rounding: str) -> str:
    """Write a share in whole percent, or else in tenths: 59.9%."""
    share = Decimal(str(percent)).quantize(Decimal("0.1"), rounding) / 100
    return str(format_percent(share, locale=_present_locale(), decimal_quantization=False))


@register.filter
def missing_steps(most: int, items: Sequence[object]) -> range:
    """The steps for a loop over what these items lack to the most that there are."""
    return range(most - len(items))


@register.filter("full_stop")
def full_stop(text: str) -> str:
    """What ends a sentence whose last words are this text; nothing if they end it themselves."""
    return "" if text.rstrip().endswith(ENDS_OF_SENTENCES) else _(".")


def range_text(least: str, most: str) -> str:
    """Write from one text of an amount or a time to another, if they differ."""
    if least == most:
        return most
    number, _space, unit = least.partition(" ")
    if unit and unit == most.partition(" ")[2]:
        least = number  # “19 to 20 minutes”
    return _("%(least)s to %(most)s") % {"least": least, "most": most}


def language_name(code: str) -> str:
    """What the reader calls a language; nothing where that is the page's own, or is not known."""
    with suppress(UnknownLocaleError, ValueError):
        locale, present = _locale(code), _present_locale()
        return "" if locale.language == present.language else locale.get_display_name(present) or ""
    return ""
