"""Places: claimed, renewed and lost."""

from datetime import datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Assignment, Batch, Place
from annotation.work import places
from annotation.work.places import claim_place, holds_place, open_places, renew_lease
from tests import make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

LEASE = timedelta(minutes=10)


def _batch(wanted: int) -> Batch:
    return make.running_batch(wanted=wanted, lease_minutes=10)


def _numbers(batch: Batch, **fields: object) -> list[int]:
    chosen = Place.objects.filter(batch=batch, **fields)
    return list(chosen.order_by("number").values_list("number", flat=True))


def test_makes_each_wanted_place_once() -> None:
    batch = _batch(wanted=2)
    batch.wanted = 3
    open_places(batch)
    open_places(batch)
    assert _numbers(batch, simulated=False) == [1, 2, 3]
    assert _numbers(batch, simulated=True) == []
    open_places(batch, simulated=True)
    assert _numbers(batch, simulated=True) == [1, 2, 3]


def test_gives_the_empty_places_by_number_and_then_the_one_whose_lease_lapsed() -> None:
    batch = _batch(wanted=3)
    people = [make.joined(batch, at=make.NOON + timedelta(minutes=n)) for n in (0, 5, 6)]
    assert [who.place.number for who in people] == [1, 2, 3]
    assert [who.place.lease_until - who.joined_at for who in people] == [LEASE] * 3
    late = make.joined(batch, at=make.NOON + timedelta(minutes=14))
    assert late.place.number == 1
    assert not holds_place(Assignment.objects.get(pk=people[0].pk))


def test_takes_the_next_place_when_another_join_is_quicker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = _batch(wanted=3)
    quick, slow, kept = (make.joined(batch) for _ in range(3))
    Place.objects.filter(holder__in=[quick, slow]).update(holder=None, lease_until=None)

    def claim_in_between(assignment: Assignment, at: datetime) -> datetime:
        if not Place.objects.filter(holder=quick).exists():
            Place.objects.filter(number=1).update(holder=quick, lease_until=at + LEASE)
        return at + LEASE

    monkeypatch.setattr(places, "_lease_end", claim_in_between)
    claimed = claim_place(slow, at=make.NOON)
    assert claimed == Place.objects.get(holder=slow)
    holders = Place.objects.filter(batch=batch).order_by("number")
    assert [place.holder for place in holders] == [quick, slow, kept]


def test_gives_nothing_when_every_place_is_taken() -> None:
    batch = _batch(wanted=1)
    holder = make.joined(batch)
    # At its very end a lease has not lapsed.
    assert claim_place(holder, at=make.NOON + LEASE) is None
    assert claim_place(holder, at=make.NOON + LEASE + timedelta(seconds=1)) == holder.place


def test_renews_a_lease_when_half_of_it_is_over(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    assignment = make.at_work(_batch(wanted=1))
    assert holds_place(assignment)
    with django_assert_num_queries(0):
        assert renew_lease(assignment, at=make.NOON + timedelta(minutes=4, seconds=59))
    half = make.NOON + timedelta(minutes=5)
    assert renew_lease(assignment, at=half) is True
    assert assignment.place.lease_until == half + LEASE
    assert Place.objects.get(holder=assignment).lease_until == half + LEASE


def test_renews_a_lease_that_has_lapsed_unless_a_join_took_the_place() -> None:
    batch = _batch(wanted=1)
    slow = make.at_work(batch)
    later = make.NOON + timedelta(minutes=11)
    assert renew_lease(Assignment.objects.get(pk=slow.pk), at=later)
    much_later = later + timedelta(minutes=11)
    other = make.joined(batch, at=much_later)
    assert renew_lease(Assignment.objects.get(pk=slow.pk), at=much_later) is False
    assert Place.objects.get(batch=batch).holder == other
