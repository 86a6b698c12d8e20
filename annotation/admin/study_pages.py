"""A study's pages besides its form: batches, start, pause, close, copy, invitations."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.access.requests import ResearcherRequest
from annotation.admin.forms import CopyForm, InviteForm
from annotation.admin.pages import Page, attempt, show_page, to_row
from annotation.models import Study
from annotation.models.errors import Refusal
from annotation.studies import lifecycle
from annotation.studies.advice import study_advice
from annotation.studies.batching import add_batches, missing
from annotation.studies.copying import copy_study
from annotation.studies.forms import AddBatchesForm
from annotation.studies.invitations import invite, read_people
from annotation.work.estimating import estimate, usual_seconds

CHANGE = "annotation.change_study"
FOLDER = "admin/annotation"


def batches(
    model_admin: admin.ModelAdmin[Study], request: ResearcherRequest, study: Study
) -> HttpResponse:
    """Tasks × shots × chains, previewed, then added."""
    if study.is_frozen:
        messages.error(request, _("This study has been started: copy it to add other batches."))
        return to_row(study)
    form = AddBatchesForm(request.POST or None, benchmark=study.benchmark)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        if "add" in request.POST and _add(model_admin, request, study, form):
            return to_row(study)
        context |= _preview(study, form)
    template = f"{FOLDER}/add_batches.html"
    if request.htmx:
        template += "#preview"
    title = _("Add batches")
    return show_page(model_admin, request, template, original=study, title=title, **context)


def _add(
    model_admin: admin.ModelAdmin[Study],
    request: ResearcherRequest,
    study: Study,
    form: AddBatchesForm,
) -> bool:
    try:
        new = add_batches(study, form.chosen(), wanted=form.cleaned_data["wanted"])
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return False
    done = ngettext("%(count)d batch was added.", "%(count)d batches were added.", len(new))
    model_admin.log_change(request, study, done % {"count": len(new)})
    messages.success(request, done % {"count": len(new)})
    return True


def _preview(study: Study, form: AddBatchesForm) -> dict[str, Any]:
    chosen = form.chosen()
    new = missing(study, chosen)
    planned = [candidate.batch(study, form.cleaned_data["wanted"]) for candidate in new]
    return {
        "planned": planned,
        "present": len(chosen) - len(new),
        "estimate": estimate(study, planned, seconds=form.cleaned_data["seconds"]),
        "study": study,
    }


def start(
    model_admin: admin.ModelAdmin[Study], request: ResearcherRequest, study: Study
) -> HttpResponse:
    """What will be frozen and what is still missing; a POST starts the study."""
    if request.method == "POST":
        attempt(
            model_admin,
            request,
            study,
            lambda: lifecycle.start_study(study, at=timezone.now()),
            done=_("The study is open. Its settings are frozen from now on."),
        )
        return to_row(study)
    if study.is_frozen:
        messages.error(request, _("This study has been started already."))
        return to_row(study)
    planned = list(study.batches.select_related("task", "training_set", "test_set"))
    seconds = usual_seconds({batch.task for batch in planned})
    return show_page(
        model_admin,
        request,
        f"{FOLDER}/start.html",
        original=study,
        title=_("Start %(study)s") % {"study": study},
        missing=lifecycle.what_is_missing(study),
        advice=study_advice(study),
        batches=planned,
        outcome_rules=study.outcome_rules.all(),
        seconds=seconds,
        estimate=estimate(study, planned, seconds=seconds),
    )


@dataclass(frozen=True)
class Change:
    """One change of a study's state, with the sentences of its page."""

    act: Callable[[Study], None]
    button: Any
    question: Any
    done: Any


CHANGES = {
    "pause": Change(
        lifecycle.pause_study,
        gettext_lazy("Pause"),
        gettext_lazy(
            "Nobody new can join while the study is paused. Those already at work can finish."
        ),
        gettext_lazy("The study is paused: nobody new can join."),
    ),
    "resume": Change(
        lifecycle.resume_study,
        gettext_lazy("Resume"),
        gettext_lazy("People can join again, with the same links."),
        gettext_lazy("The study is open again."),
    ),
    "close": Change(
        lambda study: lifecycle.close_study(study, at=timezone.now()),
        gettext_lazy("Close"),
        gettext_lazy(
            "Nobody can join or continue. Unfinished work ends as expired, and what was done is "
            "paid. A closed study cannot be reopened."
        ),
        gettext_lazy("The study is closed."),
    ),
}


def change_state(name: str) -> Callable[..., HttpResponse]:
    change = CHANGES[name]

    def page(
        model_admin: admin.ModelAdmin[Study], request: ResearcherRequest, study: Study
    ) -> HttpResponse:
        if request.method == "POST":
            act = lambda: change.act(study)  # noqa: E731
            attempt(model_admin, request, study, act, done=str(change.done))
            return to_row(study)
        working = study.assignments.open().of_people().count()
        return show_page(
            model_admin,
            request,
            f"{FOLDER}/confirm.html",
            original=study,
            title=f"{change.button}: {study}",
            sentences=[change.question, _at_work(working)],
            button=change.button,
        )

    return page


def _at_work(count: int) -> str:
    if not count:
        return _("Nobody is at work at the moment.")
    sentence = ngettext("%(count)d person is at work.", "%(count)d people are at work.", count)
    return sentence % {"count": count}


def copy(
    model_admin: admin.ModelAdmin[Study], request: ResearcherRequest, study: Study
) -> HttpResponse:
    initial = {"title": _("Copy of %(title)s") % {"title": study.title}, "slug": f"{study.slug}-2"}
    form = CopyForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            made = copy_study(study, owner=request.user, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error("slug", str(refusal))
        else:
            messages.success(request, _("This copy is a draft with links and codes of its own."))
            return to_row(made)
    return show_page(
        model_admin,
        request,
        f"{FOLDER}/confirm.html",
        original=study,
        title=_("Copy %(study)s") % {"study": study},
        sentences=[
            _("A draft with the same texts, rules and batches. Links, codes and seed are new.")
        ],
        form=form,
        button=_("Copy"),
    )


def invitations(
    model_admin: admin.ModelAdmin[Study], request: ResearcherRequest, study: Study
) -> HttpResponse:
    form = InviteForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            people = invite(study, read_people(form.cleaned_data["people"]))
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            done = ngettext(
                "%(count)d person has a link.", "%(count)d people have links.", len(people)
            )
            # The log names nobody.
            model_admin.log_change(request, study, done % {"count": len(people)})
            messages.success(request, done % {"count": len(people)})
            return HttpResponse(status=302, headers={"Location": request.path})
    return show_page(
        model_admin,
        request,
        f"{FOLDER}/invitations.html",
        original=study,
        title=_("Invitations"),
        form=form,
        invited=study.invitations.count(),
    )


PAGES = [
    Page("batches", batches, CHANGE),
    Page("start", start, CHANGE),
    *[Page(name, change_state(name), CHANGE) for name in CHANGES],
    Page("copy", copy, "annotation.add_study"),
    Page("invitations", invitations, "annotation.add_invitation"),
]
