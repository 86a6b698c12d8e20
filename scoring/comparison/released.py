"""Rounding what scores tell to whoever may not see the gold.

A figure with all its digits can be a sum that only one set of golds gives. One that is rounded, of
a run that answers every item, takes at most 1,001 values: ten bits.
"""

DIGITS = 1


def released(percent: float) -> float:
    return round(percent, DIGITS)
