"""Giving and taking roles."""

import pytest
from django.contrib.auth.models import User

from annotation.access.rights import find_user, give_role, make_owner, role_in
from annotation.models import Benchmark
from annotation.models.errors import BadInput, Refusal
from tests import make
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return make.benchmark()


def test_keeps_the_last_owner(benchmark: Benchmark) -> None:
    owner = make.member(benchmark)
    with pytest.raises(Refusal, match="another member an owner first"):
        give_role(benchmark, owner, None, by=owner)
    with pytest.raises(Refusal, match="another member an owner first"):
        give_role(benchmark, owner, "viewer", by=owner)
    assert role_in(owner, benchmark) == "owner"
    give_role(benchmark, make.researcher(), "owner", by=owner)
    give_role(benchmark, owner, None, by=owner)
    assert role_in(owner, benchmark) is None


def test_lets_a_superuser_take_the_last_owner_away(benchmark: Benchmark, admin_user: User) -> None:
    owner = make.member(benchmark)
    give_role(benchmark, owner, None, by=admin_user)
    assert not benchmark.memberships.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_keeps_one_of_two_owners_who_leave_at_once(benchmark: Benchmark) -> None:
    owners = [make.member(benchmark) for _ in range(2)]

    def leave(number: int) -> bool:
        try:
            give_role(benchmark, owners[number], None, by=owners[number])
        except Refusal:
            return False
        return True

    assert sorted(at_once(leave, 2)) == [False, True]
    assert benchmark.memberships.count() == 1


def test_gives_what_nobody_makes_to_nobody(benchmark: Benchmark) -> None:
    make_owner(benchmark, None)
    assert not benchmark.memberships.exists()


def test_finds_nobody_without_an_account() -> None:
    User.objects.create_user("gone", is_active=False)
    for name in ("nobody", "gone"):
        with pytest.raises(BadInput, match=f"“{name}”"):
            find_user(name)
