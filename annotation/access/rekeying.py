"""A lost identity key: hashing everybody's id anew, with the key that there is now.

An id that is still known gives its new hash. Of somebody who was erased only the old hash is left,
which nobody can make again: they are no longer found, and could take part in a task once more.
"""

from dataclasses import dataclass

from django.db import transaction

from annotation.access.identity import forget_key, hash_with_this_key, remember_key
from annotation.models import Annotator
from annotation.models.errors import Refusal


@dataclass(frozen=True)
class Rekeyed:
    hashed: int
    # Erased: nobody finds them again.
    lost: int


@transaction.atomic
def replace_key(*, with_erased: bool = False) -> Rekeyed:
    """All or nothing, while nobody is served. Raises Refusal where the key is not lost, and where
    people were erased unless `with_erased`."""
    if remember_key():
        raise Refusal("The identity key is the one of this database: there is nothing to replace.")
    known = Annotator.objects.exclude(external_id="")
    lost = Annotator.objects.filter(external_id="").count()
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
    forget_key()
    if not remember_key():
        raise AssertionError("The key that the hashes were just made with is the database's.")
    return Rekeyed(hashed, lost)
