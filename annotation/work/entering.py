"""Entering: what stands behind a link, and the consent that lets somebody in.

Opening a link writes nothing to the database: it may be a preview, a prefetch or a second tab.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core import signing
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from annotation.access import cookies, throttles
from annotation.access.cookies import Arrival
from annotation.access.requests import HtmxRequest
from annotation.kinds import answer_kind
from annotation.kinds.markup import markdown_html
from annotation.models import (
    Annotator,
    Assignment,
    Batch,
    JoinAnswer,
    clock,
)
from annotation.models.errors import BadInput, NoEntry
from annotation.models.frozen import BatchContent, batch_content
from annotation.work import joining
from annotation.work.consent_facts import asked_of, consent_facts
from annotation.work.crowding import WRONG_CODES, Crowd
from annotation.work.languages import in_readers_language
from annotation.work.links import JoinLink, link_of, new_arrival, visit_by
from annotation.work.page import PAGE, Position, context_at, own_work
from annotation.work.previewing import Trial, to_try
from annotation.work.refusing import REFUSED, refused, refused_place, refused_stranger, slowed
from annotation.work.speaking import languages_of, speak

View = Callable[..., Any]
CONSENT = "annotation/work/consent.html"
TRY_ONE = "annotation/work/try.html"
WHO = "annotation/work/who.html"
GO_ON = "annotation/work/go_on.html"
_SUBMISSION = "annotation.submission"


def annotators_page(view: View) -> View:
    """Open without an account, and never stored, neither by a cache nor by the browser."""

    @wraps(view)
    def private(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        response: HttpResponse = view(request, *args, **kwargs)
        add_never_cache_headers(response)
        response["Referrer-Policy"] = "same-origin"
        return response

    return login_not_required(private)


# Opening a link


@annotators_page
@require_safe
def open_link(request: HttpRequest, token: str, name: str) -> HttpResponse:
    link = _entered_by(request, name, token)
    if wait := slowed(request, "joins", link):
        return wait
    try:
        arrival = new_arrival(request, link)
    except NoEntry as refusal:
        return refused(request, link.study, str(refusal), status=403)
    response = _next_page(request, arrival, link)
    cookies.set_arrival(response, arrival)
    return response


def _entered_by(request: HttpRequest, name: str, token: str) -> JoinLink:
    """What is behind a link; from here on the page speaks the language of its study's texts."""
    link = link_of(name, token)
    speak(request, languages_of(link.study))
    return link


@annotators_page
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, token: str) -> HttpResponse:
    assignment = Assignment.objects.filter(resume_token=token).first()
    if assignment is None:
        sentence = _(
            "This personal link leads nowhere: a newer one took its place, or a part of it is "
            "missing. Open the newest that you were given, whole; if you have none, write to the "
            "people who run the study."
        )
        return render(request, REFUSED, {"sentence": sentence}, status=404)
    speak(request, languages_of(assignment.study))
    if "submission" in request.POST:
        try:
            submission_id = _submission_in(request, assignment)
        except BadInput as refusal:
            return render(request, REFUSED, {"sentence": str(refusal)}, status=400)
        joining.come_back(assignment, submission_id, at=clock.now())
    return go_on(request, assignment, new_submission=_brought(request, assignment))


def _brought(request: HttpRequest, assignment: Assignment) -> str:
    """A new submission of the same person by which this browser came, and was sent for proof."""
    arrival = cookies.arrival_of(request)
    with suppress(Http404):  # a link may have been renewed since
        visit = visit_by(arrival, link_of(arrival.way, arrival.token)) if arrival else None
        if visit and joining.present_assignment(visit) == assignment:
            return joining.new_submission(visit, assignment)
    return ""


def _submission_in(request: HttpRequest, assignment: Assignment) -> str:
    """Read it as the page that asked about it wrote it, whatever was opened since."""
    with suppress(signing.BadSignature, ValueError, TypeError):
        pk, submission_id = signing.loads(request.POST["submission"], salt=_SUBMISSION)
        if pk == assignment.pk:
            return str(submission_id)
    raise BadInput(_("This form could not be read. Reload the page and send it again."))


def _next_page(
    request: HttpRequest,
    arrival: Arrival,
    link: JoinLink,
    *,
    asks_who: bool = True,
    is_other: bool = False,
) -> HttpResponse:
    """One's own work, the question who it is, the consent page, or a refusal. `is_other`: it is not
    what the form's page was about."""
    visit = visit_by(arrival, link)
    if not _may_enter(request, arrival, visit):
        return refused_stranger(request, link.study)
    present = joining.present_assignment(visit)
    if present is not None:
        return go_on(request, present, new_submission=joining.new_submission(visit, present))
    known = _known_people(request, arrival, link) if asks_who else []
    if known:
        work = [own_work(link.study, annotator) for annotator in known]
        context = {"study": link.study, "people": work, "arrival": arrival, "is_other": is_other}
        return render(request, WHO, context)
    return _consent_page(request, arrival, link, visit, is_other=is_other)


