"""A request as the views get it, with what the middleware added; and who may go on with it."""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django_htmx.middleware import HtmxDetails

from annotation.access.rights import Right, Thing, is_member, may


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


class ResearcherRequest(HtmxRequest):
    """On a page that nobody sees without signing in."""

    user: User


def lets_in(
    user: User | AnonymousUser, thing: Thing, right: Right, *, permission: str = ""
) -> bool:
    """Besides the role it takes the permission, by default that of viewing such a thing."""
    wanted = permission or f"annotation.view_{thing._meta.model_name}"
    return user.has_perm(wanted) and may(user, thing, right)


def require(
    user: User | AnonymousUser, thing: Thing, right: Right, *, permission: str = ""
) -> None:
    """For strangers the thing does not exist; members are told that they may not."""
    if not is_member(user, thing):
        raise Http404
    if not lets_in(user, thing, right, permission=permission):
        raise PermissionDenied
