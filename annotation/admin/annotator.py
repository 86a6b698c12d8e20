"""Annotators: pseudonyms, and ids for those who may see them; erased on request, never changed."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right, is_all_powerful, studies
from annotation.admin.pages import ViewOnlyAdmin, linked, shown
from annotation.models import Annotator, Assignment
from annotation.studies.erasing import erase_annotator


@admin.register(Annotator)
class AnnotatorAdmin(ViewOnlyAdmin[Annotator]):
    path = "assignments__study"
    to_view = Right.PEOPLE
    pages = {"erase": ("annotation.change_annotator", Right.ERASE)}
    change_form_template = "admin/annotation/annotator_form.html"
    list_display = ("pseudonym", "channel", "shown_id", "assignment_count", "erased_at")
    list_filter = ("channel", ("erased_at", admin.EmptyFieldListFilter))
    list_select_related = ("channel",)
    search_fields = ("pseudonym",)
    fields = ("pseudonym", "channel", "shown_id", "created_at", "erased_at", "assignment_link")
    readonly_fields = ("shown_id", "assignment_link")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Annotator]:
        """With what the user may know of each: the id, and the assignments in their own studies."""
        theirs = Assignment.objects.filter(annotator=OuterRef("pk")).order_by()
        seen = theirs.filter(study__in=studies(request.user, Right.PEOPLE).values("pk"))
        named = theirs.filter(study__in=studies(request.user, Right.IDS).values("pk"))
        is_named = Exists(named) if not is_all_powerful(request.user) else Value(True)
        count = seen.values("annotator").annotate(n=Count("pk")).values("n")
        return (
            super()
            .get_queryset(request)
            .annotate(assignment_count=Coalesce(Subquery(count), 0), is_named=is_named)
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Annotator], search_term: str
    ) -> tuple[QuerySet[Annotator], bool]:
        """Also by the whole external id, for those who may see it."""
        found, _twice = super().get_search_results(request, queryset, search_term)
        if search_term:
            found |= self.own(request, queryset, Right.IDS).filter(external_id=search_term.strip())
        return found, False

    def allows(self, request: HttpRequest, row: Annotator, right: Right) -> bool:
        """Erasing takes the right in every study of the person: it touches them all."""
        if right == Right.ERASE and not is_all_powerful(request.user):
            own = studies(request.user, Right.ERASE).values("pk")
            return not row.assignments.exclude(study__in=own).exists()
        return super().allows(request, row, right)

    def erase_page(self, request: ResearcherRequest, annotator: Annotator) -> HttpResponse:
        return self.confirm(
            request,
            annotator,
            lambda: erase_annotator(annotator, at=timezone.now(), by=request.user),
            title=f"Erase the identity of {annotator}",
            sentences=[
                "The external id, the submission ids, the invitations, the reported problems and "
                "the comments are deleted for good.",
                "Pay first: afterwards nobody can tell who is owed what.",
                "Unfinished work ends as withdrawn. Answers stay under the pseudonym.",
                "A keyed hash stays, so that the same person never works on a task twice.",
            ],
            button="Erase",
            done=f"The identity of {annotator} has been erased.",
        )

    def about(self, request: HttpRequest, row: Annotator) -> dict[str, Any]:
        return {"may_erase": self.allows(request, row, Right.ERASE)}

    shown_id = shown("External id", lambda row: row.external_id if row.is_named else "–")
    assignment_count = shown(
        "Assignments", lambda row: row.assignment_count, ordering="assignment_count"
    )
    assignment_link = linked(
        "Assignments", "assignment", "annotator", lambda row: row.assignment_count
    )
