"""Judgements: shown, never changed."""

from django.contrib import admin

from annotation.access.rights import Right
from annotation.admin.pages import ViewOnlyAdmin
from annotation.models import Judgement


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

    @admin.display(description="Answer")
    def answer_text(self, judgement: Judgement) -> str:
        return ", ".join(judgement.answer) or "none"

    @admin.display(description="Seconds")
    def seconds(self, judgement: Judgement) -> str:
        elapsed = judgement.submitted_at - judgement.shown_at
        return f"{elapsed.total_seconds():.1f}"
