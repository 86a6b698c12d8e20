"""The frontier of a plan: the width of the interval for each number of annotators."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from scoring.figures.drawing import COLOURS, GRID, INK
from scoring.planning.designs import Plan, PlannedDesign

# Beyond it the numbers of items would overlap.
MOST_LABELS = 9


def plan_figure(plan: Plan) -> Figure:
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    panel = figure.subplots()
    _draw_frontier(panel, plan)
    if plan.three is not None:
        _draw_point(panel, plan.three, "s", COLOURS[1], "three annotators")
    if plan.recommended is not None:
        _draw_point(panel, plan.recommended, "o", COLOURS[0], "recommended")
    if plan.width is not None:
        panel.axhline(100 * plan.width, color=GRID, linewidth=1, linestyle="--", label="wanted")
    panel.set_xlabel("annotators, each batch", color=INK)
    panel.set_ylabel("width of the interval, percent points", color=INK)
    panel.set_ylim(bottom=0)
    panel.set_facecolor("none")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.grid(axis="y", color=GRID, linewidth=0.5, alpha=0.4)
    panel.tick_params(colors=INK)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        panel.spines[side].set_color(GRID)
    panel.legend(frameon=False, labelcolor=INK, fontsize=9)
    return figure


def _draw_frontier(panel: Axes, plan: Plan) -> None:
    designs = [planned.design for planned in plan.frontier]
    panel.plot(
        [design.annotators for design in designs],
        [100 * design.width for design in designs],
        ".-",
        color=INK,
        linewidth=1.2,
        markersize=4,
        label="what the budget buys" if plan.budget is not None else "what reaches the width",
    )
    step = -(-len(designs) // MOST_LABELS) or 1
    for design in designs[::step]:
        panel.annotate(
            f"{design.items} items",
            (design.annotators, 100 * design.width),
            xytext=(4, 7),
            textcoords="offset points",
            fontsize=8,
            color=INK,
        )


def _draw_point(panel: Axes, planned: PlannedDesign, marker: str, colour: str, label: str) -> None:
    design = planned.design
    place = ([design.annotators], [100 * design.width])
    panel.plot(*place, marker, color=colour, markersize=11, markerfacecolor="none", label=label)
