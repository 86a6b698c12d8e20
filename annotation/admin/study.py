"""Studies: their form, their rules, and links to everything else about them."""

from functools import partialmethod
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Aggregate, Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse

from annotation.access.requests import ResearcherRequest, batch_link, join_links, parameter_names
from annotation.access.rights import Right, make_owner
from annotation.admin.forms import (
    CopyForm,
    InviteForm,
    OutcomeRuleForm,
    OutcomeRuleFormSet,
    StudyFileForm,
    StudyForm,
)
from annotation.admin.pages import CONFIRM, MembersAdmin, shown, to_row
from annotation.models import Batch, OutcomeRule, Place, Pool, Study, clock
from annotation.models.errors import Refusal
from annotation.models.study import NEVER_FROZEN
from annotation.models.texts import counted, described_beside
from annotation.studies.advice import study_advice
from annotation.studies.codes import add_missing_codes, log_rules, rules_of
from annotation.studies.drafting import copy_study, delete_draft, hold_draft
from annotation.studies.lifecycle import ACTS, CHANGES, what_is_missing
from annotation.studies.monitoring import study_figures
from annotation.studies.people import invite, read_people
from annotation.studies.screening import screening_facts
from annotation.studies.study_file.applying import apply_study
from annotation.studies.study_file.reading import read_study_file
from annotation.studies.tabs import CHANGE, study_frame


def _section(told: dict[str, Any]) -> tuple[str, Any]:
    """With the settings that share a line together, as Django wants them."""
    lines = [tuple(one) if isinstance(one, list) else one for one in told["fields"]]
    return told.pop("title"), told | {"fields": lines}


class OutcomeRuleInline(admin.TabularInline[OutcomeRule, Study]):
    model = OutcomeRule
    form = OutcomeRuleForm
    formset = OutcomeRuleFormSet
    fields = ("outcome", "code", "pays_time", "minimum")
    readonly_fields = ("outcome",)
    verbose_name_plural = "Outcomes: completion codes and what they pay"
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        frozen = obj is not None and obj.is_frozen
        return not frozen and super().has_change_permission(request, obj)


