"""The links that bring people into a study, as a researcher hands them out."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.urls import reverse

from annotation.models import Assignment, Batch, Channel, Invitation, Study


def study_link(request: HttpRequest, study: Study) -> str:
    path = reverse("annotation:join_study", args=[study.join_token])
    return request.build_absolute_uri(path) + parameters(study.channel)


def batch_link(request: HttpRequest, batch: Batch) -> str:
    path = reverse("annotation:join_batch", args=[batch.join_token])
    return request.build_absolute_uri(path) + parameters(batch.study.channel)


def invitation_link(request: HttpRequest, invitation: Invitation) -> str:
    path = reverse("annotation:accept_invitation", args=[invitation.token])
    return request.build_absolute_uri(path)


def resume_link(request: HttpRequest, assignment: Assignment) -> str:
    path = reverse("annotation:resume", args=[assignment.resume_token])
    return request.build_absolute_uri(path)


def parameters(channel: Channel) -> str:
    """What a platform fills in, if it has placeholders; others add the parameters themselves."""
    return f"?{channel.link_query}" if channel.link_query else ""


def parameter_names(channel: Channel) -> Sequence[str]:
    names = (
        channel.person_param,
        channel.study_param,
        channel.submission_param,
        channel.signature_param,
    )
    return [name for name in names if name]
