"""Links that let a colleague in: each once, for a while, with a role in one study or benchmark."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.crypto import salted_hmac

from annotation.access.rights import RIGHTS, Right, Thing, give_role, may, role_in
from annotation.models import ChangeAction, MemberLink, new_token
from annotation.models.access import record
from annotation.models.errors import BadInput, Refusal
from annotation.models.texts import is_key

LASTS = timedelta(days=7)
NOWHERE = (
    "This link lets nobody in: it was used, taken back or is more than "
    f"{LASTS.days} days old, or a part of it is missing. Ask whoever sent it for a new one."
)


@transaction.atomic
def new_link(thing: Thing, role: str, *, by: User, at: datetime) -> str:
    """The token, which is shown once: only a hash is kept."""
    MemberLink.objects.filter(expires_at__lte=at).delete()
    token = new_token()
    MemberLink.objects.create(
        **{str(thing._meta.model_name): thing},
        role=role,
        token_hash=_hash(token),
        made_by=by,
        expires_at=at + LASTS,
    )
    record(by, thing, ChangeAction.MEMBER_LINK, {}, {"link": role})
    return token


@transaction.atomic
def take_back(thing: Thing, pk: str, *, by: User) -> None:
    """Safe to run twice."""
    link = thing.member_links.filter(pk=int(pk) if is_key(pk) else 0).first()
    if link is not None and link.delete()[0]:
        record(by, thing, ChangeAction.MEMBER_LINK, {"link": link.role}, {})


def find_link(token: str, *, at: datetime) -> MemberLink:
    """Raises BadInput where it leads nowhere, as where its maker may invite nobody any more."""
    links = MemberLink.objects.select_related("study", "benchmark", "made_by")
    link = links.filter(token_hash=_hash(token), expires_at__gt=at).first()
    if link is None or not may(link.made_by, link.thing, Right.MEMBERS):
        raise BadInput(NOWHERE)
    return link


@transaction.atomic
def use_link(token: str, user: User, *, at: datetime) -> Thing:
    """Make somebody a member, and the link used up. Raises Refusal; a role is never made less."""
    link = find_link(token, at=at)
    present = role_in(user, link.thing)
    if present and RIGHTS[present] >= RIGHTS[link.role]:
        raise Refusal(f"You are its {present} already: the link is left for somebody else.")
    # Of several who come at once the one whose deletion counts is let in.
    if not MemberLink.objects.filter(pk=link.pk).delete()[0]:
        raise BadInput(NOWHERE)
    give_role(link.thing, user, link.role, by=link.made_by)
    return link.thing


def _hash(token: str) -> str:
    return salted_hmac("annotation.member_link", token, algorithm="sha256").hexdigest()
