"""What annotators wrote to the people who run a study: read by whoever may see the gold, since it
may tell test items and their answers."""

from django.contrib import admin
from django.utils.text import Truncator

from annotation.access.rights import Right
from annotation.admin.pages import ViewOnlyAdmin
from annotation.models import Comment


@admin.register(Comment)
class CommentAdmin(ViewOnlyAdmin[Comment]):
    path = "assignment__study"
    to_view = Right.GOLD
    list_display = ("beginning", "item", "annotator", "written_at")
    list_filter = (("assignment__study", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("assignment__annotator", "example__task__benchmark")
    search_fields = ("text", "assignment__annotator__pseudonym")
    fields = ("text", "assignment", "example", "written_at")

    @admin.display(description="Comment")
    def beginning(self, comment: Comment) -> str:
        return Truncator(comment.text).chars(120)

    @admin.display(description="Item")
    def item(self, comment: Comment) -> str:
        return str(comment.example) if comment.example else "the whole"

    @admin.display(description="Annotator")
    def annotator(self, comment: Comment) -> str:
        return comment.assignment.annotator.pseudonym
