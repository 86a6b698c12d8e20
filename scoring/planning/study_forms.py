"""The forms about studies: what a plan starts from, and the study that it makes."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Count

from annotation.access import rights
from annotation.models import Assignment, Channel, Study, Task
from scoring.planning.assumptions import MOST_ANNOTATORS, MOST_ITEMS
from scoring.planning.pilots import FEWEST, Pilot, read_pilot
from scoring.planning.sliders import MOST
from scoring.planning.starting import values_of_pilot, values_of_task


class TaskField(forms.ModelChoiceField[Task]):
    def label_from_instance(self, obj: Task) -> str:
        return f"{obj.benchmark}: {obj}"


class StartForm(forms.Form):
    """What a plan starts from: a task, and the cells that can serve as a pilot, which are those
    that two people finished."""

    task = TaskField(
        label="Task",
        queryset=Task.objects.none(),
        required=False,
        empty_label="none: as the fields below say",
    )
    pilot = forms.ChoiceField(label="Pilot study", required=False)

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
        field.choices = [("", "none: as the fields below say"), *pilots]
        self.has_any = has_tasks or bool(pilots)

    def _cells(self, cells: Iterable[tuple[str, str, int, int | None, int]]) -> list[Any]:
        enough = [cell for cell in cells if cell[-1] >= FEWEST]
        tasks = Task.objects.in_bulk({cell[2] for cell in enough})
        return [
            (
                f"{slug}/{tasks[task].slug}/{shots or 0}",
                f"{title}: {tasks[task]}, {shots or 0} shots ({count} people)",
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
        label="Task",
        queryset=Task.objects.none(),
        empty_label="choose a task",
    )
    title = forms.CharField(label="Title", max_length=200)
    slug = forms.SlugField(
        label="Short name", max_length=80, help_text="Used in commands and addresses."
    )
    channel = forms.ModelChoiceField(
        label="Channel",
        queryset=Channel.objects.filter(is_simulated=False),
        empty_label="choose a channel",
    )
    shots = forms.IntegerField(min_value=0, max_value=MOST["shots"])
    batches = forms.IntegerField(min_value=1, max_value=MOST["batches"])
    annotators = forms.IntegerField(min_value=1, max_value=MOST_ANNOTATORS)
    items = forms.IntegerField(min_value=1, max_value=MOST_ITEMS)
    rate = forms.DecimalField(min_value=Decimal("0.01"), max_digits=8, decimal_places=2)
    # With the fee.
    cost = forms.FloatField(min_value=0, required=False)
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
