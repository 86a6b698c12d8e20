"""The forms of the planner: what a plan rests on, and the study that it makes."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from typing import Any, TypedDict

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from annotation.models import Assignment, Channel, Study, Task
from scoring.core.intervals import ESTIMANDS
from scoring.planning.designs import Assumptions, Contrast
from scoring.planning.pilots import FEWEST, Pilot, read_pilot

BUDGET, WIDTH = "budget", "width"
ESTIMAND_LABELS = {"new_items": _("new items like these"), "these_items": _("exactly these items")}


@dataclass(frozen=True)
class Slider:
    """A number with its slider; the number may go beyond the slider's ends."""

    label: StrOrPromise
    initial: float
    least: float
    most: float
    step: float = 1
    unit: StrOrPromise = ""
    help_text: StrOrPromise = ""


AIM: dict[str, Slider] = {
    "budget": Slider(_("Budget"), 60, 5, 2000, 5),
    "width": Slider(_("Width of the interval"), 12, 2, 50, 0.5, _("points")),
}
MONEY: dict[str, Slider] = {
    "rate": Slider(_("Hourly rate"), 12, 1, 60, 0.5),
    "fee": Slider(_("Platform fee on top"), 0, 0, 100, 1, "%"),
    "batches": Slider(
        _("Batches"), 1, 1, 180, 1, "", _("Splits or episodes, each with its own people.")
    ),
}
TIMES: dict[str, Slider] = {
    "onboarding_s": Slider(_("Before the first item"), 300, 0, 1800, 10, "s"),
    "shots": Slider(_("Training items"), 30, 0, 60),
    "train_s": Slider(_("A training item, with its answer"), 12, 1, 180, 1, "s"),
    "item_s": Slider(_("A test item"), 8, 1, 180, 1, "s"),
    "max_items": Slider(_("Items in the test set"), 200, 2, 1000),
}
SPREAD: dict[str, Slider] = {
    "annotator_sd": Slider(_("Between annotators"), 4, 0, 20, 0.1, _("points")),
    "item_sd": Slider(_("Between items"), 26.8, 0, 50, 0.1, _("points")),
    "residual_sd": Slider(_("The rest"), 29.4, 0, 50, 0.1, _("points")),
}
CONTRAST: dict[str, Slider] = {
    "difference": Slider(_("A difference to show"), 5, 0, 30, 0.5, _("points")),
    "runs": Slider(_("Runs of the system"), 1, 1, 10),
}
LEAST = {"budget": 0.01, "width": 0.1, "batches": 1, "runs": 1, "max_items": 2}
WHOLE = frozenset({"batches", "shots", "max_items", "runs"})


class Wanted(TypedDict, total=False):
    """One of the two."""

    budget: float
    width: float


def _number_field(name: str, slider: Slider) -> forms.Field:
    about: dict[str, Any] = {
        "label": slider.label,
        "initial": slider.initial,
        "min_value": LEAST.get(name, 0),
        "help_text": slider.help_text,
    }
    return forms.IntegerField(**about) if name in WHOLE else forms.FloatField(**about)


class PlanForm(forms.Form):
    aim = forms.ChoiceField(
        label=_("Plan for"),
        choices=[(BUDGET, _("a budget")), (WIDTH, _("a width of the interval"))],
        initial=BUDGET,
    )
    estimand = forms.ChoiceField(
        label=_("The interval is for"),
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
        usual = {name: field.initial for name, field in empty.fields.items()}
        return cls({**usual, **{name: query[name] for name in usual if query.get(name)}})

    def assumptions(self) -> Assumptions:
        found = self.cleaned_data
        return Assumptions(
            rate=found["rate"],
            fee=found["fee"] / 100,
            onboarding_s=found["onboarding_s"],
            shots=found["shots"],
            train_s=found["train_s"],
            item_s=found["item_s"],
            max_items=found["max_items"],
            annotator_var=(found["annotator_sd"] / 100) ** 2,
            item_var=(found["item_sd"] / 100) ** 2,
            residual_var=(found["residual_sd"] / 100) ** 2,
            estimand=found["estimand"],
            batches=found["batches"],
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
            _("Aim"): AIM,
            _("Pay and places"): MONEY,
            _("Time"): TIMES,
            _("How scores vary (SD)"): SPREAD,
            _("Compared with a system"): CONTRAST,
        }
        for title, sliders in titles.items():
            is_open = sliders is AIM or sliders is MONEY or bool(self.errors.keys() & sliders)
            yield str(title), [(self[name], slider) for name, slider in sliders.items()], is_open


class PilotForm(forms.Form):
    """The cells that can serve as a pilot: those that two people finished."""

    pilot = forms.ChoiceField(label=_("Take values from a pilot"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Assignment.objects.counted().of_people().order_by("-study__created_at")
        cells = rows.values_list(
            "study__slug",
            "study__title",
            "batch__task__slug",
            "batch__training_set__shots",
        ).annotate(n=Count("pk"))
        self._pilot.choices = [
            (
                f"{slug}/{task}/{shots or 0}",
                _("%(title)s: %(task)s, %(shots)s shots (%(count)s people)")
                % {"title": title, "task": task, "shots": shots or 0, "count": count},
            )
            for slug, title, task, shots, count in cells
            if count >= FEWEST
        ]

    def has_any(self) -> bool:
        return bool(self._pilot.choices)

    @property
    def _pilot(self) -> forms.ChoiceField:
        field = self.fields["pilot"]
        assert isinstance(field, forms.ChoiceField)
        return field

    def read(self) -> Pilot:
        slug, task, shots = self.cleaned_data["pilot"].split("/")
        return read_pilot(Study.objects.get(slug=slug), task=task, shots=int(shots))


def values_of(pilot: Pilot) -> dict[str, str]:
    """A pilot's values as the form's fields."""
    told = dict(pilot.tells)
    for part in ("annotator", "item", "residual"):
        told[f"{part}_sd"] = 100 * sqrt(told.pop(f"{part}_var"))
    return {name: f"{value:.4g}" for name, value in told.items()}


class TaskField(forms.ModelChoiceField[Task]):
    def label_from_instance(self, obj: Task) -> str:
        return f"{obj.benchmark}: {obj}"


class DraftForm(forms.Form):
    """The study that a plan makes; the result's hidden fields carry the design."""

    task = TaskField(
        label=_("Task"),
        queryset=Task.objects.select_related("benchmark").order_by("benchmark__name", "slug"),
    )
    title = forms.CharField(label=_("Title"), max_length=200)
    slug = forms.SlugField(
        label=_("Short name"), max_length=80, help_text=_("Used in commands and addresses.")
    )
    channel = forms.ModelChoiceField(
        label=_("Channel"), queryset=Channel.objects.filter(is_simulated=False)
    )
    shots = forms.IntegerField(min_value=0)
    batches = forms.IntegerField(min_value=1)
    annotators = forms.IntegerField(min_value=1)
    items = forms.IntegerField(min_value=1)
    rate = forms.DecimalField(min_value=Decimal("0.01"), max_digits=8, decimal_places=2)

    def asked(self) -> list[forms.BoundField]:
        """What the researcher says; the rest is the plan's."""
        return [self[name] for name in ("task", "title", "slug", "channel")]
