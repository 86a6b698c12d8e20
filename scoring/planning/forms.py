"""The forms of the planner: what a plan rests on, and the study that it makes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import sqrt
from typing import Any, TypedDict

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from annotation.access import rights
from annotation.models import Assignment, Channel, Study, Task
from scoring.core.intervals import ESTIMANDS
from scoring.planning.designs import MOST_ANNOTATORS, MOST_ITEMS, Assumptions, Contrast
from scoring.planning.pilots import FEWEST, Pilot, read_pilot
from scoring.planning.starting import values_of_pilot, values_of_task

BUDGET, WIDTH = "budget", "width"
ESTIMAND_LABELS = {"new_items": _("new items like these"), "these_items": _("exactly these items")}


@dataclass(frozen=True)
class Typical:
    """A value to choose where nothing is known."""

    value: float
    name: StrOrPromise


@dataclass(frozen=True)
class Slider:
    """A number with its slider; the number may go beyond the slider's ends."""

    label: StrOrPromise
    initial: float | None
    least: float
    most: float
    step: float = 1
    unit: StrOrPromise = ""
    help_text: StrOrPromise = ""
    typical: tuple[Typical, ...] = ()


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
    "mean": Slider(
        _("What people score on average"),
        80,
        0,
        100,
        0.5,
        "%",
        typical=(
            Typical(70, _("a hard task")),
            Typical(80, _("a usual one")),
            Typical(95, _("an easy one")),
        ),
    ),
    "annotator_sd": Slider(
        _("How much people differ"),
        4,
        0,
        20,
        0.1,
        _("points"),
        _("The SD of their scores on very long tests."),
        typical=(
            Typical(2, _("trained, much alike")),
            Typical(4, _("a usual crowd")),
            Typical(8, _("a mixed crowd")),
        ),
    ),
    "item_share": Slider(
        _("How much of the rest lies in the items"),
        45,
        0,
        100,
        1,
        "%",
        _("At 100 % the same items are wrong for everybody, at 0 % every error is a slip."),
        typical=(
            Typical(25, _("mostly slips")),
            Typical(45, _("usual")),
            Typical(70, _("some items are hard for all")),
        ),
    ),
    "answer_sd": Slider(
        _("SD of a single answer"),
        None,
        0,
        50,
        0.1,
        _("points"),
        _("Leave it empty where answers are right or wrong; partly right ones vary less."),
    ),
}
CONTRAST: dict[str, Slider] = {
    "difference": Slider(_("A difference to show"), 5, 0, 30, 0.5, _("points")),
    "runs": Slider(_("Runs of the system"), 1, 1, 10),
}
LEAST = {
    "rate": 0.01,
    "item_s": 0.1,
    "budget": 0.01,
    "width": 0.1,
    "batches": 1,
    "runs": 1,
    "max_items": 2,
}
# Beyond these nobody plans, and the formulas would take long or overflow.
MOST = {
    "budget": 10_000_000,
    "width": 100,
    "rate": 10_000,
    "fee": 1_000,
    "batches": 10_000,
    **dict.fromkeys(["onboarding_s", "train_s", "item_s"], 24 * 60 * 60),
    "shots": 10_000,
    "max_items": MOST_ITEMS,
    **dict.fromkeys(["mean", "annotator_sd", "item_share", "answer_sd", "difference"], 100),
    "runs": 1_000,
}
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
        "max_value": MOST[name],
        "help_text": slider.help_text,
        "required": slider.initial is not None,
    }
    return forms.IntegerField(**about) if name in WHOLE else forms.FloatField(**about)


class PlanForm(forms.Form):
    aim = forms.ChoiceField(
        label=_("Plan for"),
        choices=[(BUDGET, _("a budget")), (WIDTH, _("a width of the interval"))],
        initial=BUDGET,
    )
    currency = forms.RegexField(
        label=_("Currency"),
        regex=r"^[A-Za-z]{3}$",
        initial="USD",
        error_messages={"invalid": _("Write the currency as three letters, such as USD or EUR.")},
    )
    # Where the plan started from; only handed on to the study that it makes.
    task = forms.CharField(required=False, widget=forms.HiddenInput)
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
                    _(
                        "People who score %(mean)s %% on average differ by at most %(most)s "
                        "points: give less, or another average."
                    )
                    % {"mean": f"{given['mean']:g}", "most": f"{100 * sqrt(total):.1f}"},
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
            _("Aim"): AIM,
            _("Pay and places"): MONEY,
            _("Time"): TIMES,
            _("How people score"): SPREAD,
            _("Compared with a system"): CONTRAST,
        }
        for title, sliders in titles.items():
            is_open = sliders in (AIM, MONEY, SPREAD) or bool(self.errors.keys() & sliders)
            yield str(title), [(self[name], slider) for name, slider in sliders.items()], is_open


