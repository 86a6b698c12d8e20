"""A gold as people write it: one piece a line, a line of --- between alternatives."""

from itertools import chain
from typing import Any

from django import forms

from annotation.models import Example, Gold

SEPARATOR = "---"


class GoldForm(forms.Form):
    gold = forms.CharField(
        label="Gold",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="One piece per line, exactly as in the context. A line of --- separates "
        "alternatives. Leave empty if the right answer is no answer.",
    )
    reason = forms.CharField(
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the new version, and exported with its figures.",
    )

    def __init__(self, *args: Any, example: Example, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = example.item_sets.order_by("pk").values_list("choices", flat=True)
        if labels := ", ".join(dict.fromkeys(chain.from_iterable(offered))):
            self.fields[
                "gold"
            ].help_text = (
                f"One of the labels: {labels}. A line of --- separates several that are right."
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
