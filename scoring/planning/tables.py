"""A plan as a table and as a document: the two designs that stand out, and the frontier."""

from dataclasses import asdict, replace
from typing import Any

from scoring.core.people_designs import WIDTHS, PeopleDesign
from scoring.planning.plans import Plan
from scoring.tables.table import Line, Table, columns_in

MOST_ROWS = 24
COLUMNS = tuple(columns_in(__file__, "designs").values())
# Of a difference that the study should show.
OF_CONTRAST = {"power", "probable", "sure"}


def plan_table(plan: Plan) -> Table:
    return _table(plan, "designs", "Designs", (*_singled_out(plan), *_frontier(plan)))


def best_table(plan: Plan) -> Table:
    """What most look for, the rest behind a click: simulated chances before the formula's."""
    table = _table(plan, "designs", "Designs", _singled_out(plan))
    later = {"coverage", "width_80", *({"power"} if "probable" in table.keys else ())}
    seen = tuple(column for column in table.columns if column.key not in later)
    further = tuple(column for column in table.columns if column.key in later)
    return replace(table, columns=seen, further=further)


def frontier_table(plan: Plan) -> Table:
    """The rest, without columns that would be empty."""
    title = "The narrowest design for each sum"
    return _table(plan, "frontier", title, _frontier(plan)).without(
        {"design", "coverage", "width_80"}
    )


def _table(plan: Plan, name: str, title: str, lines: tuple[Line, ...]) -> Table:
    """The table without the columns that say nothing here."""
    left_out = set() if plan.contrast else set(OF_CONTRAST)
    left_out |= set() if plan.assumptions.viewers else {"seen"}
    simulated = ("coverage", "width_80", "probable", "sure")
    left_out |= {key for key in simulated if all(line.cells[key] is None for line in lines)}
    return Table(name, title, "", COLUMNS, lines).without(left_out)


def _singled_out(plan: Plan) -> tuple[Line, ...]:
    named = {"recommended": plan.recommended, "three annotators": plan.three}
    if plan.is_for_difference and plan.recommended is None:
        named["for this difference"] = plan.strong_enough
        if plan.with_all_items:
            points, design = plan.with_all_items
            named[f"on these items, {points} points"] = design
    return tuple(_line(name, design) for name, design in named.items() if design)


def _frontier(plan: Plan) -> tuple[Line, ...]:
    """Thinned out if it is long."""
    step = -(-len(plan.frontier) // MOST_ROWS) or 1
    return tuple(_line("", design) for design in plan.frontier[::step])


def _line(name: str, design: PeopleDesign) -> Line:
    values = _plain(design)
    chances = {name: _percent(values[name]) for name in OF_CONTRAST}
    return Line({"design": name, **values, **chances}, kind="people" if name else "")


def plan_as_plain(plan: Plan) -> dict[str, Any]:
    """Scores in percent, as in every export; components as they are."""
    return {
        "budget": plan.budget,
        "width": _percent(plan.width),
        "min_coverage": plan.min_coverage,
        "assumptions": asdict(plan.assumptions),
        "contrast": asdict(plan.contrast) if plan.contrast else None,
        "recommended": _plain(plan.recommended) if plan.recommended else None,
        "three_annotators": _plain(plan.three) if plan.three else None,
        "strong_enough": _plain(plan.strong_enough) if plan.strong_enough else None,
        "curve": [{"cost": cost, "width": _percent(width)} for cost, width in plan.curve],
        "frontier": list(map(_plain, plan.frontier)),
        "notes": list(plan.notes),
    }


def _plain(design: PeopleDesign) -> dict[str, Any]:
    known, chances = design.coverage == design.coverage, design.chances
    low, most, high = map(_percent, design.widths or (None,) * len(WIDTHS))
    return {
        "annotators": design.annotators,
        "items": design.items,
        "seen": design.seen,
        "cost": design.cost,
        "width": _percent(design.width),
        "width_05": low,
        "width_80": most,
        "width_95": high,
        "coverage": design.coverage if known else None,
        "coverage_se": design.coverage_se if known else None,
        "power": design.power,
        "probable": chances.probable if chances else None,
        "sure": chances.sure if chances else None,
        "too_few": design.has_too_few,
    }


def _percent(score: float | None) -> float | None:
    return None if score is None else 100 * score
