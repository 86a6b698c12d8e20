"""An assignment's pages besides its form: exclude, lift the exclusion, a new personal link."""

from django.contrib import admin, messages
from django.http import HttpResponse
from django.utils import timezone

from annotation.access.links import resume_link
from annotation.access.requests import ResearcherRequest
from annotation.admin.forms import ReasonForm
from annotation.admin.pages import CONFIRM, attempt, show_page, to_row
from annotation.models import Assignment
from annotation.studies.excluding import exclude, lift_exclusion
from annotation.work.joining import renew_resume_link


def exclude_page(
    model_admin: admin.ModelAdmin[Assignment],
    request: ResearcherRequest,
    assignment: Assignment,
) -> HttpResponse:
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        attempt(
            model_admin,
            request,
            assignment,
            lambda: exclude(assignment, reason=reason, author=request.user),
            done=f"The assignment of {assignment.annotator} is excluded.",
        )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=f"Exclude the assignment of {assignment.annotator}",
        sentences=[
            "Its answers will count only in the tables “with excluded”.",
            "Outcome, completion code and pay stay as they are.",
            "Unless the study is closed, its place opens for somebody else.",
        ],
        form=form,
        button="Exclude",
    )


def lift_page(
    model_admin: admin.ModelAdmin[Assignment],
    request: ResearcherRequest,
    assignment: Assignment,
) -> HttpResponse:
    if request.method == "POST":
        attempt(
            model_admin,
            request,
            assignment,
            lambda: lift_exclusion(assignment, by=request.user),
            done=f"The exclusion of {assignment.annotator} is lifted.",
        )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=f"Lift the exclusion of {assignment.annotator}",
        sentences=["Its answers count again. It needs a place: its old one, or an empty one."],
        button="Lift the exclusion",
    )


def renew_page(
    model_admin: admin.ModelAdmin[Assignment], request: ResearcherRequest, assignment: Assignment
) -> HttpResponse:
    """The new link is shown once, to be handed out; the log only says that there is one."""
    if request.method == "POST":
        done = f"The personal link of {assignment.annotator} was replaced."
        renewed = attempt(
            model_admin,
            request,
            assignment,
            lambda: renew_resume_link(assignment, at=timezone.now(), by=request.user),
            done=done,
        )
        if renewed:
            messages.info(
                request,
                f"Hand out this new personal link: {resume_link(request, assignment)}",
            )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=f"A new personal link for {assignment.annotator}",
        sentences=[
            "Be sure who asks: whoever has the link works, and ends, as this person.",
            "The present personal link ends at once; browsers that are in stay in.",
            "It is logged, and exports mark this assignment.",
        ],
        button="Make a new personal link",
    )
