"""Constraints in a line each. Every rule that the database can hold has a name."""

from collections.abc import Sequence

from django.db.models import CheckConstraint, Q, UniqueConstraint


def check(name: str, condition: Q | None = None, **lookups: object) -> CheckConstraint:
    return CheckConstraint(condition=condition or Q(**lookups), name=name)


def if_given(name: str, field: str, **bounds: object) -> CheckConstraint:
    """Bounds of a field that may be empty: “gte=0”."""
    inside = {f"{field}__{bound}": value for bound, value in bounds.items()}
    return check(name, Q(**{f"{field}__isnull": True}) | Q(**inside))


def one_of(name: str, first: str, second: str) -> CheckConstraint:
    """A constraint: of these two, exactly one is given."""
    cases = [Q(**{f"{first}__isnull": way, f"{second}__isnull": not way}) for way in (False, True)]
    return check(name, cases[0] | cases[1])


def once(
    name: str, fields: Sequence[str], sentence: str | None = None, *, condition: Q | None = None
) -> UniqueConstraint:
    """No two rows have the same of all these, among those for which the condition holds."""
    return UniqueConstraint(
        fields=list(fields), condition=condition, name=name, violation_error_message=sentence
    )
