"""Moving to another device: a code that is shown on the one and typed on the other.

It lets in like the personal link, which a person at two devices can hardly copy by hand.
"""

import math
from datetime import datetime, timedelta
from unicodedata import normalize

from django.db import transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotation.models import Assignment, DeviceCode
from annotation.models.assignment import LETTERS, random_letters
from annotation.models.errors import BadInput

CODE_MINUTES = 10


@transaction.atomic
def new_code(assignment: Assignment, *, at: datetime) -> str:
    """A code that works once; the one before it ends."""
    code = random_letters()
    DeviceCode.objects.filter(expires_at__lte=at).delete()
    expires_at = at + timedelta(minutes=CODE_MINUTES)
    DeviceCode.objects.update_or_create(
        assignment=assignment, defaults={"code_hash": _hash(code), "expires_at": expires_at}
    )
    return shown_code(code)


def use_code(typed: str, *, at: datetime) -> Assignment:
    """Whose code it is, which ends with that. Raises BadInput."""
    row = DeviceCode.objects.filter(code_hash=_hash(letters_of(typed)), expires_at__gt=at).first()
    # Of several that come at once the one whose deletion counts is let in.
    if row is None or not DeviceCode.objects.filter(pk=row.pk, code_hash=row.code_hash).delete()[0]:
        raise BadInput(
            _(
                "This code lets nobody in: it was mistyped, was used before, or is too old. Show a "
                "new one on the device on which you began, and type that."
            )
        )
    return row.assignment


def minutes_left(code: str, assignment: Assignment, *, at: datetime) -> int:
    """How long the code still lets in; 0 where it was used, ended or forged."""
    rows = DeviceCode.objects.filter(assignment=assignment, code_hash=_hash(letters_of(code)))
    row = rows.filter(expires_at__gt=at).first()
    return math.ceil((row.expires_at - at) / timedelta(minutes=1)) if row else 0


def end_codes(assignment: Assignment) -> None:
    DeviceCode.objects.filter(assignment=assignment).delete()


def shown_code(letters: str) -> str:
    return f"{letters[:4]}-{letters[4:]}"


def letters_of(typed: str) -> str:
    """The letters of a code, as any keyboard gives them: of full width (ＪＧ), too."""
    plain = normalize("NFKC", typed).upper()
    return "".join(letter for letter in plain if letter in LETTERS)


def _hash(letters: str) -> str:
    return salted_hmac("annotation.device", letters, algorithm="sha256").hexdigest()
