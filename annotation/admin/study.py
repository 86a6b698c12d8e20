"""Studies: their list, and what is asked before something is done with one. They are made and set
up on a page of their own, annotation/studies/settings_page.py."""

from functools import partialmethod
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.core.exceptions import PermissionDenied
from django.db.models import Aggregate, Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.admin.forms import CopyForm, InviteForm, StudyFileForm
from annotation.admin.pages import CONFIRM, MembersAdmin, shown, to_row
from annotation.models import Batch, Place, Study, clock
from annotation.models.errors import Refusal
from annotation.studies.drafting import copy_study, delete_draft
from annotation.studies.lifecycle import ACTS, CHANGES, what_was_done
from annotation.studies.people import invite, read_people
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import read_study_file
from annotation.studies.tabs import CHANGE
from scoring.tables.words import counted


@admin.register(Study)
class StudyAdmin(MembersAdmin[Study]):
    pages = {
        **{name: (CHANGE, Right.SET_UP) for name in ACTS if CHANGES[name]["offered"]},
        "copy": ("annotation.add_study", Right.SET_UP),
        "invitations": ("annotation.add_invitation", Right.IDS),
        "members": (CHANGE, Right.MEMBERS),
        "changes": ("annotation.view_study", Right.SET_UP),
    }
    path = "pk"
    to_delete = Right.MEMBERS
    list_display = ("title", "state", "benchmark", "channel", "kept_of_wanted", "created_at")
    list_filter = (
        "state",
        ("archived_at", admin.EmptyFieldListFilter),
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        "channel",
    )
    list_select_related = ("benchmark", "channel")
    search_fields = ("title", "slug")
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        kept = Place.objects.filter(batch__study=OuterRef("pk"), kept=True, simulated=False)
        batches = Batch.objects.filter(study=OuterRef("pk"))
        return (
            super()
            .get_queryset(request)
            .annotate(
                kept=_total(kept, "batch__study", Count("pk")),
                wanted=_total(batches, "study", Sum("wanted")),
            )
        )

    kept_of_wanted = shown("Places finished", lambda row: f"{row.kept} of {row.wanted}")

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        page = reverse("annotation:new_study")
        return HttpResponseRedirect(f"{page}?{request.GET.urlencode()}")

    def change_view(
        self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        study = self.get_object(request, object_id)
        assert study is not None  # get_object raises Http404
        return to_row(study)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        study = self.get_object(request, object_id)
        if study and study.is_frozen and self.has_delete_permission(request, study):
            sentence = "A study that has started is kept, with its judgements: close it instead."
            messages.error(request, sentence)
            return to_row(study)
        return super().delete_view(request, object_id, extra_context)

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        delete_draft(obj)

    def _change_state(self, request: ResearcherRequest, study: Study, name: str) -> HttpResponse:
        words, act = CHANGES[name], ACTS[name]
        count = study.assignments.open().of_people().count()
        # Not “at work”: some may have lost their place, and can still finish.
        begun = f"{counted(count, 'person has,people have')} begun and not finished."
        return self.confirm(
            request,
            study,
            lambda: act(study, clock.now(), request.user),
            title=f"{words['button']}: {study}",
            sentences=[words["question"], begun if count else "Nobody has unfinished work."],
            button=words["button"],
            done=lambda: what_was_done(name, study),
            to="" if study.is_rehearsal else reverse("annotation:watch", args=[study.slug]),
        )

    pause_page = partialmethod(_change_state, name="pause")
    resume_page = partialmethod(_change_state, name="resume")
    close_page = partialmethod(_change_state, name="close")
    archive_page = partialmethod(_change_state, name="archive")
    take_out_page = partialmethod(_change_state, name="take-out")

    def get_urls(self) -> list[URLPattern]:
        may_make = permission_required("annotation.add_study", raise_exception=True)
        page = self.admin_site.admin_view(may_make(self.from_file_page))
        return [path("from-file/", page, name="annotation_study_from_file"), *super().get_urls()]

    def from_file_page(self, request: ResearcherRequest) -> HttpResponse:
        form = StudyFileForm(request.POST or None, request.FILES or None)
        if request.method == "POST" and form.is_valid():
            upload = form.cleaned_data["file"]
            try:
                file = read_study_file(upload.read(), upload.name)
                made = apply_study(file, by=request.user, only_new=True).study
            except Refusal as refusal:
                form.add_error("file", str(refusal))
            else:
                messages.success(request, "The study is a draft, as the file says.")
                return to_row(made)
        return self.show_page(
            request,
            CONFIRM,
            title="A study from a file",
            sentences=["A draft with all that the file says: settings, pools, batches, outcomes."],
            form=form,
            button="Make a draft",
            back=reverse("annotation:home"),
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
        form = InviteForm(request.POST or None, request.FILES or None, study=study)
        if request.method == "POST" and form.is_valid():
            try:
                named = read_people(form.cleaned_data["people"])
                people = invite(study, named, pool=form.cleaned_data.get("pool"))
            except Refusal as refusal:
                form.add_error(None, str(refusal))
            else:
                done = f"{counted(len(people), 'person has a link,people have links')}."
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


def _total(rows: QuerySet[Any], study: str, figure: Aggregate) -> Coalesce:
    """A figure over the rows of each study, in its own subquery."""
    totals = rows.order_by().values(study).annotate(total=figure).values("total")
    return Coalesce(Subquery(totals), 0)