def _may_enter(request: HttpRequest, arrival: Arrival, visit: joining.Visit) -> bool:
    """An id is believed until somebody has consented with it in this study; afterwards it takes the
    channel's signature, or a browser that has entered here before."""
    mine = joining.assignments_of(visit.study, visit.annotator)
    return (
        arrival.is_proven
        or not mine.exists()
        or mine.filter(pk__in=cookies.own_assignments(request, arrival).values("pk")).exists()
    )


def _known_people(request: HttpRequest, arrival: Arrival, link: JoinLink) -> list[Annotator]:
    """Who has entered with this browser before, in any study of the channel; nobody by a link that
    says who comes."""
    if not link.is_plain:
        return []
    annotators = cookies.own_assignments(request, arrival).values("annotator")
    return list(
        Annotator.objects.filter(pk__in=annotators, channel=link.study.channel, erased_at=None)
    )


def go_on(
    request: HttpRequest, assignment: Assignment, *, new_submission: str = ""
) -> HttpResponse:
    """A link alone, which anybody may have put anywhere, changes no browser's work, and keeps no
    submission: beside other work, and before another submission counts, it asks first."""
    working = cookies.working_on(request)
    is_beside = request.method != "POST" and working and assignment.pk not in working
    if is_beside or new_submission:
        context: dict[str, object] = {"study": assignment.study, "assignment": assignment}
        if new_submission:
            kept = (assignment.pk, new_submission)
            context["submission"] = signing.dumps(kept, salt=_SUBMISSION)
        return render(request, GO_ON, context)
    response = to_work(assignment.pk)
    cookies.sign_in(request, response, assignment)
    return response


def to_work(pk: int) -> HttpResponse:
    return redirect(cookies.address_with_work("annotation:work", pk))


# Consenting


@annotators_page
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest) -> HttpResponse:
    arrival = cookies.arrival_of(request)
    if arrival is None:
        if working := cookies.working_on(request):
            return to_work(working[-1])
        sentence = _(
            "This browser did not keep the cookie that your link gave it. Allow cookies for this "
            "site, and open your link again."
        )
        return render(request, REFUSED, {"sentence": sentence}, status=403)
    link = _entered_by(request, arrival.way, arrival.token)
    if request.method != "POST":
        is_other = _is_of_other(request, arrival)
        return _next_page(request, arrival, link, asks_who=is_other, is_other=is_other)
    if not {"agree", "decline"} & request.POST.keys():
        return _next_page(request, arrival, link)
    if _is_of_other(request, arrival):
        return _refused_answer(request, arrival, link)
    return slowed(request, "consents", link) or _answered(request, arrival, link)


def _is_of_other(request: HttpRequest, arrival: Arrival) -> bool:
    """Another link was opened after the page of this form or link: the latest counts."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get("door", arrival.digest) != arrival.digest


@annotators_page
@require_POST
def choose_who(request: HttpRequest) -> HttpResponse:
    """Go on as somebody who has entered with this browser before."""
    arrival = cookies.arrival_of(request)
    if arrival is None:
        return redirect("annotation:consent")
    link = _entered_by(request, arrival.way, arrival.token)
    if _is_of_other(request, arrival):
        return _next_page(request, arrival, link, is_other=True)
    for annotator in _known_people(request, arrival, link):
        if annotator.pseudonym == request.POST.get("who"):
            own = Arrival(
                way=link.name,
                token=link.token,
                external_id=annotator.external_id,
                is_proven=True,
                browser=arrival.browser,
            )
            present = joining.present_assignment(visit_by(own, link))
            response = go_on(request, present) if present else redirect("annotation:consent")
            cookies.set_arrival(response, own)
            return response
    return redirect("annotation:consent")


def _consent_page(
    request: HttpRequest,
    arrival: Arrival,
    link: JoinLink,
    visit: joining.Visit,
    *,
    status: int = 200,
    **more: object,
) -> HttpResponse:
    try:
        batches = joining.open_batches(visit, at=clock.now())
    except (joining.Full, joining.NotOpen) as refusal:
        return refused_place(request, arrival, link, refusal)
    contents = list(map(_content, batches))
    short, facts = consent_facts(link.study, contents)
    context = {
        "study": link.study,
        "asked": asked_of(contents),
        "samples": to_try(contents),
        "short": short,
        "facts": facts,
        "consent": markdown_html(in_readers_language(link.study.consent_text)),
        "arrival": arrival,
        "is_plain": link.is_plain,
        "asks_code": Crowd(request, link.study).is_full,
        **more,
    }
    return render(request, CONSENT, context, status=status)


class _Crowded(Exception):
    """Many have joined from here, and the hour's code was not typed."""


@transaction.atomic
def _join_one_of(crowd: Crowd, visit: joining.Visit, typed: str) -> Assignment:
    """Takes a place, unless that is one too many. Raises _Crowded too, and what `join` raises."""
    at = clock.now()
    assignment = joining.join(visit, at=at)
    is_new = assignment.joined_at == at
    if is_new and not crowd.enters() and not crowd.lets_in(typed, at=at):
        raise _Crowded
    return assignment


