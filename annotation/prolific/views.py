"""The page that connects a study to Prolific, and the address to which Prolific reports."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.access.requests import ResearcherRequest, join_links
from annotation.access.rights import Right
from annotation.models import PayoutState, ProlificStudy, Study, clock
from annotation.models.errors import BadInput, Refusal
from annotation.models.texts import is_text
from annotation.payments.ledger import check_typed, open_bonuses
from annotation.prolific import connecting, statuses
from annotation.prolific.connecting import SECRETS, SETTINGS
from annotation.prolific.statuses import pay_bonuses
from annotation.studies.codes import codes_to_set_up, other_reward, what_it_pays
from annotation.studies.tabs import CHANGE, READ, SEND, study_frame, study_page
from scoring.tables.words import counted

_HIDDEN = forms.PasswordInput(attrs={"autocomplete": "off"})
_SECRET: dict[str, Any] = {"required": False, "max_length": 300, "widget": _HIDDEN}


class ConnectionForm(forms.Form):
    """Secrets go in and never come out: empty keeps the present one."""

    token = forms.CharField(
        label="API token",
        help_text="Not shown again. Leave empty to keep the present one.",
        **_SECRET,
    )
    forget = forms.BooleanField(
        label="Forget the token and the secret: nothing is sent any more", required=False
    )
    workspace_id = forms.CharField(label="Workspace id", required=False, max_length=60)
    project_id = forms.CharField(label="Project id", required=False, max_length=60)
    remote_id = forms.CharField(
        label="Id of the study on Prolific",
        required=False,
        max_length=60,
        help_text="Written by “Make the draft”; fill it in if you made the study there yourself.",
    )
    webhook_secret = forms.CharField(
        label="Secret of the workspace's reports",
        help_text="Only if the workspace has one already. Not shown again.",
        **_SECRET,
    )

    def __init__(self, *args: Any, connection: ProlificStudy, **kwargs: Any) -> None:
        shown = [name for name in SETTINGS if name not in SECRETS]
        kwargs["initial"] = {name: getattr(connection, name) for name in shown}
        super().__init__(*args, **kwargs)
        self._connection = connection

    def clean_remote_id(self) -> str:
        remote_id: str = self.cleaned_data["remote_id"].strip()
        others = ProlificStudy.objects.exclude(pk=self._connection.pk)
        if remote_id and others.filter(remote_id=remote_id).exists():
            raise forms.ValidationError("Another study here is connected to that one.")
        return remote_id

    def settings(self) -> dict[str, str]:
        values = {name: self.cleaned_data[name].strip() for name in SETTINGS}
        for name in SECRETS:
            kept = "" if self.cleaned_data["forget"] else getattr(self._connection, name)
            values[name] = values[name] or kept
        return values


EVENT = "submission.status.change"
# What is signed earlier than this says nothing: asking every five minutes has long said it.
OLDEST = timedelta(hours=1)
# By how much Prolific's clock may be ahead of ours.
AHEAD = timedelta(minutes=5)


@study_page(*READ, *SEND, right=Right.IDS, to_send=CHANGE)
def prolific(request: ResearcherRequest, study: Study) -> HttpResponse:
    connection = getattr(study, "prolific", None) or ProlificStudy(study=study)
    form = ConnectionForm(request.POST or None, connection=connection)
    if form.is_valid():
        stored = connecting.connection_of(study)
        connecting.configure(stored, form.settings(), by=request.user)
        messages.success(request, "Stored.")
        if stored.token and stored.remote_id:
            try:
                connecting.read_rewards(stored)
            except Refusal as refusal:
                messages.warning(request, str(refusal))
        return redirect("annotation:prolific", study.slug)
    frame = study_frame(request.user, study, tab="payments")
    context = {
        **frame,
        "connection": connection,
        "form": form,
        "links": join_links(request, study),
        "report_address": _report_address(connection) if connection.pk else "",
        "codes": codes_to_set_up(study) if Right.CODES in frame["rights"] else [],
        "what_it_pays": what_it_pays(study),
        "other_reward": other_reward(study, connection),
        "to_approve": len(statuses.approvable(study)),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/prolific/prolific.html", context, status=status)


Act = Callable[[ResearcherRequest, ProlificStudy], str]


def _draft(request: ResearcherRequest, connection: ProlificStudy) -> str:
    (_, link), *further = join_links(request, connection.study)
    if further:
        raise BadInput(
            "Prolific fills one place after another by one link: create a study there for each "
            "pool, with its link and filter."
        )
    connecting.draft_study(connection, link=link, by=request.user)
    return "The draft is on Prolific: look at it there, and publish it when the study is open."


def _group(request: ResearcherRequest, connection: ProlificStudy) -> str:
    count = connecting.block_repeats(connection, by=request.user)
    people = counted(count, "person who has,people who have")
    return f"{people} worked on these tasks {'is' if count == 1 else 'are'} in the group."


def _webhook(request: ResearcherRequest, connection: ProlificStudy) -> str:
    connecting.subscribe(connection, target_url=_report_address(connection), by=request.user)
    return "Prolific reports every change of a submission from now on."


def _poll(request: ResearcherRequest, connection: ProlificStudy) -> str:
    count = statuses.poll(connection, at=clock.now())
    return f"{counted(count, 'submission')} changed."


def _approve(request: ResearcherRequest, connection: ProlificStudy) -> str:
    done, declined = statuses.approve_submissions(connection, at=clock.now(), by=request.user)
    for sentence in declined:
        messages.warning(request, sentence)
    submissions = counted(done, "submission is,submissions are")
    return f"{submissions} approved or screened out on Prolific."


def _pay(request: ResearcherRequest, connection: ProlificStudy) -> str:
    digest, typed = request.POST.get("digest", ""), request.POST.get("typed", "")
    check_typed(connection.study, open_bonuses(connection.study).total, typed)
    payout = pay_bonuses(connection, digest=digest, at=clock.now(), by=request.user)
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


@study_page(*SEND, right=Right.IDS, permission=CHANGE)
def act(request: ResearcherRequest, study: Study, act: str) -> HttpResponse:
    if act not in ACTS:
        raise Http404
    perform, page = ACTS[act]
    try:
        messages.success(request, perform(request, connecting.connection_of(study)))
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return redirect(f"annotation:{page}", study.slug)


@csrf_exempt
@login_not_required
@never_cache
@require_POST
def report(request: HttpRequest, token: str) -> HttpResponse:
    """What Prolific reports, signed. An answer of 2xx keeps it from being sent again."""
    connection = get_object_or_404(ProlificStudy.objects.select_related("study"), hook_token=token)
    sent_at = request.headers.get("X-Prolific-Request-Timestamp", "")
    signed = request.headers.get("X-Prolific-Request-Signature", "")
    right = signature(connection.webhook_secret, sent_at, request.body)
    # Without a secret nobody can have signed it.
    if not connection.webhook_secret or not hmac.compare_digest(right.encode(), signed.encode()):
        return HttpResponse(status=401)
    now = clock.now()
    try:
        event = json.loads(request.body)
        signed_at = datetime.fromtimestamp(float(sent_at), UTC)
        if not now - OLDEST <= signed_at <= now + AHEAD:
            raise ValueError("It is too old, or not of this time at all.")
        if isinstance(event, dict) and event.get("event_type") == EVENT:
            sent = [_text_of(event, name) for name in ("resource_id", "participant_id", "status")]
            statuses.note_delivery(connection, right, sent, said_at=min(signed_at, now), at=now)
    except (ValueError, OverflowError, OSError, RecursionError):
        return HttpResponse(status=400)
    return HttpResponse(status=204)


def _text_of(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    if not isinstance(value, str) or not is_text(value):
        raise ValueError(f"The event's {name} is no text.")
    return value


def _report_address(connection: ProlificStudy) -> str:
    path = reverse("annotation:prolific_report", args=[connection.hook_token])
    return f"{settings.PUBLIC_URL}{path}"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()
