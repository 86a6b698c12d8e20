"""Who may do what with a study or a benchmark: one table of roles, the questions asked
of it, and the acts that give and take roles.

docs/explained/roles.md says the same in words. Superusers may do everything; what nobody owns is
theirs.
A role in a study says nothing about other studies of its benchmark, nor one in a benchmark about
its studies, with one exception: whoever may see the gold of a study may see its benchmark's, since
both are the same examples.
"""

from enum import StrEnum
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group, Permission, User
from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.models import Benchmark, ChangeAction, MemberRole, Membership, Study
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal

Who = AbstractBaseUser | AnonymousUser
Thing = Study | Benchmark
ThingT = TypeVar("ThingT", Study, Benchmark)


# Made by the migrations: what it takes to use the admin for one's own things.
GROUP = "Researchers"
READS = ("view_study", "view_benchmark")
# Those whose staff status and group came with a role, and go with the last one.
BY_ROLE = "Researchers by role"


class Right(StrEnum):
    TABLES = "tables"  # comparisons as means, progress in numbers
    GOLD = "gold"  # gold, items, answers item by item; verdicts, analysis, report
    SET_UP = "set_up"  # settings, batches, imports, gold corrections, start, pause, close
    CODES = "codes"  # completion codes, which are worth money
    PEOPLE = "people"  # assignments and judgements by pseudonym, exclusions
    IDS = "ids"  # external ids, submission ids, invitations
    PAY = "pay"  # what anybody is paid
    ERASE = "erase"  # erasing who an annotator is
    MEMBERS = "members"  # giving and taking roles, deleting drafts


_VIEWER = frozenset({Right.TABLES})
_EDITOR = _VIEWER | {Right.GOLD, Right.SET_UP, Right.CODES, Right.PEOPLE}
_OWNER = _EDITOR | {Right.IDS, Right.PAY, Right.ERASE, Right.MEMBERS}
RIGHTS: dict[str, frozenset[Right]] = {
    MemberRole.VIEWER: _VIEWER,
    MemberRole.EDITOR: _EDITOR,
    MemberRole.OWNER: _OWNER,
}


def roles_with(right: Right | None) -> list[str]:
    """The roles that have a right; without a right, every role."""
    return [role for role, rights in RIGHTS.items() if right is None or right in rights]


def is_all_powerful(user: Who) -> bool:
    return bool(user.is_active and getattr(user, "is_superuser", False))


def members(thing: Thing) -> QuerySet[Membership]:
    return thing.memberships.select_related("user")


def role_in(user: Who, thing: Thing) -> str | None:
    if not user.is_active:
        return None
    return members(thing).filter(user_id=user.pk).values_list("role", flat=True).first()


def is_member(user: Who, thing: Thing) -> bool:
    """Whether the thing exists for this user at all."""
    return is_all_powerful(user) or role_in(user, thing) is not None


def rights_in(user: Who, thing: Thing) -> frozenset[Right]:
    """The rights that a role gives; with a token that may not pay, without what concerns pay."""
    may_pay = getattr(getattr(user, "token", None), "may_pay", True)
    by_role = _by_role(user, thing)
    return by_role if may_pay else by_role - {Right.PAY, Right.CODES}


def _by_role(user: Who, thing: Thing) -> frozenset[Right]:
    if is_all_powerful(user):
        return frozenset(Right)
    return RIGHTS.get(role_in(user, thing) or "", frozenset())


def may(user: Who, thing: Thing, right: Right) -> bool:
    return right in rights_in(user, thing)


def may_see_gold(user: Who, benchmark: Benchmark) -> bool:
    return benchmarks_with_gold(user).filter(pk=benchmark.pk).exists()


def studies(user: Who, right: Right | None = None) -> QuerySet[Study]:
    """The studies in which a user has a right, or any role."""
    return _all_or(Study.objects.all(), user, _held_by(user, right))


def benchmarks(user: Who, right: Right | None = None) -> QuerySet[Benchmark]:
    return _all_or(Benchmark.objects.all(), user, _held_by(user, right))


def benchmarks_with_gold(user: Who) -> QuerySet[Benchmark]:
    """Those whose gold a user may see, by a role in them or in one of their studies."""
    if not user.is_authenticated:
        return Benchmark.objects.none()
    memberships = Membership.objects.filter(user_id=user.pk, role__in=roles_with(Right.GOLD))
    through = Q(pk__in=memberships.filter(benchmark__isnull=False).values("benchmark")) | Q(
        pk__in=memberships.filter(study__isnull=False).values("study__benchmark")
    )
    return _all_or(Benchmark.objects.all(), user, through)


def _all_or(things: QuerySet[ThingT], user: Who, through: Q) -> QuerySet[ThingT]:
    if is_all_powerful(user):
        return things
    return things.filter(through) if user.is_active else things.none()


def _held_by(user: Who, right: Right | None) -> Q:
    return Q(memberships__user=user.pk, memberships__role__in=roles_with(right))


def whom_to_ask(**things: Any) -> str:
    """Who owns these and could let somebody in, as a sentence."""
    owners = Membership.objects.filter(role=MemberRole.OWNER, user__is_active=True, **things)
    names = sorted(set(owners.values_list("user__username", flat=True)))
    who = ", ".join(names) if names else "whoever keeps this installation"
    return f"Your role does not open this page. Who could let you in: {who}."


NEEDS_PAY = (
    "This token does not open what concerns payments, though your role does: make one that may, on "
    "the page Account (your name, top right)."
)


def why_not(user: Who, thing: Thing, right: Right) -> str:
    """What a member lacks who may not: the token's right to what the role opens, or the role."""
    if right in _by_role(user, thing) - rights_in(user, thing):
        return NEEDS_PAY
    return whom_to_ask(**{f"{thing._meta.model_name}": thing})


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
        _admit(user, MemberRole.OWNER)


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
        if role:
            _admit(user, role)
        if before == role:
            return
        others = members(thing).filter(role=MemberRole.OWNER).exclude(user=user)
        if before == MemberRole.OWNER and not others and not is_all_powerful(by):
            raise Refusal("Somebody has to own it: make another member an owner first.")
        if role:
            thing.memberships.update_or_create(user=user, defaults={"role": role})
        else:
            members(thing).filter(user=user).delete()
        _dismiss(user)
        name = user.get_username()
        was, now = ({name: of_member} if of_member else {} for of_member in (before, role))
        record(by, thing, ChangeAction.RIGHTS, was, now)


def _admit(user: User, role: str) -> None:
    """What pages ask for besides a role, so that nobody ticks it by hand. Viewers use no admin."""
    if role == MemberRole.VIEWER:
        reads = Permission.objects.filter(content_type__app_label="annotation")
        user.user_permissions.add(*reads.filter(codename__in=READS))
    else:
        if not user.is_staff:
            user.groups.add(Group.objects.get_or_create(name=BY_ROLE)[0])
        user.groups.add(*Group.objects.filter(name=GROUP))
        User.objects.filter(pk=user.pk).update(is_staff=True)


def _dismiss(user: User) -> None:
    """Take back what roles had brought, once somebody may set nothing up any more."""
    sets_up = Membership.objects.filter(user=user, role__in=roles_with(Right.SET_UP))
    if user.groups.filter(name=BY_ROLE).exists() and not sets_up.exists():
        user.groups.remove(*Group.objects.filter(name__in=(GROUP, BY_ROLE)))
        User.objects.filter(pk=user.pk).update(is_staff=False)
