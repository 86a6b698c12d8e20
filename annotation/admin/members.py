"""The members of a study or benchmark, and the log of what was changed: pages of both."""

from typing import TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from annotation.access import rights
from annotation.access.members import find_user, give_role
from annotation.access.requests import ResearcherRequest
from annotation.admin.pages import OwnedAdmin, row_url
from annotation.models import Benchmark, MemberRole, Study
from annotation.models.errors import Refusal

NO_ROLE = "none"
FOLDER = "admin/annotation"
SHOWN_CHANGES = 200
_Thing = TypeVar("_Thing", Study, Benchmark)


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


class MembersAdmin(OwnedAdmin[_Thing]):
    """Of things that belong to somebody."""

    def members_page(self, request: ResearcherRequest, thing: _Thing) -> HttpResponse:
        """Who is a member, and a form that adds, changes or removes one."""
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
        return self.show_page(
            request,
            f"{FOLDER}/members.html",
            original=thing,
            title=f"Members of {thing}",
            form=form,
            members=rights.members(thing),
            back=row_url(thing),
        )

    def changes_page(self, request: HttpRequest, thing: _Thing) -> HttpResponse:
        """The newest changes, with who and when."""
        return self.show_page(
            request,
            f"{FOLDER}/changes.html",
            tab="log",
            original=thing,
            title=f"Changes of {thing}",
            changes=thing.changes.select_related("user")[:SHOWN_CHANGES],
        )
