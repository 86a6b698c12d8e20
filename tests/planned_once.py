"""Whoever asks the planner for the same plan in one file gets it from the first who asked: it takes
a second each time. For a file that assigns `planned_once` to a name."""

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from scoring.planning import views
from scoring.planning.plans import Plan, make_plan


@pytest.fixture(scope="module", autouse=True)
def planned_once() -> Iterator[None]:
    kept = dict[str, Plan]()

    def plan(*asked: Any, **wanted: Any) -> Plan:
        question = repr((asked, wanted))
        if question not in kept:
            kept[question] = make_plan(*asked, **wanted)
        return kept[question]

    with mock.patch.object(views, "make_plan", plan):
        yield
