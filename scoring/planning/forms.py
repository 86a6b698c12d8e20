"""The planner's form: what a plan rests on."""

from collections.abc import Iterator
from math import sqrt
from typing import Any, TypedDict

from django import forms

from scoring.core.intervals import ESTIMANDS
from scoring.planning.assumptions import Assumptions, Contrast
from scoring.planning.sliders import AIM, CONTRAST, LEAST, MONEY, MOST, SPREAD, TIMES, WHOLE, Slider

BUDGET, WIDTH = "budget", "width"
ESTIMAND_LABELS = {"new_items": "new items like these", "these_items": "exactly these items"}


class Wanted(TypedDict, total=False):
    """One of the two."""

    budget: float
    width: float


def _number_field(name: str, slider: Slider) -> forms.Field:
    about: dict[str, Any] = {
        "label": slider.label,
        "initial": slider.initial,
        "min_value": LEAST.get(name, 0),
        "max_value": MOST[name],
        "help_text": slider.help_text,
        "required": slider.initial is not None,
    }
    return forms.IntegerField(**about) if name in WHOLE else forms.FloatField(**about)


class PlanForm(forms.Form):
    aim = forms.ChoiceField(
        label="Plan for",
        choices=[(BUDGET, "a budget"), (WIDTH, "a width of the interval")],
        initial=BUDGET,
    )
    currency = forms.RegexField(
        label="Currency",
        regex=r"^[A-Za-z]{3}$",
        initial="USD",
        error_messages={"invalid": "Write the currency as three letters, such as USD or EUR."},
    )
    # Where the plan started from; only handed on to the study that it makes.
    task = forms.CharField(required=False, widget=forms.HiddenInput)
    estimand = forms.ChoiceField(
        label="The interval is for",
        choices=[(name, ESTIMAND_LABELS[name]) for name in ESTIMANDS],
        initial="new_items",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, slider in (AIM | MONEY | TIMES | SPREAD | CONTRAST).items():
            self.fields[name] = _number_field(name, slider)

    @classmethod
    def from_query(cls, query: Any) -> "PlanForm":
        """Bound, with defaults for whatever the address does not say."""
        empty = cls()
        usual = {
            name: "" if field.initial is None else field.initial
            for name, field in empty.fields.items()
        }
        return cls({**usual, **{name: query[name] for name in usual if query.get(name)}})

    def clean_currency(self) -> str:
        return str(self.cleaned_data["currency"]).upper()

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if {"mean", "annotator_sd"} <= given.keys() and "answer_sd" not in self.errors:
            total, people = self._answer_var(), (given["annotator_sd"] / 100) ** 2
            if people > total:
                self.add_error(
                    "annotator_sd",
                    f"People who score {given['mean']:g} % on average differ by at most "
                    f"{100 * sqrt(total):.1f} points: give less, or another average.",
                )
        return given

    def _answer_var(self) -> float:
        """Of one answer of one person: right or wrong, if nothing else is said."""
        sd = self.cleaned_data.get("answer_sd")
        mean = float(self.cleaned_data["mean"]) / 100
        return mean * (1 - mean) if sd is None else (float(sd) / 100) ** 2

    def assumptions(self) -> Assumptions:
        given = self.cleaned_data
        people = (given["annotator_sd"] / 100) ** 2
        rest = self._answer_var() - people
        share = given["item_share"] / 100
        return Assumptions(
            rate=given["rate"],
            fee=given["fee"] / 100,
            onboarding_s=given["onboarding_s"],
            shots=given["shots"],
            train_s=given["train_s"],
            item_s=given["item_s"],
            max_items=given["max_items"],
            annotator_var=people,
            item_var=share * rest,
            residual_var=(1 - share) * rest,
            estimand=given["estimand"],
            batches=given["batches"],
            mean=given["mean"] / 100,
            currency=given["currency"],
        )

    def wanted(self) -> Wanted:
        """The budget, or the width as the plan takes it."""
        if self.cleaned_data["aim"] == WIDTH:
            return {"width": self.cleaned_data["width"] / 100}
        return {"budget": self.cleaned_data["budget"]}

    def contrast(self) -> Contrast | None:
        points = self.cleaned_data["difference"]
        return Contrast(points / 100, runs=self.cleaned_data["runs"]) if points else None

    def groups(self) -> Iterator[tuple[str, list[tuple[forms.BoundField, Slider]], bool]]:
        """The fields with sliders as the page shows them, and whether their group is open."""
        titles = {
            "Aim": AIM,
            "Pay and places": MONEY,
            "Time": TIMES,
            "How people score": SPREAD,
            "Compared with a system": CONTRAST,
        }
        for title, sliders in titles.items():
            is_open = sliders in (AIM, MONEY, SPREAD) or bool(self.errors.keys() & sliders)
            yield str(title), [(self[name], slider) for name, slider in sliders.items()], is_open
