"""The page that connects a study to Prolific, and the address to which Prolific reports."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access.links import study_link
from annotation.access.requests import ResearcherRequest, require
from annotation.access.rights import Right
from annotation.models import PayoutState, ProlificStudy, Study
from annotation.models.errors import Refusal
from annotation.prolific import connecting, signatures, statuses
from annotation.prolific.bonuses import pay_bonuses
from annotation.prolific.forms import ConnectionForm
from annotation.studies.starting import codes_to_set_up
from annotation.studies.tabs import study_frame

CHANGE = "annotation.change_study"
PAGE = "annotation/prolific/prolific.html"
EVENT = "submission.status.change"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def prolific(request: ResearcherRequest, slug: str) -> HttpResponse:
    study = _study(request, slug, CHANGE if request.method == "POST" else "")
    connection = getattr(study, "prolific", None) or ProlificStudy(study=study)
    form = ConnectionForm(request.POST or None, connection=connection)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            stored = connecting.connection_of(study)
            connecting.configure(stored, form.settings(), by=request.user)
            messages.success(request, "Stored.")
            return redirect("annotation:prolific", slug)
        status = 422
    context = {
        **study_frame(request.user, study, tab="payments"),
        "connection": connection,
        "form": form,
        "link": study_link(request, study),
        "report_address": _report_address(connection) if connection.pk else "",
        "codes": codes_to_set_up(study),
        "to_approve": len(statuses.approvable(study)),
    }
    return render(request, PAGE, context, status=status)


Act = Callable[[ResearcherRequest, ProlificStudy], str]


def _draft(request: ResearcherRequest, connection: ProlificStudy) -> str:
    link = study_link(request, connection.study)
    connecting.draft_study(connection, link=link, by=request.user)
    return "The draft is on Prolific: look at it there, and publish it when the study is open."


def _group(request: ResearcherRequest, connection: ProlificStudy) -> str:
    count = connecting.block_repeats(connection, by=request.user)
    sentence = ngettext(
        "%(count)d person who has worked on these tasks is in the group.",
        "%(count)d people who have worked on these tasks are in the group.",
        count,
    )
    return sentence % {"count": count}


def _webhook(request: ResearcherRequest, connection: ProlificStudy) -> str:
    connecting.subscribe(connection, target_url=_report_address(connection), by=request.user)
    return "Prolific reports every change of a submission from now on."


def _poll(request: ResearcherRequest, connection: ProlificStudy) -> str:
    count = statuses.poll(connection, at=timezone.now())
    sentence = ngettext("%(count)d submission changed.", "%(count)d submissions changed.", count)
    return sentence % {"count": count}


def _approve(request: ResearcherRequest, connection: ProlificStudy) -> str:
    done, declined = statuses.approve_submissions(connection, at=timezone.now(), by=request.user)
    for sentence in declined:
        messages.warning(request, sentence)
    sentence = ngettext(
        "%(count)d submission is approved or screened out on Prolific.",
        "%(count)d submissions are approved or screened out on Prolific.",
        done,
    )
    return sentence % {"count": done}


def _pay(request: ResearcherRequest, connection: ProlificStudy) -> str:
    digest = request.POST.get("digest", "")
    payout = pay_bonuses(connection, digest=digest, at=timezone.now(), by=request.user)
    if payout.state == PayoutState.UNKNOWN:
        return (
            "Prolific's answer was lost: look there whether the bonuses were paid, and say so on "
            "this page. Nothing is sent again by itself."
        )
    return "Prolific pays the bonuses; they are written down as sent."


ACTS: dict[str, tuple[Act, str]] = {
    "draft": (_draft, "prolific"),
    "group": (_group, "prolific"),
    "webhook": (_webhook, "prolific"),
    "poll": (_poll, "prolific"),
    "approve": (_approve, "payments"),
    "pay": (_pay, "payments"),
}


@never_cache
@require_POST
def act(request: ResearcherRequest, slug: str, act: str) -> HttpResponse:
    study = _study(request, slug, CHANGE)
    if act not in ACTS:
        raise Http404
    perform, page = ACTS[act]
    try:
        messages.success(request, perform(request, connecting.connection_of(study)))
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(f"annotation:{page}", slug)


@csrf_exempt
@login_not_required
@never_cache
@require_POST
def report(request: HttpRequest, token: str) -> HttpResponse:
    """What Prolific reports, signed. An answer of 2xx keeps it from being sent again."""
    connection = get_object_or_404(ProlificStudy.objects.select_related("study"), hook_token=token)
    sent_at = request.headers.get("X-Prolific-Request-Timestamp", "")
    given = request.headers.get("X-Prolific-Request-Signature", "")
    if not signatures.holds(connection.webhook_secret, sent_at, request.body, given):
        return HttpResponse(status=401)
    try:
        event = json.loads(request.body)
        said_at = _moment(request.headers.get("X-Timestamp") or sent_at)
    except (ValueError, OverflowError, OSError):
        return HttpResponse(status=400)
    if isinstance(event, dict) and event.get("event_type") == EVENT:
        submission_id, status = str(event.get("resource_id", "")), str(event.get("status", ""))
        statuses.note_event(connection.study, submission_id, status, said_at=said_at)
    return HttpResponse(status=204)


def _moment(text: str) -> datetime:
    """Seconds since 1970, never later than now: nothing said later may count as older."""
    return min(datetime.fromtimestamp(float(text), UTC), timezone.now())


def _report_address(connection: ProlificStudy) -> str:
    path = reverse("annotation:prolific_report", args=[connection.hook_token])
    return f"{settings.PUBLIC_URL}{path}"


def _study(request: ResearcherRequest, slug: str, permission: str = "") -> Study:
    found = Study.objects.select_related("benchmark", "channel", "prolific")
    study = get_object_or_404(found, slug=slug)
    require(request.user, study, Right.IDS, permission=permission)
    return study
