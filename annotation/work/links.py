"""What stands behind a link that people join by, and who came by it, as far as the link says."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qsl

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from annotation.access import cookies
from annotation.access.cookies import Arrival
from annotation.models import Batch, Channel, Invitation, Pool, Study, new_token
from annotation.models.errors import NoEntry
from annotation.models.texts import is_id
from annotation.work import joining

LONGEST_ID = 200


@dataclass(frozen=True)
class JoinLink:
    name: str
    token: str
    study: Study
    batch: Batch | None = None
    pool: Pool | None = None
    invited: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it names nobody, so that each browser gets a new id."""
        return not (self.invited or self.study.channel.person_param)


def link_of(name: str, token: str) -> JoinLink:
    if name == "study":
        study = get_object_or_404(Study.objects.select_related("channel"), join_token=token)
        return JoinLink(name, token, study)
    if name == "invitation":
        invitations = Invitation.objects.select_related("study__channel", "pool")
        invited = get_object_or_404(invitations, token=token)
        return JoinLink(name, token, invited.study, None, invited.pool, invited.external_id)
    groups: Any = (Batch if name == "batch" else Pool).objects
    group = get_object_or_404(groups.select_related("study__channel"), join_token=token)
    return JoinLink(name, token, group.study, **{name: group})


def leads_to(arrival: Arrival, study: Study) -> bool:
    """Whether somebody else can begin the study by the link that was opened last."""
    with suppress(Http404):  # a link may have been renewed since
        link = link_of(arrival.way, arrival.token)
        return link.study == study and link.is_plain
    return False


def new_arrival(request: HttpRequest, link: JoinLink) -> Arrival:
    """Read who comes by a link. Raises NoEntry where it does not say, or may not be used so."""
    last = cookies.arrival_of(request)
    browser = last.browser if last else token_hex(16)
    arrival = partial(Arrival, way=link.name, token=link.token, browser=browser)
    channel = link.study.channel
    if link.invited:
        return arrival(external_id=link.invited, is_proven=True)
    if channel.invited_only or channel.is_simulated:
        raise NoEntry(_("This study takes invited people only: open your personal link."))
    submission_id = _parameter(request, channel, channel.submission_param)
    if not is_id(submission_id):
        submission_id = ""
    if link.is_plain:
        # A second tab is the same person; whoever is stored already is asked who they are.
        is_second_tab = last is not None and (last.way, last.token) == (link.name, link.token)
        own_id = last.external_id if last and is_second_tab else ""
        if not own_id or joining.person(channel, own_id).pk is not None:
            own_id = new_token()
        return arrival(external_id=own_id, submission_id=submission_id, is_proven=True)
    external_id = _parameter(request, channel, channel.person_param)
    if not external_id:
        raise NoEntry(
            _("This link lacks your id. Open the study again from %(channel)s.")
            % {"channel": channel.name}
        )
    if not channel.takes_id(external_id):
        raise NoEntry(
            _("The id in this link is none of %(channel)s. Open the study again from there.")
            % {"channel": channel.name}
        )
    signed = bool(channel.signature_param) and cookies.signature_holds(channel, request.GET.dict())
    if channel.signature_param and not signed:
        raise NoEntry(
            _("This link was altered on the way. Open the study again from %(channel)s.")
            % {"channel": channel.name}
        )
    return arrival(external_id=external_id, submission_id=submission_id, is_proven=signed)


def _parameter(request: HttpRequest, channel: Channel, name: str) -> str:
    """Nothing where the platform left its own placeholder in the link."""
    value = request.GET.get(name, "").strip()[:LONGEST_ID] if name else ""
    placeholder = dict(parse_qsl(channel.link_query)).get(name)
    return value if value != placeholder else ""


def visit_by(arrival: Arrival, link: JoinLink) -> joining.Visit:
    return joining.Visit(
        study=link.study,
        annotator=joining.person(link.study.channel, arrival.external_id),
        batch=link.batch,
        pool=link.pool,
        submission_id=arrival.submission_id,
        browser_hash=arrival.browser_hash,
    )
