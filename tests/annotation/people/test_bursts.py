"""When joins come far above the usual pace."""

from datetime import datetime, timedelta
from typing import Any

from annotation.people.overview import burst_of
from tests.make import NOON

UNTIL = NOON + timedelta(hours=10)


def at(*minutes: float) -> list[datetime]:
    return [NOON + timedelta(minutes=minute) for minute in minutes]


def found(joins: list[datetime]) -> dict[str, Any] | None:
    return burst_of(joins, since=NOON, until=UNTIL)


def test_finds_the_busiest_minutes() -> None:
    crowd = at(*(60 + second / 60 for second in range(40)))
    assert found([*crowd, *at(3, 200, 400)]) == {
        "joins": 40,
        "everybody": 43,
        "begins": NOON + timedelta(hours=1),
        "minutes": 5,
    }


def test_says_nothing_of_a_steady_pace_however_high() -> None:
    assert found(at(*(minute / 3 for minute in range(1800)))) is None


def test_says_nothing_of_a_few_friends_or_of_nobody() -> None:
    assert found(at(*(60 + second / 60 for second in range(9)))) is None
    assert found([]) is None


def test_sees_a_study_that_was_filled_as_it_opened() -> None:
    joins = at(*(second / 60 for second in range(71)))
    burst = burst_of(joins, since=NOON, until=NOON + timedelta(minutes=2))
    assert burst is not None
    assert (burst["joins"], burst["everybody"], burst["begins"]) == (71, 71, NOON)
