"""Judgements: shown, never changed."""

from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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

    @admin.display(description=gettext_lazy("Answer"))
    def answer_text(self, judgement: Judgement) -> str:
        return ", ".join(judgement.answer) or _("none")

    @admin.display(description=gettext_lazy("Seconds"))
    def seconds(self, judgement: Judgement) -> str:
        elapsed = judgement.submitted_at - judgement.shown_at
        return f"{elapsed.total_seconds():.1f}"
