"""What watches a job beside its work: a thread of its worker says that it lives, however long one
step of it takes, and ends a job that takes more time or memory than one may."""

import logging
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from django.conf import settings
from django.db import DatabaseError, connection

BEAT_S = 10.0
# So long a job that was told to end may still take, before its worker ends with it.
GRACE_S = 30.0
PAGE_BYTES = resource.getpagesize()

logger = logging.getLogger(__name__)


@contextmanager
def watched(beat: Callable[[], object], end: Callable[[str], object]) -> Iterator[None]:
    """beat: tells the row that the work lives; end: ends it, with why."""
    over = Event()
    watch = Thread(target=_watch, args=(over, beat, end), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()
        watch.join()


def _watch(over: Event, beat: Callable[[], object], end: Callable[[str], object]) -> None:
    began = monotonic()
    try:
        while not over.wait(BEAT_S):
            if refusal := _too_much(monotonic() - began):
                _told(lambda: end(refusal))
                if not over.wait(GRACE_S):
                    logger.error("A worker ends with its job: %s", refusal)
                    os._exit(1)
                return
            _told(beat)
    finally:
        connection.close()


def _told(act: Callable[[], object]) -> None:
    """A database that is away for a moment ends no job."""
    try:
        act()
    except DatabaseError as problem:
        logger.warning("A job's row could not be told: %s", problem)
        connection.close()


def _too_much(passed_s: float) -> str:
    if passed_s > 3600 * settings.JOB_HOURS:
        return (
            f"This took longer than {settings.JOB_HOURS} hours (JOB_HOURS), and was ended: give it "
            "less, or let it take longer."
        )
    if _memory() > settings.JOB_MEGABYTES * 1_000_000:
        return (
            f"This took more than {settings.JOB_MEGABYTES:,} MB of memory (JOB_MEGABYTES), and was "
            "ended: give it less, or let it take more."
        )
    return ""


def _memory() -> int:
    """Bytes of this process; on other systems than Linux the most that it ever had."""
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
