"""Runs and published figures in the admin: read, and deleted as a whole, never edited."""

import json
from typing import Any, TypeVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from scoring.admin.board import DecidesAboutBoards, OnBoardFilter, approve, keep_off
from scoring.models import Leaderboard, ReportedScore, Run, shots_label

_Row = TypeVar("_Row", bound=Model)


class NeverChanged(admin.ModelAdmin[_Row]):
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(DecidesAboutBoards, NeverChanged[Run]):
    list_display = [
        "system",
        "method",
        "task",
        "label",
        "state",
        "covered",
        "owner",
        "on_board",
        "created_at",
    ]
    list_filter = ["state", OnBoardFilter, "method", "task__benchmark", "task"]
    list_select_related = ["task__benchmark", "owner", "board_decision"]
    actions = [approve, keep_off]
    search_fields = ["system", "source_name"]
    exclude = ["report"]
    readonly_fields = ["covered", "imported"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.display(description=_("coverage"))
    def covered(self, run: Run) -> str:
        return "–" if run.coverage is None else f"{100 * run.coverage:.1f} %"

    @admin.display(description=_("import report"))
    def imported(self, run: Run) -> str:
        return format_html("<pre>{}</pre>", json.dumps(run.report, indent=2, ensure_ascii=False))


@admin.register(ReportedScore)
class ReportedScoreAdmin(NeverChanged[ReportedScore]):
    list_display = ["system", "method", "task", "shots_shown", "mean", "sd", "n", "references"]
    list_filter = ["benchmark", "kind", "references", "method", "task", "source"]
    search_fields = ["system", "source"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReportedScore]:
        return super().get_queryset(request).select_related("benchmark")

    @admin.display(description=_("shots"), ordering="shots")
    def shots_shown(self, score: ReportedScore) -> int | str:
        return shots_label(score.shots)


@admin.register(Leaderboard)
class LeaderboardAdmin(admin.ModelAdmin[Leaderboard]):
    list_display = ["benchmark", "is_public"]
