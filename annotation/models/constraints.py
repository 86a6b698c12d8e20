"""Constraints in a line each. Every rule that the database can hold has a name."""

from collections.abc import Sequence

from django.db.models import CheckConstraint, Q, UniqueConstraint


def check(name: str, condition: Q | None = None, **lookups: object) -> CheckConstraint:
    return CheckConstraint(condition=condition or Q(**lookups), name=name)


def once(name: str, fields: Sequence[str], *, condition: Q | None = None) -> UniqueConstraint:
    """No two rows have the same of all these, among those for which the condition holds."""
    return UniqueConstraint(fields=list(fields), condition=condition, name=name)
