"""Batches one by one: added and changed in a draft, given more places later."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.admin.forms import BatchForm, MorePlacesForm
from annotation.admin.pages import OwnedAdmin, row_url, shown, to_row
from annotation.models import Batch, ItemSet, Pool, Role, Study, StudyState, Task
from annotation.models.texts import is_key
from annotation.studies.checks import possible_checks
from annotation.studies.drafting import hold_draft, log_batches
from annotation.studies.lifecycle import want_more
from scoring.tables.words import counted


@admin.register(Batch)
class BatchAdmin(OwnedAdmin[Batch]):
    form = BatchForm
    pages = {"more-places": ("annotation.change_batch", Right.SET_UP)}
    change_form_template = "admin/annotation/batch_form.html"
    list_display = ("__str__", "study", "study_state", "wanted")
    list_filter = (
        ("study", admin.RelatedOnlyFieldListFilter),
        ("task", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("study", "task__benchmark", "training_set", "test_set", "pool")
    search_fields = ("study__title", "task__slug")
    autocomplete_fields = ("training_set", "test_set")
    actions = None
    fields = ("study", "task", "training_set", "test_set", "check_set", "pool", "wanted")

    study_state = shown("State", lambda row: row.study.get_state_display())

    def more_places_page(self, request: ResearcherRequest, batch: Batch) -> HttpResponse:
        form = MorePlacesForm(request.POST or None, batch=batch)

        def done() -> str:
            return f"{batch} wants {counted(form.cleaned_data['wanted'], 'person,people')} now."

        return self.confirm(
            request,
            batch,
            lambda: want_more(batch, form.cleaned_data["wanted"], by=request.user),
            title=f"More places in {batch}",
            sentences=[
                "Places can be added while it runs, never taken away; no verdict is sure then."
            ],
            button="Save",
            done=done,
            form=form,
            to=row_url(batch.study),
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Batch | None = None) -> list[str]:
        return ["study"] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: Batch | None = None) -> bool:
        is_frozen = obj is not None and obj.study.is_frozen
        return not is_frozen and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Batch | None = None) -> bool:
        is_frozen = obj is not None and obj.study.is_frozen
        return not is_frozen and super().has_delete_permission(request, obj)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        if db_field.name == "study":
            kwargs["queryset"] = Study.objects.filter(state=StudyState.DRAFT)
        if db_field.name == "task" and (study := _study_of(request)):
            kwargs["queryset"] = Task.objects.filter(benchmark=study.benchmark_id)
        if db_field.name == "check_set":
            kwargs["queryset"] = _checks_offered(request)
        if db_field.name == "pool":
            kwargs["queryset"] = Pool.objects.filter(study=_study_of(request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Batch, form: BatchForm, change: bool) -> None:
        hold_draft(obj.study)
        before = _stored(obj) if change else []
        obj.save(update_fields=form.changed_data if change else None)
        log_batches(obj.study, before, _stored(obj), by=cast(User, request.user))

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Batch) -> None:
        hold_draft(obj.study)
        before = _stored(obj)
        obj.delete()
        log_batches(obj.study, before, [], by=cast(User, request.user))

    def response_add(
        self, request: HttpRequest, obj: Batch, post_url_continue: str | None = None
    ) -> HttpResponse:
        messages.success(request, f"{obj} was added.")
        return to_row(obj.study)

    def response_change(self, request: HttpRequest, obj: Batch) -> HttpResponse:
        messages.success(request, f"{obj} was changed.")
        return to_row(obj.study)


def _stored(batch: Batch) -> list[Batch]:
    stored = Batch.objects.filter(pk=batch.pk)
    return list(stored.select_related("task", "training_set", "test_set", "pool"))


def _batch_of(request: HttpRequest) -> Batch | None:
    """The batch on the page."""
    match = request.resolver_match
    batch = match.kwargs.get("object_id", "") if match else ""
    batches = Batch.objects.select_related("study", "task")
    return batches.filter(pk=int(batch)).first() if is_key(batch) else None


def _study_of(request: HttpRequest) -> Study | None:
    """That of the batch on the page, or the one that the link to a new batch names."""
    if batch := _batch_of(request):
        return batch.study
    named = request.GET.get("study", "")
    return Study.objects.filter(pk=int(named)).first() if is_key(named) else None


def _checks_offered(request: HttpRequest) -> QuerySet[ItemSet]:
    batch, study = _batch_of(request), _study_of(request)
    if study is None:
        return ItemSet.objects.filter(role=Role.TRAINING)
    return possible_checks(study, batch.task if batch else None)