def _asked_for_code(
    request: HttpRequest, arrival: Arrival, link: JoinLink, visit: joining.Visit, crowd: Crowd
) -> HttpResponse:
    """The consent page again, with what was typed."""
    typed, status, error = request.POST.get("code", ""), 403, ""
    seconds = throttles.seconds_to_wait(WRONG_CODES, crowd.who) if typed else 0
    if seconds:
        status = 429
        error = _(
            "Very many wrong codes have come from your network. Wait %(minutes)d minutes, then "
            "type the code again: nothing is lost."
        ) % {"minutes": -(-seconds // 60)}
    elif typed:
        throttles.count(WRONG_CODES, crowd.who)
        status, error = 422, _("This is not the code of this hour: ask for it again.")
    more = {"asks_code": True, "typed": typed, "error": error}
    response = _consent_page(request, arrival, link, visit, status=status, **more)
    return throttles.later(response, seconds) if seconds else response


@annotators_page
@require_http_methods(["GET", "HEAD", "POST"])
def try_one(request: HtmxRequest, number: int) -> HttpResponse:
    """A sample of what the link leads to, and how it was answered. Nothing is stored."""
    arrival = cookies.arrival_of(request)
    if arrival is None or "state" in request.POST:
        return _back_to_consent(request)
    link = _entered_by(request, arrival.way, arrival.token)
    try:
        samples = to_try(
            map(_content, joining.open_batches(visit_by(arrival, link), at=clock.now()))
        )
    except (joining.Full, joining.NotOpen):
        return _back_to_consent(request)
    if number >= len(samples):
        raise Http404
    content, answer, error = samples[number], None, ""
    trial = Trial(link.study, content)
    if request.method == "POST":
        try:
            answer = answer_kind(content.kind).read(request.POST.dict(), trial.example(), content)
        except BadInput as refusal:
            error = str(refusal)
    trial = Trial(link.study, content, answer)
    context = {"title": _("Try one"), "preview_state": "answered" if answer else ""}
    return page_apart(request, trial, TRY_ONE, error=error, trying=True, **context)


def page_apart(
    request: HtmxRequest, position: Position, page: str, *, error: str, **more: object
) -> HttpResponse:
    """The page of a position that is nobody's, whose form leads back to it."""
    context = {**context_at(position), "sent_to": request.path, "error": error, **more}
    template = f"{PAGE}#step" if request.htmx else page
    return render(request, template, context, status=422 if error else 200)


def _back_to_consent(request: HtmxRequest) -> HttpResponse:
    if request.htmx:
        return HttpResponseClientRedirect(reverse("annotation:consent"))
    return redirect("annotation:consent")


def _content(batch: Batch) -> BatchContent:
    return batch_content(batch.pk)


def _answered(request: HttpRequest, arrival: Arrival, link: JoinLink) -> HttpResponse:
    visit = visit_by(arrival, link)
    if not _may_enter(request, arrival, visit):
        return refused_stranger(request, link.study)
    present = joining.present_assignment(visit)
    if "decline" in request.POST and present is not None and not present.is_finished:
        sentence = _(
            "You have agreed already, in another tab, and your place is kept. If you would rather "
            "not go on, choose “Stop taking part” there."
        )
        return refused(request, link.study, sentence)
    if "decline" in request.POST and present is None:
        joining.count_answer(link.study, JoinAnswer.DECLINED, at=clock.now())
        sentence = _("You chose not to take part. Nothing about you was stored.")
        return refused(request, link.study, sentence, answer=JoinAnswer.DECLINED)
    crowd = Crowd(request, link.study)
    try:
        assignment = _join_one_of(crowd, visit, request.POST.get("code", ""))
    except _Crowded:
        return _asked_for_code(request, arrival, link, visit, crowd)
    except (joining.Full, joining.NotOpen) as refusal:
        if isinstance(refusal, joining.Full):
            joining.count_answer(link.study, JoinAnswer.FULL, at=clock.now())
        return refused_place(request, arrival, link, refusal)
    # Somebody else may have consented with this id a moment ago.
    if not _may_enter(request, arrival, visit):
        return refused_stranger(request, link.study)
    return go_on(request, assignment)


# Refusing


def _refused_answer(request: HttpRequest, arrival: Arrival, link: JoinLink) -> HttpResponse:
    """Refuse an answer to an earlier link's consent. Where that leads to no work yet, no button is
    shown that would be an answer to this one, since a second press may follow the first."""
    if joining.present_assignment(visit_by(arrival, link)) is not None:
        return _next_page(request, arrival, link, is_other=True)
    sentence = _(
        "Your answer was not taken: in this browser another link, to “%(title)s”, was opened "
        "later. For the study that you just saw, open its link again."
    ) % {"title": link.study.title}
    return render(request, REFUSED, {"sentence": sentence, "later": link.study})
