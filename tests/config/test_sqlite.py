"""Writers on SQLite: how they wait for each other, and Python's garbage collector between them."""

import gc
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import pytest
from django.contrib.auth.models import Group
from django.db import DatabaseError, OperationalError, connection, transaction

from config.sqlite.base import DatabaseWrapper

pytestmark = pytest.mark.django_db(transaction=True)
OURS = Group.objects.filter(name__in=["one", "other", "first", "second", "later", "refused"])


@pytest.fixture(autouse=True)
def on_sqlite() -> Iterator[None]:
    if connection.vendor != "sqlite":
        pytest.skip("It is about SQLite's lock.")
    assert gc.isenabled()
    yield
    assert gc.isenabled()
    OURS.delete()  # flushing leaves groups


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


class Other:
    """Holds the lock as another process would."""

    def __init__(self) -> None:
        name = connection.settings_dict["NAME"]
        self._connection = sqlite3.connect(
            name, isolation_level=None, uri=name.startswith("file:"), check_same_thread=False
        )

    def __enter__(self) -> Self:
        self._connection.execute("BEGIN IMMEDIATE")
        return self

    def release(self) -> None:
        self._connection.execute("ROLLBACK")

    def __exit__(self, *_: object) -> None:
        self._connection.close()


@pytest.fixture
def impatient() -> Iterator[None]:
    options = connection.settings_dict["OPTIONS"]
    usual = options["timeout"]
    options["timeout"] = 0.2
    yield
    options["timeout"] = usual


def store(name: str) -> None:
    with transaction.atomic():
        Group.objects.create(name=name)


def stored() -> set[str]:
    return set(OURS.values_list("name", flat=True))


@pytest.mark.usefixtures("impatient")
def test_gives_up_where_another_process_keeps_the_lock_and_writes_afterwards() -> None:
    with Other() as other:
        with pytest.raises(OperationalError, match="locked"):
            store("refused")
        other.release()
        store("later")
    assert stored() == {"later"}


@pytest.mark.usefixtures("impatient")
def test_gives_up_where_another_thread_keeps_the_lock_and_writes_afterwards() -> None:
    with transaction.atomic():
        Group.objects.create(name="first")
        with ThreadPoolExecutor(1) as pool, pytest.raises(OperationalError, match="locked"):
            pool.submit(in_own_connection, store, "refused").result()
    store("later")
    assert stored() == {"first", "later"}


def test_asks_for_the_lock_once_nobody_before_it_in_the_process_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = threading.Event()
    begin = DatabaseWrapper._begin

    def ask(wrapper: DatabaseWrapper) -> None:
        asked.set()
        begin(wrapper)

    with transaction.atomic():
        Group.objects.create(name="first")
        monkeypatch.setattr(DatabaseWrapper, "_begin", ask)
        pool = ThreadPoolExecutor(1)
        waiting = pool.submit(in_own_connection, store, "second")
        assert not asked.wait(0.3)
    waiting.result()
    pool.shutdown()
    assert asked.is_set()
    assert stored() == {"first", "second"}


def test_a_write_of_its_own_waits_as_long_as_ever_after_a_transaction() -> None:
    """A lone statement begins no transaction: SQLite itself waits for it."""
    store("first")
    with Other() as other:
        threading.Timer(0.3, other.release).start()
        Group.objects.create(name="second")
    assert stored() == {"first", "second"}


def in_own_connection(act: Callable[[str], None], name: str) -> None:
    try:
        act(name)
    finally:
        connection.close()
