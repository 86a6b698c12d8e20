"""Whether people are found again, asked before the application serves anybody."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from annotation.access.identity import KEY_CHANGED, is_migrated, remember_key


@register(Tags.database)
def identity_key_is_the_same(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    if "default" not in (databases or []) or not is_migrated() or remember_key():
        return []
    return [Error(KEY_CHANGED, id="annotation.E001")]


@register(Tags.security)
def identity_key_is_set(**kwargs: Any) -> list[CheckMessage]:
    if settings.IDENTITY_KEY:
        return []
    return [
        Warning(
            "IDENTITY_KEY is not set, so SECRET_KEY keys the hashes of identities and can't be "
            "renewed: set IDENTITY_KEY to the present SECRET_KEY, and keep it.",
            id="annotation.W003",
        )
    ]
