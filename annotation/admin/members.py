"""The members of a study or benchmark, and the log of what was changed: pages of both."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotation.access import rights
from annotation.access.members import find_user, give_role
from annotation.access.requests import ResearcherRequest
from annotation.admin.pages import row_url, show_page
from annotation.models import MemberRole
from annotation.models.errors import Refusal

NO_ROLE = "none"
FOLDER = "admin/annotation"
SHOWN_CHANGES = 200


class MemberForm(forms.Form):
    user = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Of a new member, or of one whose role changes.",
    )
    role = forms.ChoiceField(
        label="Role",
        choices=[*MemberRole.choices, (NO_ROLE, "none: no longer a member")],
        initial=MemberRole.VIEWER,
    )

    def clean_user(self) -> User:
        try:
            return find_user(self.cleaned_data["user"])
        except Refusal as refusal:
            raise forms.ValidationError(str(refusal)) from refusal

    def change(self, thing: rights.Thing, *, by: User) -> None:
        role = self.cleaned_data["role"]
        give_role(thing, self.cleaned_data["user"], None if role == NO_ROLE else role, by=by)


def members(
    model_admin: admin.ModelAdmin[Any], request: ResearcherRequest, thing: rights.Thing
) -> HttpResponse:
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            form.change(thing, by=request.user)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(request, "The members have been changed.")
            # Whoever gave the right away has no business here any more.
            still_may = rights.may(request.user, thing, rights.Right.MEMBERS)
            return HttpResponseRedirect(request.path if still_may else "/")
    return show_page(
        model_admin,
        request,
        f"{FOLDER}/members.html",
        original=thing,
        title=f"Members of {thing}",
        form=form,
        members=rights.members(thing),
        back=row_url(thing),
    )


def changes(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, thing: rights.Thing
) -> HttpResponse:
    return show_page(
        model_admin,
        request,
        f"{FOLDER}/changes.html",
        tab="log",
        original=thing,
        title=f"Changes of {thing}",
        changes=thing.changes.select_related("user")[:SHOWN_CHANGES],
    )
