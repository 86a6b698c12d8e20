"""Annotators: pseudonyms, and ids for those who may see them; erased on request. And their
assignments: how they stand, and why. Neither is ever changed."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator

from annotation.access.requests import ResearcherRequest, resume_link
from annotation.access.rights import Right, is_all_powerful, studies
from annotation.admin.pages import ViewOnlyAdmin, linked, section, shown
from annotation.models import Annotator, Assignment, Comment, Judgement, clock
from annotation.studies.forms import ReasonForm
from annotation.studies.people import erase_annotator, exclude, lift_exclusion, new_version
from annotation.work.joining import renew_resume_link


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
    id_fields = ("external_id",)
    fields = ("pseudonym", "channel", "shown_id", "created_at", "erased_at", "assignment_link")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Annotator]:
        """The rows, with what the user may know of each: the id, and the assignments in their own
        studies."""
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

    def allows(self, request: HttpRequest, row: Annotator, right: Right) -> bool:
        """Erasing takes the right in every study of the person: it touches them all."""
        if right == Right.ERASE and not is_all_powerful(request.user):
            erasable = studies(request.user, Right.ERASE).values("pk")
            return not row.assignments.exclude(study__in=erasable).exists()
        return super().allows(request, row, right)

    def erase_page(self, request: ResearcherRequest, annotator: Annotator) -> HttpResponse:
        return self.confirm(
            request,
            annotator,
            lambda: erase_annotator(annotator, at=clock.now(), by=request.user),
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


class ExcludedFilter(admin.SimpleListFilter):
    title = parameter_name = "excluded"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", "Yes"), ("no", "No")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(exclusion__isnull=self.value() == "no")


class OutcomeFilter(admin.SimpleListFilter):
    title = parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        choices = Assignment._meta.get_field("outcome").choices or []
        return [("none", "still at work"), *((v, label) for v, label in choices if v)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        return queryset.filter(outcome="" if self.value() == "none" else self.value())


@admin.register(Assignment)
class AssignmentAdmin(ViewOnlyAdmin[Assignment]):
    to_view = Right.PEOPLE
    pages = {
        "exclude": ("annotation.add_exclusion", Right.PEOPLE),
        "lift": ("annotation.delete_exclusion", Right.PEOPLE),
        "renew": ("annotation.change_annotator", Right.IDS),
    }
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
    id_fields = ("annotator__external_id", "submissions__submission_id")
    ordering = ("-id",)
    fieldsets = [
        section(None, "annotator", "study", "batch", "submission_shown", "order_seed"),
        section("Where it stands", "state", "step", "outcome", "excluded_as", "resume_renewed_at"),
        section("Training", "check_decision", "training", "decision"),
        section(
            "Time and pay",
            ("joined_at", "consented_at"),
            ("training_ended_at", "finished_at"),
            ("paid_minutes", "reveal_minutes"),
            "due",
        ),
        section("Answers", "judgement_link"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Assignment]:
        mine = {
            name: Exists(studies(request.user, right).filter(pk=OuterRef("study")).order_by())
            for name, right in (("shows_ids", Right.IDS), ("shows_pay", Right.PAY))
        }
        return super().get_queryset(request).annotate(**mine)

    def exclude_page(self, request: ResearcherRequest, assignment: Assignment) -> HttpResponse:
        form = ReasonForm(request.POST or None)
        return self.confirm(
            request,
            assignment,
            lambda: exclude(assignment, reason=form.cleaned_data["reason"], author=request.user),
            title=f"Exclude the assignment of {assignment.annotator}",
            sentences=[
                "Their answers will count only in the tables “with excluded”.",
                "Outcome, completion code and pay stay as they are.",
                new_version(assignment)
                or "Unless the study is closed, their place opens for somebody else.",
            ],
            button="Exclude",
            done=f"The assignment of {assignment.annotator} is excluded.",
            form=form,
        )

    def lift_page(self, request: ResearcherRequest, assignment: Assignment) -> HttpResponse:
        return self.confirm(
            request,
            assignment,
            lambda: lift_exclusion(assignment, by=request.user),
            title=f"Lift the exclusion of {assignment.annotator}",
            sentences=[
                "Their answers count again. That takes a place: their old one, or an empty one.",
                *filter(None, [new_version(assignment)]),
            ],
            button="Lift the exclusion",
            done=f"The exclusion of {assignment.annotator} is lifted.",
        )

    def renew_page(self, request: ResearcherRequest, assignment: Assignment) -> HttpResponse:
        """The new link is shown once, to be handed out; the log only says that there is one."""

        def renew() -> None:
            renew_resume_link(assignment, at=clock.now(), by=request.user)
            link = resume_link(request, assignment)
            messages.info(request, f"Hand out this new personal link: {link}")

        return self.confirm(
            request,
            assignment,
            renew,
            title=f"A new personal link for {assignment.annotator}",
            sentences=[
                "Be sure who asks: whoever has the link works, and ends, as this person.",
                "The present personal link ends at once; browsers that are in stay in.",
                "It is logged, and exports mark this assignment.",
            ],
            button="Make a new personal link",
            done=f"The personal link of {assignment.annotator} was replaced.",
        )

    submission_shown = shown(
        "Submission ids, the latest first",
        lambda row: (
            ", ".join([row.submission_id, *reversed(row.earlier_submission_ids)])
            if row.shows_ids
            else "–"
        ),
    )
    due = shown("Amount", lambda row: (row.amount if row.shows_pay else None) or "–")
    batch_label = shown("Batch", lambda row: str(row.batch))
    stands = shown(
        "Stands",
        lambda row: row.get_outcome_display() or row.get_state_display(),
        ordering="outcome",
    )
    training = shown(
        "Training S1",
        lambda row: "–" if row.training_score is None else f"{row.training_score:.1f} %",
        ordering="training_score",
    )
    is_excluded = shown("Excluded", lambda row: row.is_excluded, boolean=True)
    excluded_as = shown(
        "Exclusion", lambda row: row.exclusion.reason if row.is_excluded else "not excluded"
    )
    decision = shown("Decision", lambda row: decision_sentence(row.screening))
    check_decision = shown("Checks", lambda row: decision_sentence(row.check_screening))
    paid_minutes = shown("Paid time", lambda row: f"{row.paid_ms / 60_000:.1f} minutes")
    reveal_minutes = shown(
        "of which reading gold", lambda row: f"{row.reveal_ms / 60_000:.1f} minutes"
    )
    judgement_link = linked(
        "Judgements", "judgement", "assignment", lambda row: row.judgements.count()
    )


def decision_sentence(screening: dict[str, Any]) -> str:
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


@admin.register(Judgement)
class JudgementAdmin(ViewOnlyAdmin[Judgement]):
    path = "assignment__study"
    to_view = Right.PEOPLE
    list_display = ("assignment", "role", "step", "answer_text", "seconds", "submitted_at")
    list_filter = ("role",)
    list_select_related = ("assignment__annotator",)
    search_fields = ("assignment__annotator__pseudonym", "example__identity")
    ordering = ("assignment", "step")
    # Counting a large table twice for a heading is not worth the wait.
    show_full_result_count = False

    answer_text = shown("Answer", lambda row: ", ".join(row.answer) or "none")
    seconds = shown(
        "Seconds", lambda row: f"{(row.submitted_at - row.shown_at).total_seconds():.1f}"
    )


@admin.register(Comment)
class CommentAdmin(ViewOnlyAdmin[Comment]):
    path = "assignment__study"
    to_view = Right.GOLD
    list_display = ("beginning", "item", "annotator", "written_at")
    list_filter = (("assignment__study", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("assignment__annotator", "example__task__benchmark")
    search_fields = ("text", "assignment__annotator__pseudonym")
    fields = ("text", "assignment", "example", "written_at")

    beginning = shown("Comment", lambda row: Truncator(row.text).chars(120))
    item = shown("Item", lambda row: str(row.example) if row.example else "the whole")
    annotator = shown("Annotator", lambda row: row.assignment.annotator.pseudonym)
