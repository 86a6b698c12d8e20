"""The interval of a cell over several splits, under its public name."""

from scoring.core.intervals import split_interval

__all__ = ["split_interval"]
