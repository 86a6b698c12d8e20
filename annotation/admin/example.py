"""One example with its gold, and the page that corrects the gold."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.access.requests import ResearcherRequest
from annotation.admin.pages import Page, ViewOnlyAdmin, attempt, show_page, to_row
from annotation.benchmarks.correcting import correct_gold
from annotation.kinds.scoring import gold_in_force
from annotation.models import Example, Gold

SEPARATOR = "---"


class GoldForm(forms.Form):
    gold = forms.CharField(
        label=gettext_lazy("Gold"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy(
            "One piece per line, exactly as in the context. A line of --- separates alternatives. "
            "Leave empty if the right answer is no answer."
        ),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Kept with the new version, and exported with its figures."),
    )

    def alternatives(self, before: Gold) -> list[list[Any]]:
        """As written; a piece that was already in the gold keeps its place in the context."""
        known = {span["text"]: span for spans in before.alternatives for span in spans}
        blocks: list[list[Any]] = [[]]
        for line in self.cleaned_data["gold"].splitlines():
            if line.strip() == SEPARATOR:
                blocks.append([])
            elif line.strip():
                blocks[-1].append(known.get(line, line.strip()))
        return blocks


def written(gold: Gold) -> str:
    return f"\n{SEPARATOR}\n".join("\n".join(texts) for texts in gold.alternative_texts())


def correct(
    model_admin: admin.ModelAdmin[Example], request: ResearcherRequest, example: Example
) -> HttpResponse:
    gold = _latest_gold(example)
    form = GoldForm(request.POST or None, initial={"gold": written(gold)})
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
            done=_(
                "The gold has been corrected: people and runs are scored again by the new version."
            ),
        )
        if corrected:
            return to_row(example)
    return show_page(
        model_admin,
        request,
        "admin/annotation/correct_gold.html",
        original=example,
        title=_("Correct the gold"),
        form=form,
        gold=gold,
    )


@admin.register(Example)
class ExampleAdmin(ViewOnlyAdmin[Example]):
    pages = [Page("correct", correct, "annotation.add_goldversion")]
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
            "gold": _latest_gold(example),
            "golds": example.golds.select_related("version__author").order_by("version__number"),
            "items": example.items.select_related("item_set__task"),
        }
        return super().render_change_form(request, context, *args, **kwargs)


def _latest_gold(example: Example) -> Gold:
    latest = example.task.latest_gold_version()
    return gold_in_force([example.pk], example.task_id, latest.number)[example.pk]
