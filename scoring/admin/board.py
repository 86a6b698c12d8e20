"""What researchers decide about the leaderboard, in the admin: runs by actions on their list, a
study's people by a decision of their own."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import ngettext
from django_stubs_ext import StrOrPromise

from annotation.access.rights import Right, benchmarks
from annotation.admin.pages import OwnedAdmin, shown
from annotation.models import Study
from annotation.models.errors import Refusal
from scoring.leaderboard.approving import OF_STANDING, decide_runs
from scoring.models import BoardDecision, Run, RunState, Standing


@admin.action(description="Approve for the leaderboard", permissions=["decide"])
def approve(model_admin: admin.ModelAdmin[Run], request: HttpRequest, runs: QuerySet[Run]) -> None:
    _decide(model_admin, request, runs, stands=True)


@admin.action(description="Keep off the leaderboard", permissions=["decide"])
def keep_off(model_admin: admin.ModelAdmin[Run], request: HttpRequest, runs: QuerySet[Run]) -> None:
    _decide(model_admin, request, runs, stands=False)


def _decide(
    model_admin: admin.ModelAdmin[Run],
    request: HttpRequest,
    runs: QuerySet[Run],
    *,
    stands: bool,
) -> None:
    # The admin offers its actions to nobody who is not signed in.
    author = cast(User, request.user)
    try:
        count = decide_runs(runs, stands=stands, author=author, at=timezone.now())
    except Refusal as refusal:
        model_admin.message_user(request, str(refusal), messages.ERROR)
        return
    if stands:
        done = ngettext("%(n)d run stands on the board.", "%(n)d runs stand on the board.", count)
    else:
        done = ngettext("%(n)d run is kept off.", "%(n)d runs are kept off.", count)
    model_admin.message_user(request, done % {"n": count}, messages.SUCCESS)


class OnBoardFilter(admin.SimpleListFilter):
    title = "leaderboard"
    parameter_name = "on_board"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, StrOrPromise]]:
        return Standing.choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        chosen = self.value() or ""
        if chosen not in OF_STANDING:
            return queryset
        return queryset.filter(OF_STANDING[chosen], state=RunState.COMPLETE)


class DecidesAboutBoards:
    """For the list of runs: who may decide, and what was decided."""

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("scoring.change_boarddecision")

    on_board = shown(
        "leaderboard",
        lambda run: str(run.standing.label) if run.standing else "–",
        ordering="board_decision__stands",
    )


@admin.register(BoardDecision)
class BoardDecisionAdmin(OwnedAdmin[BoardDecision]):
    """Decisions about runs are made on the list of runs; these are about studies. The board is the
    benchmark's, so its editors decide."""

    things = staticmethod(benchmarks)
    path = "study__benchmark"

    list_display = ["__str__", "stands", "author", "decided_at"]
    list_filter = ["stands"]
    list_select_related = ["run__task", "study", "author"]
    fields = ["study", "stands"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[BoardDecision]:
        return super().get_queryset(request).filter(study__isnull=False)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if field is not None and db_field.name == "study":
            mine = benchmarks(request.user, Right.SET_UP)
            field.queryset = Study.objects.filter(benchmark__in=mine.values("pk"))
            field.required = True
            field.help_text = (
                "Without a decision, the people of a study stand on the board once it is closed."
            )
        return field

    def save_model(self, request: HttpRequest, obj: BoardDecision, form: Any, change: bool) -> None:
        obj.author_id = request.user.pk
        obj.decided_at = timezone.now()
        super().save_model(request, obj, form, change)
