"""Item by item: a list to sort and filter, and everybody's answers to one item."""

from collections.abc import Callable, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from annotation.models import Example, Task
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.items import ItemFigures, given_answers, item_figures, task_cells
from scoring.comparison.requests import asked, for_researchers
from scoring.comparison.scope import Scope

PAGE = 50
HIGHEST = float("inf")
# By name: the heading, and what to sort by; unknowns come last.
ORDERS: dict[str, tuple[Any, Callable[[ItemFigures], float]]] = {
    "gap": (_("people and systems differ most"), lambda item: -abs(item.gap or 0)),
    "people": (_("hardest for people"), lambda item: _first_low(item.people)),
    "systems": (_("hardest for systems"), lambda item: _first_low(item.systems)),
    "people_ahead": (_("people most ahead"), lambda item: -_or_lowest(item.gap)),
    "systems_ahead": (_("systems most ahead"), lambda item: _first_low(item.gap)),
    "position": (_("order of the test set"), lambda item: item.position),
}
GOLDS = {"empty": _("nothing to find"), "filled": _("something to find")}


@for_researchers
@require_safe
def items(request: HttpRequest, scope: str, name: str) -> HttpResponse:
    found, choices = asked(request, scope, name)
    tasks = found.tasks
    task = chosen_task(tasks, request.GET)
    order = request.GET.get("order", "gap")
    if order not in ORDERS:
        raise Http404
    figures = _figures(found, task, choices) if task else []
    shown = sorted(_filtered(figures, request.GET), key=ORDERS[order][1])
    context = {
        "scope": scope,
        "name": name,
        "title": found.title,
        "tab": "items",
        "choices": choices,
        "tasks": tasks,
        "task": task,
        "orders": {key: heading for key, (heading, _) in ORDERS.items()},
        "order": order,
        "golds": GOLDS,
        "all_count": len(figures),
        "page": Paginator(shown, PAGE).get_page(request.GET.get("page")),
        **_scored_under(task, choices),
    }
    return render(request, "scoring/comparison/items.html", context)


@for_researchers
@require_safe
def item(request: HttpRequest, scope: str, name: str, example_id: int) -> HttpResponse:
    """What every annotator and every run answered to one item."""
    found, choices = asked(request, scope, name)
    tasks = found.tasks
    example = get_object_or_404(
        Example.objects.select_related("task"), pk=example_id, task__in=tasks
    )
    people, systems = _cells(found, example.task, choices)
    figures = {each.example_id: each for each in item_figures(example.task, people, systems)}
    if example.pk not in figures:
        raise Http404
    context = {
        "scope": scope,
        "name": name,
        "title": found.title,
        "tab": "items",
        "choices": choices,
        "example": example,
        "figures": figures[example.pk],
        "answers": given_answers(example, people, systems),
        **_scored_under(example.task, choices),
    }
    return render(request, "scoring/comparison/item.html", context)


def _figures(found: Scope, task: Task, choices: Choices) -> list[ItemFigures]:
    return item_figures(task, *_cells(found, task, choices))


def _cells(found: Scope, task: Task, choices: Choices) -> tuple[list[Cell], list[Cell]]:
    return task_cells(task, found.studies, CellReader(choices))


def _scored_under(task: Task | None, choices: Choices) -> dict[str, Any]:
    """What every score of these pages must name."""
    if task is None:
        return {}
    reader = CellReader(choices)
    return {"references": reader.policy(task), "gold_version": reader.gold_version(task)}


def chosen_task(tasks: Sequence[Task], given: QueryDict) -> Task | None:
    """The task in the address, else the first one; 404 for one that is not compared."""
    if "task" not in given:
        return tasks[0] if tasks else None
    for task in tasks:
        if task.slug == given["task"]:
            return task
    raise Http404


def _filtered(figures: Sequence[ItemFigures], given: QueryDict) -> list[ItemFigures]:
    text, gold = given.get("q", "").strip().lower(), given.get("gold", "")
    return [
        item
        for item in figures
        if text in item.text and (gold not in GOLDS or item.has_empty_gold == (gold == "empty"))
    ]


def _first_low(score: float | None) -> float:
    return HIGHEST if score is None else score


def _or_lowest(score: float | None) -> float:
    return -HIGHEST if score is None else score
