"""What people did: shown, marked, erased on request; never changed."""

from decimal import Decimal
from typing import Any, TypedDict

from django.contrib import admin, messages
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_stubs_ext import WithAnnotations

from annotation.access.links import resume_link
from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right, is_all_powerful, studies
from annotation.admin.forms import ReasonForm
from annotation.admin.pages import Page, ViewOnlyAdmin, attempt, show_page, to_row
from annotation.models import Annotator, Assignment, Judgement
from annotation.studies.erasing import erase_annotator
from annotation.studies.excluding import exclude, lift_exclusion
from annotation.work.joining import renew_resume_link

CONFIRM = "admin/annotation/confirm.html"


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
            done=_("The assignment of %(who)s is excluded.") % {"who": assignment.annotator},
        )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=_("Exclude the assignment of %(who)s") % {"who": assignment.annotator},
        sentences=[
            _("Its answers will count only in the tables “with excluded”."),
            _("Outcome, completion code and pay stay as they are."),
            _("Unless the study is closed, its place opens for somebody else."),
        ],
        form=form,
        button=_("Exclude"),
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
            done=_("The exclusion of %(who)s is lifted.") % {"who": assignment.annotator},
        )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=_("Lift the exclusion of %(who)s") % {"who": assignment.annotator},
        sentences=[_("Its answers count again. It needs a place: its old one, or an empty one.")],
        button=_("Lift the exclusion"),
    )


def renew_page(
    model_admin: admin.ModelAdmin[Assignment], request: ResearcherRequest, assignment: Assignment
) -> HttpResponse:
    """The new link is shown once, to be handed out; the log only says that there is one."""
    if request.method == "POST":
        done = _("The personal link of %(who)s was replaced.") % {"who": assignment.annotator}
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
                _("Hand out this new personal link: %(link)s")
                % {"link": resume_link(request, assignment)},
            )
        return to_row(assignment)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=assignment,
        title=_("A new personal link for %(who)s") % {"who": assignment.annotator},
        sentences=[
            _("Be sure who asks: whoever has the link works, and ends, as this person."),
            _("The present personal link ends at once; browsers that are in stay in."),
            _("It is logged, and exports mark this assignment."),
        ],
        button=_("Make a new personal link"),
    )


def erase_page(
    model_admin: admin.ModelAdmin[Annotator], request: ResearcherRequest, annotator: Annotator
) -> HttpResponse:
    if request.method == "POST":
        attempt(
            model_admin,
            request,
            annotator,
            lambda: erase_annotator(annotator, at=timezone.now(), by=request.user),
            done=_("The identity of %(who)s has been erased.") % {"who": annotator},
        )
        return to_row(annotator)
    return show_page(
        model_admin,
        request,
        CONFIRM,
        original=annotator,
        title=_("Erase the identity of %(who)s") % {"who": annotator},
        sentences=[
            _(
                "The external id, the submission ids, the invitations, the reported problems and "
                "the comments are deleted for good."
            ),
            _("Pay first: afterwards nobody can tell who is owed what."),
            _("Unfinished work ends as withdrawn. Answers stay under the pseudonym."),
            _("A keyed hash stays, so that the same person never works on a task twice."),
        ],
        button=_("Erase"),
    )


class Counts(TypedDict):
    assignment_count: int
    is_named: bool


@admin.register(Annotator)
class AnnotatorAdmin(ViewOnlyAdmin[Annotator]):
    path = "assignments__study"
    to_view = Right.PEOPLE
    pages = [Page("erase", erase_page, "annotation.change_annotator", Right.ERASE)]
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

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context["may_erase"] = self.allows(request, context["original"], Right.ERASE)
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description=gettext_lazy("External id"))
    def shown_id(self, annotator: "WithAnnotations[Annotator, Counts]") -> str:
        return annotator.external_id if annotator.is_named else "–"

    @admin.display(description=gettext_lazy("Assignments"), ordering="assignment_count")
    def assignment_count(self, annotator: "WithAnnotations[Annotator, Counts]") -> int:
        return annotator.assignment_count

    @admin.display(description=gettext_lazy("Assignments"))
    def assignment_link(self, annotator: "WithAnnotations[Annotator, Counts]") -> str:
        address = reverse("admin:annotation_assignment_changelist")
        count = annotator.assignment_count
        return format_html('<a href="{}?annotator={}">{}</a>', address, annotator.pk, count)


