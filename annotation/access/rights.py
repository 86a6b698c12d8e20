"""Who may do what with a study or a benchmark: one table of roles, and the questions asked of it.

docs/explained/roles.md says the same in words. Superusers may do everything; what nobody owns is
theirs.
A role in a study says nothing about other studies of its benchmark, nor one in a benchmark about
its studies, with one exception: whoever may see the gold of a study may see its benchmark's, since
both are the same examples.
"""

from enum import StrEnum
from typing import TypeVar

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet

from annotation.models import Benchmark, MemberRole, Membership, Study

Who = AbstractBaseUser | AnonymousUser
Thing = Study | Benchmark
ThingT = TypeVar("ThingT", Study, Benchmark)


class Right(StrEnum):
    TABLES = "tables"  # comparisons, figures, reports, progress in numbers
    GOLD = "gold"  # gold, items, answers item by item
    SET_UP = "set_up"  # settings, batches, imports, gold corrections, start, pause, close
    PEOPLE = "people"  # assignments and judgements by pseudonym, exclusions
    IDS = "ids"  # external ids, submission ids, invitations
    PAY = "pay"  # what anybody is paid
    ERASE = "erase"  # erasing who an annotator is
    MEMBERS = "members"  # giving and taking roles, deleting drafts


_VIEWER = frozenset({Right.TABLES})
_EDITOR = _VIEWER | {Right.GOLD, Right.SET_UP, Right.PEOPLE}
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
    if is_all_powerful(user):
        return frozenset(Right)
    return RIGHTS.get(role_in(user, thing) or "", frozenset())


def may(user: Who, thing: Thing, right: Right) -> bool:
    return right in rights_in(user, thing)


def may_see_gold(user: Who, benchmark: Benchmark) -> bool:
    """Whether a user may know the right answers of a benchmark's test items."""
    return benchmarks_with_gold(user).filter(pk=benchmark.pk).exists()


def studies(user: Who, right: Right | None = None) -> QuerySet[Study]:
    """The studies in which a user has a right, or any role."""
    return _all_or(Study.objects.all(), user, _held_by(user, right))


def benchmarks(user: Who, right: Right | None = None) -> QuerySet[Benchmark]:
    """The benchmarks in which a user has a right, or any role."""
    return _all_or(Benchmark.objects.all(), user, _held_by(user, right))


def benchmarks_with_gold(user: Who) -> QuerySet[Benchmark]:
    """Those whose gold a user may see, by a role in them or in one of their studies."""
    if not user.is_authenticated:
        return Benchmark.objects.none()
    held = Membership.objects.filter(user_id=user.pk, role__in=roles_with(Right.GOLD))
    through = Q(pk__in=held.filter(benchmark__isnull=False).values("benchmark")) | Q(
        pk__in=held.filter(study__isnull=False).values("study__benchmark")
    )
    return _all_or(Benchmark.objects.all(), user, through)


def _all_or(things: QuerySet[ThingT], user: Who, held: Q) -> QuerySet[ThingT]:
    if is_all_powerful(user):
        return things
    return things.filter(held) if user.is_active else things.none()


def _held_by(user: Who, right: Right | None) -> Q:
    return Q(memberships__user=user.pk, memberships__role__in=roles_with(right))
