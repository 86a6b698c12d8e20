"""Several threads that start the same work at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection

Result = TypeVar("Result")


def at_once(work: Callable[[int], Result], times: int) -> list[Result]:
    """Run `work(0)` … `work(times − 1)` together, each on its own connection."""
    barrier = Barrier(times)

    def run(number: int) -> Result:
        barrier.wait()
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(run, range(times)))
