"""One example with its gold, and the page that corrects the gold."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from annotation.access.requests import ResearcherRequest
from annotation.access.rights import Right
from annotation.admin.pages import (
    Page,
    ViewOnlyAdmin,
    attempt,
    readable_benchmarks,
    show_page,
    to_row,
)
from annotation.benchmarks.correcting import correct_gold
from annotation.benchmarks.forms import GoldForm, written
from annotation.kinds.scoring import gold_in_force
from annotation.models import Example, Gold


def correct(
    model_admin: admin.ModelAdmin[Example], request: ResearcherRequest, example: Example
) -> HttpResponse:
    gold = _latest_gold(example)
    form = GoldForm(request.POST or None, example=example, initial={"gold": written(gold)})
    if request.method == "POST" and form.is_valid():
        corrected = attempt(
            model_admin,
            request,
            example,
            lambda: correct_gold(
                example.task,
                {example.pk: form.alternatives(gold)},
                author=request.user,
                reason=form.cleaned_data["reason"],
            ),
            done="The gold has been corrected: people and runs are scored again by the new "
            "version.",
        )
        if corrected:
            return to_row(example)
    return show_page(
        model_admin,
        request,
        "admin/annotation/correct_gold.html",
        original=example,
        title="Correct the gold",
        form=form,
        gold=gold,
    )


@admin.register(Example)
class ExampleAdmin(ViewOnlyAdmin[Example]):
    things = staticmethod(readable_benchmarks)
    path = "task__benchmark"
    to_view = Right.GOLD
    pages = [Page("correct", correct, "annotation.add_goldversion", Right.SET_UP)]
    change_form_template = "admin/annotation/example_form.html"
    list_display = ("identity", "task", "question")
    list_select_related = ("task__benchmark",)
    search_fields = ("identity", "items__source_id")
    fields = ("task", "identity", "question")

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Reached from its item sets."""
        return False

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        example = context["original"]
        context |= {
            "may_correct": self.allows(request, example, Right.SET_UP),
            "gold": _latest_gold(example),
            "golds": example.golds.select_related("version__author").order_by("version__number"),
            "items": example.items.select_related("item_set__task"),
        }
        return super().render_change_form(request, context, *args, **kwargs)


def _latest_gold(example: Example) -> Gold:
    latest = example.task.latest_gold_version()
    return gold_in_force([example.pk], example.task_id, latest.number)[example.pk]
