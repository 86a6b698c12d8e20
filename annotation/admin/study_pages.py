"""A study's pages besides its form: pause, close, copy, invitations."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.admin.forms import CopyForm, InviteForm
from annotation.admin.pages import CONFIRM, MembersAdmin, to_row
from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.models.texts import counted
from annotation.studies import lifecycle
from annotation.studies.drafting import copy_study
from annotation.studies.people import invite, read_people

CHANGE = "annotation.change_study"


# By the page's address: the act, its button, what it means, and what is said when it is done.
CHANGES: dict[str, tuple[Callable[[Study, User], None], str, str, str]] = {
    "pause": (
        lambda study, by: lifecycle.pause_study(study, by=by),
        "Pause",
        "Nobody new can join while the study is paused. Those already at work can finish.",
        "The study is paused: nobody new can join.",
    ),
    "resume": (
        lambda study, by: lifecycle.resume_study(study, by=by),
        "Resume",
        "People can join again, with the same links.",
        "The study is open again.",
    ),
    "close": (
        lambda study, by: lifecycle.close_study(study, at=timezone.now(), by=by),
        "Close",
        "Nobody can join. Those at work may send the page before them for as long as one "
        "example is paid; then their work ends as expired, and what was done is paid. A "
        "closed study cannot be reopened.",
        "The study is closed.",
    ),
    "archive": (
        lambda study, by: lifecycle.archive_study(study, at=timezone.now(), by=by),
        "Archive",
        "The study goes from the list of studies to the archive. Its pages, figures and data "
        "stay as they are, and it can be taken out again.",
        "The study is in the archive.",
    ),
    "take-out": (
        lambda study, by: lifecycle.take_out(study, by=by),
        "Take out of the archive",
        "The study stands among the others again.",
        "The study is out of the archive.",
    ),
}


class StudyPages(MembersAdmin[Study]):
    pages = {
        **dict.fromkeys(CHANGES, (CHANGE, Right.SET_UP)),
        "copy": ("annotation.add_study", Right.SET_UP),
        "invitations": ("annotation.add_invitation", Right.IDS),
        "members": (CHANGE, Right.MEMBERS),
        "changes": ("annotation.view_study", Right.SET_UP),
    }

    def view_of(self, address: str) -> Callable[[Any, Study], HttpResponse]:
        if address in CHANGES:
            return partial(self.change_state_page, address)
        return super().view_of(address)

    def change_state_page(
        self, name: str, request: ResearcherRequest, study: Study
    ) -> HttpResponse:
        act, button, question, done = CHANGES[name]
        count = study.assignments.open().of_people().count()
        at_work = f"{counted(count, 'person is', 'people are')} at work."
        return self.confirm(
            request,
            study,
            lambda: act(study, request.user),
            title=f"{button}: {study}",
            sentences=[question, at_work if count else "Nobody is at work at the moment."],
            button=button,
            done=done,
            to="" if study.is_rehearsal else reverse("annotation:watch", args=[study.slug]),
        )

    def copy_page(self, request: ResearcherRequest, study: Study) -> HttpResponse:
        initial = {"title": f"Copy of {study.title}", "slug": f"{study.slug}-2"}
        form = CopyForm(request.POST or None, initial=initial)
        if request.method == "POST" and form.is_valid():
            try:
                made = copy_study(study, owner=request.user, **form.cleaned_data)
            except Refusal as refusal:
                form.add_error("slug", str(refusal))
            else:
                messages.success(request, "This copy is a draft with links and codes of its own.")
                return to_row(made)
        sentence = "A draft with the same texts, rules and batches. Links, codes and seed are new."
        return self.show_page(
            request,
            CONFIRM,
            original=study,
            title=f"Copy {study}",
            sentences=[sentence],
            form=form,
            button="Copy",
        )

    def invitations_page(self, request: ResearcherRequest, study: Study) -> HttpResponse:
        form = InviteForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            try:
                people = invite(study, read_people(form.cleaned_data["people"]))
            except Refusal as refusal:
                form.add_error(None, str(refusal))
            else:
                done = f"{counted(len(people), 'person has a link', 'people have links')}."
                # The log names nobody.
                self.log_change(request, study, done)
                messages.success(request, done)
                return HttpResponseRedirect(request.path)
        return self.show_page(
            request,
            "admin/annotation/invitations.html",
            original=study,
            title="Invitations",
            form=form,
            invited=study.invitations.count(),
        )
