"""How a person is found again: a keyed hash of channel and external id.

The key must stay the same as long as the data: with another one everybody would be a stranger,
and could take part in a task twice. So the database keeps the key's fingerprint, and another key
is refused.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Annotator, Channel, IdentityKey
from annotation.models.channel import ELSEWHERE
from annotation.models.errors import NoEntry, Refusal

KEY_CHANGED = (
    "The identity key is not the one that this database's hashes of annotators were made with, so "
    "nobody would be found again: set IDENTITY_KEY to the former key (while there was none, that "
    "was SECRET_KEY; with DEBUG=1 it is in the file identity-key of DATA_DIR), and start again. If "
    "it is lost for good: manage.py replace_identity_key."
)


def identity_hash(channel: Channel, external_id: str) -> str:
    """A keyed hash, so that a person is found again even after erasure."""
    if not remember_key():
        raise NoEntry(
            _("This installation cannot tell at the moment who has taken part: try again later.")
        )
    return hash_with_this_key(channel, external_id)


def hash_with_this_key(channel: Channel, external_id: str) -> str:
    text = f"{channel.slug}\n{external_id}"
    return salted_hmac("annotation.identity", text, secret=_key()).hexdigest()


def remember_key() -> bool:
    """Whether the key is this database's; the first key is kept as such."""
    kept = IdentityKey.objects.first()
    if kept is None and _fits_the_annotators():
        kept, _new = IdentityKey.objects.get_or_create(
            pk=1, defaults={"fingerprint": _fingerprint()}
        )
    return kept is not None and kept.fingerprint == _fingerprint()


def remember_after_migration(sender: AppConfig, using: str, **kwargs: Any) -> None:
    if using == "default" and is_migrated():
        remember_key()


def is_migrated() -> bool:
    tables = connections["default"].introspection.table_names()
    return {IdentityKey._meta.db_table, Annotator._meta.db_table} <= set(tables)


def _fits_the_annotators() -> bool:
    """Tell by the hashes whether it is this database's key, where no key was kept yet."""
    people = Annotator.objects.exclude(external_id="").select_related("channel")
    # Midway in a migration the tables lack columns.
    known = people.only("external_id", "identity_hash", "channel__slug").first()
    return known is None or known.identity_hash == hash_with_this_key(
        known.channel, known.external_id
    )


def _fingerprint() -> str:
    return salted_hmac("annotation.identity.fingerprint", "", secret=_key()).hexdigest()


def _key() -> str:
    return settings.IDENTITY_KEY or settings.SECRET_KEY


@transaction.atomic
def replace_key(*, with_erased: bool = False) -> tuple[int, int]:
    """All or nothing, while nobody is served; how many annotators were hashed anew, and how many
    erased ones nobody finds again. Raises Refusal where the key is not lost, and where people were
    erased unless `with_erased`."""
    if remember_key():
        raise Refusal("The identity key is the one of this database: there is nothing to replace.")
    known = Annotator.objects.exclude(external_id="")
    # Nobody looks for people whom others asked.
    erased = Annotator.objects.filter(external_id="").exclude(channel__slug=ELSEWHERE)
    lost = erased.count()
    if lost and not with_erased:
        raise Refusal(
            f"{lost} of the annotators were erased, so that only hashes made with the lost key are "
            "left of them: with another key they would not be found again, and could take part in "
            "a task once more. Look for the former key; if it is lost for good, add --with-erased."
        )
    hashed = 0
    for annotator in list(known.select_related("channel")):
        new = hash_with_this_key(annotator.channel, annotator.external_id)
        hashed += Annotator.objects.filter(pk=annotator.pk).update(identity_hash=new)
    IdentityKey.objects.all().delete()
    if not remember_key():
        raise AssertionError("The key that the hashes were just made with is the database's.")
    return hashed, lost


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