class PoolInline(admin.TabularInline[Pool, Study]):
    model = Pool
    fields = ("name", "slug", "about", "min_check_score")
    prepopulated_fields = {"slug": ("name",)}
    verbose_name_plural = "Pools: groups of people with links of their own"
    # As wide as the page takes.
    formfield_overrides = {models.CharField: {"widget": forms.TextInput(attrs={"size": 20})}}
    extra = 0

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return not (obj and obj.is_frozen) and request.user.has_perm(CHANGE)

    has_add_permission = has_delete_permission = has_change_permission

    def has_view_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return True


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
    form = StudyForm
    inlines = [PoolInline, OutcomeRuleInline]
    change_form_template = "admin/annotation/study_form.html"
    list_display = ("title", "state", "benchmark", "channel", "kept_of_wanted", "created_at")
    list_filter = (
        "state",
        ("archived_at", admin.EmptyFieldListFilter),
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        "channel",
    )
    list_select_related = ("benchmark", "channel")
    search_fields = ("title", "slug")
    prepopulated_fields = {"slug": ["title"]}
    actions = None
    fieldsets = [*map(_section, described_beside(__file__)["sections"])]  # type: ignore[arg-type]

    class Media:
        js = ["annotation/studies/researcher.js"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        kept = Place.objects.filter(batch__study=OuterRef("pk"), kept=True, simulated=False)
        wanted = Batch.objects.filter(study=OuterRef("pk"))
        return (
            super()
            .get_queryset(request)
            .annotate(
                kept=_total(kept, "batch__study", Count("pk")),
                wanted=_total(wanted, "study", Sum("wanted")),
            )
        )

    kept_of_wanted = shown("Places finished", lambda row: f"{row.kept} of {row.wanted}")

    systems = shown("Systems to compare with", lambda row: "\n".join(row.named_systems))

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        """Where the named systems are only shown, each stands on a line."""
        fieldsets: Any = super().get_fieldsets(request, obj)
        if obj is None or (not obj.is_frozen and self.has_change_permission(request, obj)):
            return fieldsets
        names = {"named_systems": "systems"}
        return [
            (title, options | {"fields": [names.get(name, name) for name in options["fields"]]})
            for title, options in fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> list[str]:
        if obj is None or not obj.is_frozen:
            return []
        fields = ["systems", *flatten_fieldsets(self.fieldsets)]
        return [field for field in fields if field not in NEVER_FROZEN]

    def get_inlines(self, request: HttpRequest, obj: Study | None) -> list[Any]:
        # Codes are generated when the study is first stored.
        if obj is None:
            return []
        return self.inlines if not obj.is_frozen or obj.pools.exists() else [OutcomeRuleInline]

    # Storing: only what was changed, and only if the study is still in the state the form assumed.

    def save_model(self, request: HttpRequest, obj: Study, form: StudyForm, change: bool) -> None:
        if not change:
            obj.save()
            make_owner(obj, cast(User, request.user))
            add_missing_codes(obj)
            return
        if not obj.is_frozen:
            hold_draft(obj)
        stored = Study.objects.get(pk=obj.pk)
        obj.save(update_fields=form.changed_data)
        self.log_settings(request, stored, form)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        study = form.instance
        before = rules_of(study)
        super().save_related(request, form, formsets, change)
        log_rules(study, before, by=cast(User, request.user))
        if not study.is_frozen:
            add_missing_codes(study)
            for sentence in study_advice(study):
                messages.warning(request, sentence)

    def response_add(
        self, request: HttpRequest, obj: Study, post_url_continue: str | None = None
    ) -> HttpResponse:
        messages.success(request, "The study is a draft. Next: check its codes, then add batches.")
        return to_row(obj)

    def response_change(self, request: HttpRequest, obj: Study) -> HttpResponse:
        messages.success(request, "The settings were saved.")
        return to_row(obj)

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

    def about(self, request: HttpRequest, row: Study) -> dict[str, Any]:
        figures = study_figures(row, at=clock.now())
        for of_batch in figures.batches:
            of_batch.batch.study = row  # not one query for each link
        return {
            **study_frame(request.user, row, tab="settings"),
            "missing": [] if row.is_frozen else what_is_missing(row),
            "advice": [] if row.is_frozen else study_advice(row),
            **screening_facts(row),
            "figures": figures,
            "rows": [(one, batch_link(request, one.batch)) for one in figures.batches],
            "links": join_links(request, row),
            "parameter_names": parameter_names(row.channel),
            "invited": row.invitations.count(),
            "show_delete": not row.is_frozen,
        }

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context |= {"show_save_and_add_another": False, "show_save_and_continue": False}
        return super().render_change_form(request, context, *args, **kwargs)

    def _change_state(self, request: ResearcherRequest, study: Study, name: str) -> HttpResponse:
        told, act = CHANGES[name], ACTS[name]
        count = study.assignments.open().of_people().count()
        # Not “at work”: some may have lost their place, and can still finish.
        begun = f"{counted(count, 'person has', 'people have')} begun and not finished."
        return self.confirm(
            request,
            study,
            lambda: act(study, clock.now(), request.user),
            title=f"{told['button']}: {study}",
            sentences=[told["question"], begun if count else "Nobody has unfinished work."],
            button=told["button"],
            done=told["done"],
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
            given = form.cleaned_data["file"]
            try:
                file = read_study_file(given.read(), given.name)
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


def _total(rows: QuerySet[Any], study: str, figure: Aggregate) -> Coalesce:
    """A figure over the rows of each study, in its own subquery."""
    totals = rows.order_by().values(study).annotate(total=figure).values("total")
    return Coalesce(Subquery(totals), 0)
