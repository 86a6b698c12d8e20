"""Tokens of one's own: what lets a program act for somebody, until a day."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from annotation.models import ApiToken, new_token
from annotation.models.errors import BadInput


def make_token(
    user: User, *, name: str, may_write: bool, may_pay: bool, days: int, at: datetime
) -> str:
    """The token, which is shown once: only a hash is kept."""
    token = new_token()
    try:
        with transaction.atomic():
            user.tokens.create(
                name=name,
                may_write=may_write,
                may_pay=may_pay,
                token_hash=_hash(token),
                expires_at=at + timedelta(days=days),
            )
    except IntegrityError as error:
        raise BadInput(f"You have a token “{name}” already: choose another name.") from error
    return token


def find_token(token: str, *, at: datetime) -> ApiToken | None:
    """The token, if it has not ended; its user knows by which token they act."""
    matches = ApiToken.objects.select_related("user").filter(
        token_hash=_hash(token), expires_at__gt=at, user__is_active=True
    )
    for match in matches:
        match.user.token = match  # type: ignore[attr-defined]  # for the log, and what it may
        return match
    return None


def _hash(token: str) -> str:
    return salted_hmac("annotation.api_token", token, algorithm="sha256").hexdigest()
