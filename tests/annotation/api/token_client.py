"""A client of the API, by a token of its own."""

from django.contrib.auth.models import User
from rest_framework.test import APIClient

from annotation.access.tokens import make_token
from annotation.models import clock


def token_client(user: User, *, write: bool = True, pay: bool = True) -> APIClient:
    """Every call makes another token."""
    name = f"{user}'s {user.tokens.count() + 1}"
    token = make_token(user, name=name, may_write=write, may_pay=pay, days=9, at=clock.now())
    return APIClient(HTTP_AUTHORIZATION=f"Token {token}")
