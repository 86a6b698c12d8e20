"""A plan as a picture: how narrow an interval each amount of money buys."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, StrMethodFormatter

from scoring.core.people_designs import PeopleDesign
from scoring.figures.canvas import COLOURS, GRID, INK
from scoring.figures.sizes import PAGE, Size
from scoring.planning.plans import Plan

# Beyond this ratio of the most money to the least the small amounts would lie on one another.
WIDE = 20
# In inches; a narrow picture is taller for its width, as its legend takes room of its own.
WIDEST, TALL, TALL_IN_COLUMN = 7.0, 0.6, 1.0


def plan_figure(plan: Plan, *, size: Size = PAGE) -> Figure:
    width = min(WIDEST, size.width)
    tall = TALL if width == WIDEST else TALL_IN_COLUMN
    figure = Figure(figsize=(width, tall * width), layout="constrained")
    panel = figure.subplots()
    _draw_curve(panel, plan)
    if plan.three is not None:
        _draw_point(panel, plan.three, "s", COLOURS[1], "three annotators")
    if plan.recommended is not None:
        best = plan.recommended
        label = f"recommended: {best.annotators} × {best.items} items"
        _draw_point(panel, plan.recommended, "o", COLOURS[0], label)
    if plan.budget is not None and plan.curve and plan.budget <= plan.curve[-1][0]:
        panel.axvline(plan.budget, color=GRID, linewidth=1, linestyle="--", label="budget")
    if plan.width is not None:
        panel.axhline(100 * plan.width, color=GRID, linewidth=1, linestyle="--", label="wanted")
    panel.set_xlabel(f"money, {plan.assumptions.currency}", color=INK, fontsize=size.points + 2)
    panel.set_ylabel("width of the cell's interval, points", color=INK, fontsize=size.points + 2)
    panel.set_ylim(bottom=0)
    panel.set_facecolor("none")
    panel.grid(axis="y", color=GRID, linewidth=0.5, alpha=0.4)
    panel.tick_params(colors=INK, which="both", labelsize=size.points + 2)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        panel.spines[side].set_color(GRID)
    panel.legend(frameon=False, labelcolor=INK, fontsize=size.points + 1)
    return figure


def _draw_curve(panel: Axes, plan: Plan) -> None:
    if not plan.curve:
        return
    panel.plot(
        [money for money, _ in plan.curve],
        [100 * width for _, width in plan.curve],
        "-",
        color=INK,
        linewidth=1.2,
        label="narrowest that the money buys",
    )
    least, most = plan.curve[0][0], plan.curve[-1][0]
    if least > 0 and most > WIDE * least:
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        # Not as formulas, which figures do not set.
        panel.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


def _draw_point(panel: Axes, design: PeopleDesign, marker: str, colour: str, label: str) -> None:
    place = ([design.cost], [100 * design.width])
    panel.plot(*place, marker, color=colour, markersize=11, markerfacecolor="none", label=label)
