"""The table of roles, and the questions asked of it."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction

from annotation.access.rights import (
    RIGHTS,
    Right,
    benchmarks,
    benchmarks_with_gold,
    is_member,
    may,
    may_see_gold,
    roles_with,
    studies,
)
from annotation.models import SETS_UP, Change, MemberRole, Membership
from tests import make
from tests.every import every

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return User.objects.create_user("member", is_staff=True)


def test_gives_each_role_all_that_the_one_below_it_may() -> None:
    assert RIGHTS["viewer"] < RIGHTS["editor"] < RIGHTS["owner"] == set(Right)
    assert set(roles_with(Right.SET_UP)) == set(SETS_UP)


def test_is_what_the_documentation_says() -> None:
    lines = Path("docs/explained/roles.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith("| `")]
    told = {
        role: {row[0].strip(" `") for row in rows if row[place].strip() == "yes"}
        for place, role in ((2, "viewer"), (3, "editor"), (4, "owner"))
    }
    assert told == {role: set(map(str, rights)) for role, rights in RIGHTS.items()}


@pytest.mark.parametrize("role", MemberRole.values)
def test_reads_a_members_rights_from_the_table(user: User, role: str) -> None:
    study = make.study(make.benchmark())
    Membership.objects.create(user=user, study=study, role=role)
    assert {right for right in Right if may(user, study, right)} == RIGHTS[role]
    assert is_member(user, study)
    assert not is_member(user, study.benchmark)
    assert list(studies(user)) == [study]
    assert list(studies(user, Right.MEMBERS)) == ([study] if role == "owner" else [])


def test_gives_a_stranger_nothing(user: User) -> None:
    study = make.study(make.benchmark())
    for somebody in (user, AnonymousUser()):
        assert not is_member(somebody, study)
        assert not any(may(somebody, study, right) for right in Right)
        assert not may_see_gold(somebody, study.benchmark)
        assert not studies(somebody).exists()
        assert not benchmarks(somebody).exists()


def test_gives_a_superuser_everything_and_an_inactive_one_nothing(admin_user: User) -> None:
    study = make.study(make.benchmark())
    assert every(may(admin_user, study, right) for right in Right)
    assert may_see_gold(admin_user, study.benchmark)
    admin_user.is_active = False
    assert not may(admin_user, study, Right.TABLES)
    assert not may_see_gold(admin_user, study.benchmark)


def test_takes_an_inactive_members_rights_away(user: User) -> None:
    study = make.study(make.benchmark())
    Membership.objects.create(user=user, study=study, role="owner")
    user.is_active = False
    assert not is_member(user, study)
    assert not studies(user).exists()
    assert not may_see_gold(user, study.benchmark)


@pytest.mark.parametrize(("role", "sees"), [("viewer", False), ("editor", True), ("owner", True)])
@pytest.mark.parametrize("through", ["study", "benchmark"])
def test_shows_gold_to_editors_of_the_benchmark_or_of_a_study_on_it(
    user: User, role: str, sees: bool, through: str
) -> None:
    study = make.study(make.benchmark())
    thing = {"study": study} if through == "study" else {"benchmark": study.benchmark}
    Membership.objects.create(user=user, role=role, **thing)
    assert may_see_gold(user, study.benchmark) is sees
    assert not may_see_gold(user, make.benchmark())
    assert list(benchmarks_with_gold(user)) == ([study.benchmark] if sees else [])


def test_keeps_a_membership_of_exactly_one_thing(user: User) -> None:
    study = make.study(make.benchmark())
    for things in ({}, {"study": study, "benchmark": study.benchmark}):
        with pytest.raises(IntegrityError, match="membership_of_one"), transaction.atomic():
            Membership.objects.create(user=user, role="owner", **things)
    with pytest.raises(IntegrityError, match="change_of_one"), transaction.atomic():
        Change.objects.create(action="closed")


def test_gives_a_person_one_role_in_a_thing(user: User) -> None:
    study = make.study(make.benchmark())
    for thing in ({"study": study}, {"benchmark": study.benchmark}):
        Membership.objects.create(user=user, role="owner", **thing)
        with pytest.raises(IntegrityError), transaction.atomic():
            Membership.objects.create(user=user, role="viewer", **thing)


def test_knows_no_other_role(user: User) -> None:
    with pytest.raises(IntegrityError, match="membership_role_known"), transaction.atomic():
        Membership.objects.create(user=user, study=make.study(make.benchmark()), role="guest")
