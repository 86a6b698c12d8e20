"""The log of changes that matter: who did what, when, to which study or benchmark."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from annotation.models import Benchmark, Change, ChangeAction, Study


def record(
    user: AbstractBaseUser | AnonymousUser | None,
    thing: Study | Benchmark,
    action: ChangeAction,
    before: dict[str, Any],
    after: dict[str, Any],
) -> Change:
    """Log a change, within the transaction that makes it. No user: a command.

    Never pass gold, external ids, secrets or comments.
    """
    return Change.objects.create(
        study=thing if isinstance(thing, Study) else None,
        benchmark=thing if isinstance(thing, Benchmark) else None,
        user_id=user.pk if user else None,
        action=action,
        before=before,
        after=after,
    )
