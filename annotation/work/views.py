"""The annotator's pages. Addresses are the same for everybody: the server knows the position of the
browser's assignment, and shows that."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_not_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from annotation.access import cookies
from annotation.access.requests import HtmxRequest
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    Invitation,
    JoinAnswer,
    Study,
    WorkState,
    new_token,
)
from annotation.models.errors import BadInput, NoEntry
from annotation.work import judging
from annotation.work.finishing import withdraw as withdraw_assignment
from annotation.work.forms import read_sent_answer, read_step
from annotation.work.joining import Full, NotOpen, identify, join
from annotation.work.page import completion_link, page_context

View = Callable[..., HttpResponse]
PAGE = "annotation/work/work.html"
REFUSED = "annotation/work/refused.html"


def annotators_page(view: View) -> View:
    """Open without an account, and never stored, neither by a cache nor by the browser."""

    @wraps(view)
    def private(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        response = view(request, *args, **kwargs)
        add_never_cache_headers(response)
        response["Referrer-Policy"] = "same-origin"
        return response

    return login_not_required(private)


# Entering


@annotators_page
@require_GET
def join_study(request: HttpRequest, token: str) -> HttpResponse:
    return _enter_by_link(request, get_object_or_404(_studies(), join_token=token))


@annotators_page
@require_GET
def join_batch(request: HttpRequest, token: str) -> HttpResponse:
    batch = get_object_or_404(Batch.objects.select_related("study__channel"), join_token=token)
    return _enter_by_link(request, batch.study, batch)


@annotators_page
@require_GET
def accept_invitation(request: HttpRequest, token: str) -> HttpResponse:
    invitation = get_object_or_404(Invitation.objects.select_related("study__channel"), token=token)
    annotator, _first = identify(invitation.study.channel, invitation.external_id)
    return _enter(request, invitation.study, annotator)


@annotators_page
@require_GET
def resume(request: HttpRequest, token: str) -> HttpResponse:
    assignment = get_object_or_404(Assignment, resume_token=token)
    response = redirect("annotation:work")
    cookies.sign_in(request, response, assignment)
    return response


def _studies() -> QuerySet[Study]:
    return Study.objects.select_related("channel")


def _enter_by_link(request: HttpRequest, study: Study, batch: Batch | None = None) -> HttpResponse:
    try:
        annotator = _who_comes(request, study)
    except NoEntry as refusal:
        return _refused(request, study, str(refusal), status=403)
    submission_id = request.GET.get(study.channel.submission_param or " ", "")[:200]
    return _enter(request, study, annotator, batch, submission_id)


def _who_comes(request: HttpRequest, study: Study) -> Annotator:
    """The annotator of a link. An id that is already known is believed only with its first
    browser's cookie or the channel's signature."""
    channel = study.channel
    if channel.invited_only or channel.is_simulated:
        raise NoEntry(_("This study takes invited people only: open your personal link."))
    if not channel.person_param:
        return cookies.known_annotator(request, channel) or identify(channel, new_token())[0]
    external_id = request.GET.get(channel.person_param, "").strip()[:200]
    if not external_id:
        raise NoEntry(
            _("This link lacks your id. Open the study again from %(channel)s.")
            % {"channel": channel.name}
        )
    signed = bool(channel.signature_param) and cookies.signature_holds(channel, request.GET.dict())
    if channel.signature_param and not signed:
        raise NoEntry(
            _("This link was altered on the way. Open the study again from %(channel)s.")
            % {"channel": channel.name}
        )
    annotator, first_time = identify(channel, external_id)
    if not (first_time or signed or cookies.is_known(request, annotator)):
        raise NoEntry(
            _(
                "This work was started in another browser. Continue there, or open the personal "
                "link that was shown there."
            )
        )
    return annotator


def _enter(
    request: HttpRequest,
    study: Study,
    annotator: Annotator,
    batch: Batch | None = None,
    submission_id: str = "",
) -> HttpResponse:
    try:
        assignment = join(
            study=study,
            annotator=annotator,
            batch=batch,
            submission_id=submission_id,
            at=timezone.now(),
        )
    except (Full, NotOpen) as refusal:
        return _refused(request, study, str(refusal))
    response = redirect("annotation:work")
    cookies.sign_in(request, response, assignment)
    return response


def _refused(
    request: HttpRequest, study: Study, sentence: str, *, status: int = 200
) -> HttpResponse:
    """Said before any work; anyone who was not let in gets the study's code for `full`."""
    rule = study.outcome_rules.filter(outcome=JoinAnswer.FULL).first() if status == 200 else None
    code = rule.code if rule else ""
    context = {
        "study": study,
        "sentence": sentence,
        "code": code,
        "completion_link": completion_link(study.channel.completion_url, code),
    }
    return render(request, REFUSED, context, status=status)


# Working


def at_work(view: View) -> View:
    """Hand the view the browser's assignment; without one, say how to get back in."""

    @annotators_page
    @wraps(view)
    def with_assignment(request: HttpRequest) -> HttpResponse:
        assignment = cookies.signed_in_assignment(request)
        if assignment is None:
            sentence = _("This browser is not taking part in a study. Open your link again.")
            return render(request, REFUSED, {"sentence": sentence}, status=403)
        judging.notice_displacement(assignment, at=timezone.now())
        return view(request, assignment)

    return with_assignment


@at_work
@require_GET
def work(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    return _page(request, assignment)


@at_work
@require_POST
def consent(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    act = judging.decline if "decline" in request.POST else judging.give_consent
    act(assignment, at=timezone.now())
    return _next_page(request, assignment)


@at_work
@require_POST
def begin(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    judging.begin(assignment, at=timezone.now())
    return _next_page(request, assignment)


@at_work
@require_POST
def submit(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    try:
        sent = read_sent_answer(request.POST)
        judging.submit_answer(
            assignment, step=sent.step, raw=sent.raw, times=sent.times, at=timezone.now()
        )
    except BadInput as refusal:
        return _page(request, assignment, error=str(refusal))
    return _next_page(request, assignment)


@at_work
@require_POST
def proceed(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    try:
        judging.leave_reveal(assignment, step=read_step(request.POST), at=timezone.now())
    except BadInput as refusal:
        return _page(request, assignment, error=str(refusal))
    return _next_page(request, assignment)


@at_work
@require_POST
def withdraw(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    if assignment.state != WorkState.CONSENT:
        withdraw_assignment(assignment, at=timezone.now())
    return _next_page(request, assignment)


def _next_page(request: HtmxRequest, assignment: Assignment) -> HttpResponse:
    """With htmx the next step at once; otherwise a redirect to the page, so that a reload repeats
    nothing."""
    if request.htmx:
        return _page(request, assignment)
    return redirect("annotation:work")


def _page(request: HtmxRequest, assignment: Assignment, *, error: str = "") -> HttpResponse:
    template = f"{PAGE}#step" if request.htmx else PAGE
    context = {**page_context(assignment), "error": error}
    return render(request, template, context, status=422 if error else 200)
