"""What a currency is paid in."""

from decimal import Decimal
from functools import cache

from babel.numbers import get_currency_precision

CENT = Decimal("0.01")


@cache
def smallest_unit(currency: str) -> Decimal:
    """The least that is paid in a currency: a cent, or a whole yen."""
    return max(CENT, Decimal(1).scaleb(-get_currency_precision(currency)))
