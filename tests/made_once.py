"""Rows that tests share: made once, and rolled back after the last of them. Each of those tests
works in a transaction of its own within this one, and must not be a transactional one itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

Made = TypeVar("Made")


@contextmanager
def made_once(blocker: DjangoDbBlocker, make: Callable[[], Made]) -> Iterator[Made]:
    """What `make` returns. For a fixture that asks for `django_db_setup` and `django_db_blocker`,
    of the scope of a module."""
    within = transaction.atomic()
    with blocker.unblock():
        within.__enter__()
        made = make()
    try:
        yield made
    finally:
        with blocker.unblock():
            transaction.set_rollback(True)
            within.__exit__(None, None, None)