class ExcludedFilter(admin.SimpleListFilter):
    title = gettext_lazy("excluded")
    parameter_name = "excluded"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Yes")), ("no", _("No"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Assignment]
    ) -> QuerySet[Assignment]:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(exclusion__isnull=self.value() == "no")


class OutcomeFilter(admin.SimpleListFilter):
    title = gettext_lazy("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        choices = Assignment._meta.get_field("outcome").choices or []
        return [("none", _("still at work")), *((v, label) for v, label in choices if v)]

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
            gettext_lazy("Where it stands"),
            {"fields": ["state", "step", "outcome", "excluded_as", "resume_renewed_at"]},
        ),
        (
            gettext_lazy("Training"),
            {"fields": ["training", "decision"]},
        ),
        (
            gettext_lazy("Time and pay"),
            {
                "fields": [
                    ("joined_at", "consented_at"),
                    ("training_ended_at", "finished_at"),
                    ("paid_minutes", "reveal_minutes"),
                    "due",
                ]
            },
        ),
        (gettext_lazy("Answers"), {"fields": ["judgement_link"]}),
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

    @admin.display(description=gettext_lazy("Submission id"))
    def submission_shown(self, assignment: "WithAnnotations[Assignment, Shown]") -> str:
        return assignment.submission_id if assignment.shows_ids else "–"

    @admin.display(description=gettext_lazy("Amount"))
    def due(self, assignment: "WithAnnotations[Assignment, Shown]") -> Decimal | str:
        known = assignment.shows_pay and assignment.amount is not None
        return (assignment.amount if known else None) or "–"

    @admin.display(description=gettext_lazy("Batch"))
    def batch_label(self, assignment: Assignment) -> str:
        return str(assignment.batch)

    @admin.display(description=gettext_lazy("Stands"), ordering="outcome")
    def stands(self, assignment: Assignment) -> str:
        return assignment.get_outcome_display() or assignment.get_state_display()

    @admin.display(description=gettext_lazy("Training S1"), ordering="training_score")
    def training(self, assignment: Assignment) -> str:
        score = assignment.training_score
        return "–" if score is None else f"{score:.1f} %"

    @admin.display(description=gettext_lazy("Excluded"), boolean=True)
    def is_excluded(self, assignment: Assignment) -> bool:
        return hasattr(assignment, "exclusion")

    @admin.display(description=gettext_lazy("Exclusion"))
    def excluded_as(self, assignment: Assignment) -> str:
        exclusion = getattr(assignment, "exclusion", None)
        return exclusion.reason if exclusion else _("not excluded")

    @admin.display(description=gettext_lazy("Decision"))
    def decision(self, assignment: Assignment) -> str:
        return decision_sentence(assignment.screening)

    @admin.display(description=gettext_lazy("Paid time"))
    def paid_minutes(self, assignment: Assignment) -> str:
        return _("%(minutes).1f minutes") % {"minutes": assignment.paid_ms / 60_000}

    @admin.display(description=gettext_lazy("of which reading gold"))
    def reveal_minutes(self, assignment: Assignment) -> str:
        return _("%(minutes).1f minutes") % {"minutes": assignment.reveal_ms / 60_000}

    @admin.display(description=gettext_lazy("Judgements"))
    def judgement_link(self, assignment: Assignment) -> str:
        address = reverse("admin:annotation_judgement_changelist")
        count = assignment.judgements.count()
        return format_html('<a href="{}?assignment={}">{}</a>', address, assignment.pk, count)


def decision_sentence(screening: dict[str, Any]) -> str:
    """The stored basis of a screening, in words."""
    if not screening:
        return _("not decided")
    score = _("%(score).1f %%") % {"score": screening["score"]}
    parts = [_("passed with") if screening["passed"] else _("screened out with"), score]
    if screening["floor"] is not None:
        parts.append(_("(floor %(floor)g %%)") % {"floor": screening["floor"]})
    if screening["lowest_allowed"] is not None:
        parts.append(
            _("(lowest allowed %(lowest).1f %%, group of %(size)d with mean %(mean).1f %%)")
            % {
                "lowest": screening["lowest_allowed"],
                "size": screening["group_size"],
                "mean": screening["group_mean"],
            }
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

    @admin.display(description=gettext_lazy("Answer"))
    def answer_text(self, judgement: Judgement) -> str:
        return ", ".join(judgement.answer) or _("none")

    @admin.display(description=gettext_lazy("Seconds"))
    def seconds(self, judgement: Judgement) -> str:
        elapsed = judgement.submitted_at - judgement.shown_at
        return f"{elapsed.total_seconds():.1f}"
