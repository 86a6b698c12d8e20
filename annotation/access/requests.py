"""A request as the views get it, with what the middleware added; and who may go on with it."""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse
from django_htmx.middleware import HtmxDetails

from annotation.access.rights import Right, Thing, is_member, may, why_not
from annotation.models import Assignment, Batch, Channel, Invitation, Study
from annotation.models.texts import is_key


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


class ResearcherRequest(HtmxRequest):
    """A request for a page that nobody sees without signing in."""

    user: User


def row_ids(request: HttpRequest, name: str) -> list[int]:
    """The ids of the rows that a form names, maybe thousands in one field. Raises Http404 for what
    no database gives to a row."""
    keys = " ".join(request.POST.getlist(name)).split()
    if not all(map(is_key, keys)):
        raise Http404
    return [int(value) for value in keys]


def lets_in(
    user: User | AnonymousUser, thing: Thing, right: Right, *, permission: str = ""
) -> bool:
    """Ask for the permission besides the role, by default that of viewing such a thing."""
    needed = permission or f"annotation.view_{thing._meta.model_name}"
    return user.has_perm(needed) and may(user, thing, right)


def require(
    user: User | AnonymousUser, thing: Thing, right: Right, *, permission: str = ""
) -> None:
    """Refuse whoever lacks a right: for strangers the thing does not exist; members are told that
    they may not."""
    if not is_member(user, thing):
        raise Http404
    if not lets_in(user, thing, right, permission=permission):
        raise PermissionDenied(why_not(user, thing, right))


# What a tick says in an address; pages send “on”, or nothing.
YES, NO = ("true", "yes", "on", "1", ""), ("false", "no", "off", "0")


def is_ticked(request: HttpRequest, name: str) -> bool:
    return request.GET.get(name, NO[0]).casefold() not in NO


def join_links(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    """What is handed out, headed by whom it is for: the study's link, or one for each pool."""
    if study.channel.invited_only:
        return []
    return [
        (f"Link for {pool}", _link(request, "join_pool", pool.join_token, study.channel))
        for pool in study.pools.all()
    ] or [("Link to join", _link(request, "join_study", study.join_token, study.channel))]


def batch_link(request: HttpRequest, batch: Batch) -> str:
    return _link(request, "join_batch", batch.join_token, batch.study.channel)


def invitation_link(request: HttpRequest, invitation: Invitation) -> str:
    return _link(request, "accept_invitation", invitation.token)


def resume_link(request: HttpRequest, assignment: Assignment) -> str:
    return _link(request, "resume", assignment.resume_token)


def _link(request: HttpRequest, page: str, token: str, channel: Channel | None = None) -> str:
    """A link with what the channel fills in, if it has placeholders; others add parameters."""
    link = request.build_absolute_uri(reverse(f"annotation:{page}", args=[token]))
    return f"{link}?{channel.link_query}" if channel and channel.link_query else link
