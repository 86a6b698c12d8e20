"""Who is a member of a study or a benchmark, and the log of what they changed."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import rights
from annotation.access.inviting import LASTS, new_link, take_back
from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right, Thing, find_user, give_role
from annotation.models import MemberRole, clock
from annotation.models.errors import Refusal
from annotation.studies.tabs import (
    READ,
    SEND,
    benchmark_for,
    benchmark_frame,
    study_for,
    study_frame,
)

NO_ROLE = "none"
PER_PAGE = 100
# Of a study by its short name, of a benchmark by its name.
FINDS = {"study": study_for, "benchmark": benchmark_for}
FRAMES = {"study": study_frame, "benchmark": benchmark_frame}


class MemberForm(forms.Form):
    user = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Of a new member, or of one whose role changes.",
    )
    role = forms.ChoiceField(
        choices=[*MemberRole.choices, (NO_ROLE, "none: no longer a member")],
        initial=MemberRole.VIEWER,
    )

    def clean_user(self) -> User:
        try:
            return find_user(self.cleaned_data["user"])
        except Refusal as refusal:
            raise forms.ValidationError(str(refusal)) from refusal

    def clean_role(self) -> str | None:
        role = self.cleaned_data["role"]
        return None if role == NO_ROLE else str(role)


class LinkForm(forms.Form):
    link_role = forms.ChoiceField(
        label="Role", choices=MemberRole.choices, initial=MemberRole.VIEWER
    )


@never_cache
@require_http_methods([*READ, *SEND])
def members(request: ResearcherRequest, kind: str, name: str) -> HttpResponse:
    thing: Any = FINDS[kind](request, name, right=Right.MEMBERS)
    if "take_back" in request.POST:
        take_back(thing, request.POST["take_back"], by=request.user)
        messages.success(request, "The link lets nobody in any more.")
        return redirect(request.path)
    makes_link = "link_role" in request.POST
    link_form = LinkForm(request.POST if makes_link else None)
    link = _new_link(request, thing, link_form) if link_form.is_valid() else ""
    form = MemberForm(request.POST if request.POST and not makes_link else None)
    if form.is_valid():
        try:
            give_role(thing, **form.cleaned_data, by=request.user)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The members have been changed.")
            # Whoever gave the right away has no business here any more.
            still_may = rights.may(request.user, thing, Right.MEMBERS)
            return redirect(request.path if still_may else "/")
    context = {
        **_frame(request, thing, kind, tab="members"),
        "form": form,
        "members": rights.members(thing),
        "link": link,
        "link_form": link_form,
        "links": thing.member_links.filter(expires_at__gt=clock.now()).select_related("made_by"),
        "lasts": LASTS.days,
    }
    status = 422 if form.errors or link_form.errors else 200
    return render(request, "annotation/studies/members.html", context, status=status)


def _new_link(request: ResearcherRequest, thing: Any, form: LinkForm) -> str:
    role = form.cleaned_data["link_role"]
    token = new_link(thing, role, by=request.user, at=clock.now())
    return request.build_absolute_uri(reverse("annotation:colleague", args=[token]))


@never_cache
@require_safe
def log(request: ResearcherRequest, kind: str, name: str) -> HttpResponse:
    thing: Any = FINDS[kind](request, name, right=Right.SET_UP)
    pages = Paginator(thing.changes.select_related("user"), PER_PAGE)
    context = {
        **_frame(request, thing, kind, tab="log"),
        "page": pages.get_page(request.GET.get("page")),
    }
    return render(request, "annotation/studies/log.html", context)


def _frame(request: ResearcherRequest, thing: Thing, kind: str, *, tab: str) -> dict[str, Any]:
    frame: Any = FRAMES[kind]
    return {**frame(request.user, thing, tab=tab), "thing": thing}
