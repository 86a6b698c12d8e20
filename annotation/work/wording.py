"""Amounts and times as people read them, the same on every page."""

from decimal import Decimal

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()
NO_BREAK_SPACE = "\u00a0"


@register.filter("money")
def amount_text(amount: Decimal | int, currency: str) -> str:
    """In the way of the reader's language, with the currency's code: 1,234.50 USD."""
    number = number_format(amount, decimal_pos=2, use_l10n=True, force_grouping=True)
    return f"{number}{NO_BREAK_SPACE}{currency}"


def time_text(seconds: int) -> str:
    """To the second, so that an amount can be worked out again: 20 minutes 54 seconds."""
    minutes, rest = divmod(seconds, 60)
    parts = [minutes_text(minutes)] if minutes else []
    if rest or not minutes:
        parts.append(ngettext("%(n)d second", "%(n)d seconds", rest) % {"n": rest})
    return " ".join(parts)


def minutes_text(minutes: int) -> str:
    return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}


def range_text(least: str, most: str) -> str:
    """From one text of an amount or a time to another, if they differ."""
    if least == most:
        return most
    return _("%(least)s to %(most)s") % {"least": least, "most": most}
