"""Giving and taking roles: acts on the members of a study or benchmark."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.access.rights import Right, Thing, is_all_powerful, may, members, role_in
from annotation.models import Benchmark, ChangeAction, MemberRole
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal


def find_user(name: str) -> User:
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise BadInput(f"Nobody signs in here as “{name}”: check the name.")
    return user


def find_owner(name: str | None) -> User | None:
    """Whom a command gives what it makes to; nobody if none is named."""
    return find_user(name) if name else None


def make_owner(thing: Thing, user: User | None) -> None:
    """Whoever makes a study or benchmark owns it; what nobody makes is the superusers'."""
    if user is not None:
        thing.memberships.create(user=user, role=MemberRole.OWNER)


def check_may_import(name: str, user: User) -> None:
    """Refuse somebody who would change another's benchmark by importing into it."""
    benchmark = Benchmark.objects.filter(name=name).first()
    if benchmark is not None and not may(user, benchmark, Right.SET_UP):
        raise Refusal(f"“{name}” is somebody else's benchmark: choose another name.")


def give_role(thing: Thing, user: User, role: str | None, *, by: User) -> None:
    """Add a member, change a member's role, or with none remove a member."""
    with transaction.atomic():
        # Two owners who leave at the same time: the second one sees that the first has left.
        list(type(thing)._default_manager.select_for_update().filter(pk=thing.pk))
        before = role_in(user, thing)
        if before == role:
            return
        _keep_an_owner(thing, user, role, by=by)
        if role:
            thing.memberships.update_or_create(user=user, defaults={"role": role})
        else:
            members(thing).filter(user=user).delete()
        name = user.get_username()
        was, now = ({name: one} if one else {} for one in (before, role))
        record(by, thing, ChangeAction.RIGHTS, was, now)


def _keep_an_owner(thing: Thing, user: User, role: str | None, *, by: User) -> None:
    others = members(thing).filter(role=MemberRole.OWNER).exclude(user=user)
    is_owner = role_in(user, thing) == MemberRole.OWNER
    if is_owner and role != MemberRole.OWNER and not others and not is_all_powerful(by):
        raise Refusal("Somebody has to own it: make another member an owner first.")
