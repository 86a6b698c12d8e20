"""What all of several have to be, and that there are any."""

from collections.abc import Iterable


def every(values: Iterable[object]) -> bool:
    """As `all`, of at least one."""
    found = list(values)
    assert found, "There is nothing of which it could hold."
    return all(found)
