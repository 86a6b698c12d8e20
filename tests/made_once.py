"""Rows that tests share: made once, and rolled back after the last of them. Each of those tests
works in a transaction of its own within this one, and must not be a transactional one itself.

    cell_once = once_a_module(lambda: measured.cell([3, 4, 6]))

    @pytest.fixture
    def batch(cell_once: Batch) -> Batch:
        return deepcopy(cell_once)

The copy is a test's own: what it sets there, and what Django keeps there of what it read, is no
other's.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Any, TypeVar

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone, translation
from pytest_django import DjangoDbBlocker

from annotation.access import throttles
from annotation.jobs import queue
from annotation.models import clock
from annotation.models.frozen import batch_content, sequence
from annotation.models.resting import Rest
from annotation.people.flags import _has_wrong
from annotation.work.page import asked_html, item_with_gaps
from config.health import fitness

Made = TypeVar("Made")


def forget() -> None:
    """Rolled-back rows pass their keys on to the next test, which must not see their content, nor
    the language in which a page was requested."""
    translation.deactivate()
    cache.clear()
    for cached in (batch_content, sequence, asked_html, item_with_gaps):
        cached.cache_clear()
    _has_wrong.clear()
    # A server that did not answer in one test is asked again in the next.
    throttles._cache_rests, queue._broker_rests = Rest(), Rest()
    # What a process asks now and then would be a query too many where they are counted.
    here = timezone.now()
    clock.Reading.latest = clock.Reading(here, here, monotonic())
    fitness.__init__()  # type: ignore[misc]
    fitness._rest._until = inf


@contextmanager
def made_once(blocker: DjangoDbBlocker, make: Callable[[], Made]) -> Iterator[Made]:
    """What `make` returns. For a fixture that asks for `django_db_setup` and `django_db_blocker`,
    of the scope of a module."""
    within = transaction.atomic()
    with blocker.unblock():
        within.__enter__()
        forget()  # a fixture of a module comes before those of a test
        made = make()
    try:
        yield made
    finally:
        with blocker.unblock():
            transaction.set_rollback(True)
            within.__exit__(None, None, None)


def once_a_module(make: Callable[[], Made]) -> Any:
    """A fixture of what `make` returns, for the module that gives it a name."""

    @pytest.fixture(scope="module")
    def fixture(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Made]:
        with made_once(django_db_blocker, make) as made:
            yield made

    return fixture
