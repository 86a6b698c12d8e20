"""Writers on SQLite, and Python's garbage collector between them."""

import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, connection, transaction

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def on_sqlite() -> Iterator[None]:
    if connection.vendor != "sqlite":
        pytest.skip("It is about SQLite's lock.")
    assert gc.isenabled()
    yield
    assert gc.isenabled()


def test_collects_nothing_while_the_lock_is_held() -> None:
    with transaction.atomic():
        assert not gc.isenabled()
        with transaction.atomic():
            Group.objects.create(name="one")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collects_again_after_whatever_ended_the_transaction() -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    assert gc.isenabled()
    with transaction.atomic():
        connection.close()
    assert gc.isenabled()


@pytest.fixture
def collected_by_the_main_thread() -> Iterator[Callable[[], None]]:
    """What puts an end to waiting for it."""
    usual = gc.get_threshold()
    gc.set_threshold(sys.maxsize >> 33)
    yield lambda: gc.set_threshold(*usual)
    gc.set_threshold(*usual)


def test_lets_a_writer_end_whom_another_waits_for(
    collected_by_the_main_thread: Callable[[], None],
) -> None:
    """The other's cursor lies in a cycle, for the collector to free."""
    writes, outcome = threading.Event(), []

    def write() -> None:
        cycle: list[Any] = [connection.cursor()]
        cycle[0].execute("SELECT 1 UNION SELECT 2")
        cycle.append(cycle)
        del cycle
        writes.set()
        try:
            Group.objects.create(name="other")
            outcome.append("stored")
        except DatabaseError as refusal:
            outcome.append(str(refusal))
        finally:
            connection.close()

    thread = threading.Thread(target=write)
    with transaction.atomic():
        thread.start()
        writes.wait()
        time.sleep(0.5)  # until it waits
        collected_by_the_main_thread()
        assert [[number] for number in range(100_000)]
    thread.join()
    assert outcome == ["stored"]
