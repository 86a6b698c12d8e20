"""How a person is found again: a keyed hash of channel and external id.

The key must stay the same as long as the data: with another one everybody would be a stranger,
and could take part in a task twice. So the database keeps the key's fingerprint, and another key
is refused.
"""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Annotator, Channel, IdentityKey
from annotation.models.errors import NoEntry

KEY_CHANGED = (
    "The identity key is not the one that this database's hashes of annotators were made with, so "
    "nobody would be found again: set IDENTITY_KEY to the former key (while there was none, that "
    "was SECRET_KEY; with DEBUG=1 it is in the file identity-key of DATA_DIR), and start again. If "
    "it is lost for good: manage.py replace_identity_key."
)


class KeyChanged(NoEntry):
    """Nobody can be told from a stranger."""


def identity_hash(channel: Channel, external_id: str) -> str:
    """A keyed hash, so that a person is found again even after erasure."""
    if not remember_key():
        raise KeyChanged(
            _("This installation cannot tell at the moment who has taken part: try again later.")
        )
    return hash_with_this_key(channel, external_id)


def hash_with_this_key(channel: Channel, external_id: str) -> str:
    text = f"{channel.slug}\n{external_id}"
    return salted_hmac("annotation.identity", text, secret=_key()).hexdigest()


def forget_key() -> None:
    """The next one that fits is kept."""
    IdentityKey.objects.all().delete()


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
    """Where no key was kept yet, the hashes themselves tell whether it is this one."""
    known = Annotator.objects.exclude(external_id="").select_related("channel").first()
    return known is None or known.identity_hash == hash_with_this_key(
        known.channel, known.external_id
    )


def _fingerprint() -> str:
    return salted_hmac("annotation.identity.fingerprint", "", secret=_key()).hexdigest()


def _key() -> str:
    return settings.IDENTITY_KEY or settings.SECRET_KEY
