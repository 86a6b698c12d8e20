"""Many joins within minutes, far above the usual pace: on an open link one script can do that.

A class that begins together looks the same, so this decides nothing. No address is stored, so
nobody can tell from where they came.
"""

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=5)
# Fewer may be friends who were sent the link together.
ENOUGH_JOINS = 10
# How many times the joins that a window has at the pace of the other time.
FAR_ABOVE = 5


@dataclass(frozen=True)
class Burst:
    joins: int
    # Of all who joined.
    everybody: int
    begins: datetime

    @property
    def minutes(self) -> int:
        return WINDOW // timedelta(minutes=1)


def burst_of(joins: Collection[datetime], *, since: datetime, until: datetime) -> Burst | None:
    """The busiest minutes of a study, if they are far above the others."""
    times = sorted(joins)
    ends = [bisect_right(times, begins + WINDOW) for begins in times]
    counted = [(end - begin, begin) for begin, end in enumerate(ends)]
    most, begin = max(counted, key=lambda found: found[0], default=(0, 0))
    if most < ENOUGH_JOINS:
        return None
    windows = max((until - since - WINDOW) / WINDOW, 1)
    if most < FAR_ABOVE * (len(times) - most) / windows:
        return None
    return Burst(most, len(times), times[begin])
