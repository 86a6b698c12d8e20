"""The links that bring people into a study, as a researcher hands them out."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.urls import reverse

from annotation.models import Assignment, Batch, Channel, Invitation, Study


def study_link(request: HttpRequest, study: Study) -> str:
    return _link(request, "join_study", study.join_token) + parameters(study.channel)


def batch_link(request: HttpRequest, batch: Batch) -> str:
    return _link(request, "join_batch", batch.join_token) + parameters(batch.study.channel)


def invitation_link(request: HttpRequest, invitation: Invitation) -> str:
    return _link(request, "accept_invitation", invitation.token)


def resume_link(request: HttpRequest, assignment: Assignment) -> str:
    return _link(request, "resume", assignment.resume_token)


def _link(request: HttpRequest, page: str, token: str) -> str:
    return request.build_absolute_uri(reverse(f"annotation:{page}", args=[token]))


def parameters(channel: Channel) -> str:
    """What a platform fills in, if it has placeholders; others add the parameters themselves."""
    return f"?{channel.link_query}" if channel.link_query else ""


def parameter_names(channel: Channel) -> Sequence[str]:
    names = (channel.person_param, channel.study_param, channel.submission_param)
    return [name for name in (*names, channel.signature_param) if name]
