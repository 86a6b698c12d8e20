"""Assignments: how they stand, and why; never changed."""

from decimal import Decimal
from typing import Any, TypedDict

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django_stubs_ext import WithAnnotations

from annotation.access.rights import Right, studies
from annotation.admin.assignment_pages import exclude_page, lift_page, renew_page
from annotation.admin.pages import Page, ViewOnlyAdmin
from annotation.models import Assignment


class ExcludedFilter(admin.SimpleListFilter):
    title = "excluded"
    parameter_name = "excluded"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", "Yes"), ("no", "No")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Assignment]
    ) -> QuerySet[Assignment]:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(exclusion__isnull=self.value() == "no")


class OutcomeFilter(admin.SimpleListFilter):
    title = "outcome"
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        choices = Assignment._meta.get_field("outcome").choices or []
        return [("none", "still at work"), *((v, label) for v, label in choices if v)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Assignment]
    ) -> QuerySet[Assignment]:
        if not self.value():
            return queryset
        return queryset.filter(outcome="" if self.value() == "none" else self.value())


class Shown(TypedDict):
    shows_ids: bool
    shows_pay: bool


@admin.register(Assignment)
class AssignmentAdmin(ViewOnlyAdmin[Assignment]):
    to_view = Right.PEOPLE
    pages = [
        Page("exclude", exclude_page, "annotation.add_exclusion", Right.PEOPLE),
        Page("lift", lift_page, "annotation.delete_exclusion", Right.PEOPLE),
        Page("renew", renew_page, "annotation.change_annotator", Right.IDS),
    ]
    change_form_template = "admin/annotation/assignment_form.html"
    list_display = (
        "annotator",
        "batch_label",
        "stands",
        "training",
        "due",
        "joined_at",
        "is_excluded",
    )
    list_filter = (
        ("study", admin.RelatedOnlyFieldListFilter),
        OutcomeFilter,
        ExcludedFilter,
        "annotator__channel",
    )
    list_select_related = (
        "annotator",
        "batch__task__benchmark",
        "batch__training_set",
        "batch__test_set",
        "exclusion",
    )
    search_fields = ("annotator__pseudonym",)
    ordering = ("-id",)
    fieldsets = [
        (None, {"fields": ["annotator", "study", "batch", "submission_shown", "order_seed"]}),
        (
            "Where it stands",
            {"fields": ["state", "step", "outcome", "excluded_as", "resume_renewed_at"]},
        ),
        (
            "Training",
            {"fields": ["training", "decision"]},
        ),
        (
            "Time and pay",
            {
                "fields": [
                    ("joined_at", "consented_at"),
                    ("training_ended_at", "finished_at"),
                    ("paid_minutes", "reveal_minutes"),
                    "due",
                ]
            },
        ),
        ("Answers", {"fields": ["judgement_link"]}),
    ]
    readonly_fields = (
        "submission_shown",
        "due",
        "training",
        "decision",
        "excluded_as",
        "paid_minutes",
        "reveal_minutes",
        "judgement_link",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Assignment]:
        """With what the user may know of each."""
        mine = {
            name: Exists(studies(request.user, right).filter(pk=OuterRef("study")).order_by())
            for name, right in (("shows_ids", Right.IDS), ("shows_pay", Right.PAY))
        }
        return super().get_queryset(request).annotate(**mine)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Assignment], search_term: str
    ) -> tuple[QuerySet[Assignment], bool]:
        """Also by a whole id, for those who may see it."""
        found, twice = super().get_search_results(request, queryset, search_term)
        if search_term:
            term = search_term.strip()
            ids = Q(annotator__external_id=term) | Q(submission_id=term)
            found |= self.own(request, queryset, Right.IDS).filter(ids)
        return found, twice

    @admin.display(description="Submission id")
    def submission_shown(self, assignment: "WithAnnotations[Assignment, Shown]") -> str:
        return assignment.submission_id if assignment.shows_ids else "–"

    @admin.display(description="Amount")
    def due(self, assignment: "WithAnnotations[Assignment, Shown]") -> Decimal | str:
        known = assignment.shows_pay and assignment.amount is not None
        return (assignment.amount if known else None) or "–"

    @admin.display(description="Batch")
    def batch_label(self, assignment: Assignment) -> str:
        return str(assignment.batch)

    @admin.display(description="Stands", ordering="outcome")
    def stands(self, assignment: Assignment) -> str:
        return assignment.get_outcome_display() or assignment.get_state_display()

    @admin.display(description="Training S1", ordering="training_score")
    def training(self, assignment: Assignment) -> str:
        score = assignment.training_score
        return "–" if score is None else f"{score:.1f} %"

    @admin.display(description="Excluded", boolean=True)
    def is_excluded(self, assignment: Assignment) -> bool:
        return hasattr(assignment, "exclusion")

    @admin.display(description="Exclusion")
    def excluded_as(self, assignment: Assignment) -> str:
        exclusion = getattr(assignment, "exclusion", None)
        return exclusion.reason if exclusion else "not excluded"

    @admin.display(description="Decision")
    def decision(self, assignment: Assignment) -> str:
        return decision_sentence(assignment.screening)

    @admin.display(description="Paid time")
    def paid_minutes(self, assignment: Assignment) -> str:
        return f"{assignment.paid_ms / 60_000:.1f} minutes"

    @admin.display(description="of which reading gold")
    def reveal_minutes(self, assignment: Assignment) -> str:
        return f"{assignment.reveal_ms / 60_000:.1f} minutes"

    @admin.display(description="Judgements")
    def judgement_link(self, assignment: Assignment) -> str:
        address = reverse("admin:annotation_judgement_changelist")
        count = assignment.judgements.count()
        return format_html('<a href="{}?assignment={}">{}</a>', address, assignment.pk, count)


def decision_sentence(screening: dict[str, Any]) -> str:
    """The stored basis of a screening, in words."""
    if not screening:
        return "not decided"
    score = f"{screening['score']:.1f} %"
    parts = ["passed with" if screening["passed"] else "screened out with", score]
    if screening["floor"] is not None:
        parts.append(f"(floor {screening['floor']:g} %)")
    if screening["lowest_allowed"] is not None:
        parts.append(
            f"(lowest allowed {screening['lowest_allowed']:.1f} %, group of "
            f"{screening['group_size']} with mean {screening['group_mean']:.1f} %)"
        )
    return " ".join(parts)