class TaskField(forms.ModelChoiceField[Task]):
    def label_from_instance(self, obj: Task) -> str:
        return f"{obj.benchmark}: {obj}"


class StartForm(forms.Form):
    """What a plan starts from: a task, and the cells that can serve as a pilot, which are those
    that two people finished."""

    task = TaskField(label=_("Task"), queryset=Task.objects.none(), required=False)
    pilot = forms.ChoiceField(label=_("Pilot study"), required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        # The study's form has a task too.
        super().__init__(*args, **{"auto_id": "start_%s", **kwargs})
        has_tasks = _offer_tasks(self.fields["task"], user)
        own = Assignment.objects.filter(study__in=rights.studies(user, rights.Right.TABLES))
        rows = own.counted().of_people().order_by("-study__created_at")
        cells = rows.values_list(
            "study__slug",
            "study__title",
            "batch__task",
            "batch__training_set__shots",
        ).annotate(n=Count("pk"))
        pilots = self._cells(cells)
        field = self.fields["pilot"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", _("none")), *pilots]
        self.has_any = has_tasks or bool(pilots)

    def _cells(self, cells: Iterable[tuple[str, str, int, int | None, int]]) -> list[Any]:
        enough = [cell for cell in cells if cell[-1] >= FEWEST]
        tasks = Task.objects.in_bulk({cell[2] for cell in enough})
        return [
            (
                f"{slug}/{tasks[task].slug}/{shots or 0}",
                _("%(title)s: %(task)s, %(shots)s shots (%(count)s people)")
                % {"title": title, "task": tasks[task], "shots": shots or 0, "count": count},
            )
            for slug, title, task, shots, count in enough
        ]

    def values(self) -> tuple[dict[str, str], Pilot | None]:
        """The planner's fields as the task and the pilot say; the pilot knows the times and how
        scores vary, the task how many items there are. Raises Refusal."""
        task: Task | None = self.cleaned_data["task"]
        of_task = values_of_task(task) if task else {}
        if not self.cleaned_data["pilot"]:
            return of_task, None
        pilot = self._read()
        of_pilot = {"task": str(pilot.cell.task.pk), **values_of_pilot(pilot)}
        of_task.pop("shots", None)
        return {**of_pilot, **of_task}, pilot

    def _read(self) -> Pilot:
        slug, task, shots = self.cleaned_data["pilot"].split("/")
        return read_pilot(Study.objects.get(slug=slug), task=task, shots=int(shots))


def _offer_tasks(field: forms.Field, user: User) -> bool:
    """Whether there are any. A study shows the gold of what it trains with: it takes somebody who
    may see it."""
    assert isinstance(field, TaskField)
    mine = Task.objects.filter(benchmark__in=rights.benchmarks_with_gold(user).values("pk"))
    field.queryset = mine.select_related("benchmark").order_by("benchmark__name", "slug")
    return field.queryset.exists()


class DraftForm(forms.Form):
    """The study that a plan makes; the result's hidden fields carry the design."""

    task = TaskField(
        label=_("Task"),
        queryset=Task.objects.none(),
    )
    title = forms.CharField(label=_("Title"), max_length=200)
    slug = forms.SlugField(
        label=_("Short name"), max_length=80, help_text=_("Used in commands and addresses.")
    )
    channel = forms.ModelChoiceField(
        label=_("Channel"), queryset=Channel.objects.filter(is_simulated=False)
    )
    shots = forms.IntegerField(min_value=0, max_value=MOST["shots"])
    batches = forms.IntegerField(min_value=1, max_value=MOST["batches"])
    annotators = forms.IntegerField(min_value=1, max_value=MOST_ANNOTATORS)
    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS)
    rate = forms.DecimalField(min_value=Decimal("0.01"), max_digits=8, decimal_places=2)
    currency = forms.RegexField(regex=r"^[A-Z]{3}$")
    fee = forms.DecimalField(
        min_value=0, max_value=999, max_digits=5, decimal_places=2, required=False
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _offer_tasks(self.fields["task"], user)

    def asked(self) -> list[forms.BoundField]:
        """What the researcher says; the rest is the plan's."""
        return [self[name] for name in ("task", "title", "slug", "channel")]
