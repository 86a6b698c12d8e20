"""What all figures are drawn on: colours, panels and their labels.

Readable in print and by the colour-blind: colour never stands alone, but always with a marker or a
dash.
"""

from collections.abc import Iterable, Sequence
from math import nan
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scoring.figures.sizes import Size

# Okabe and Ito's colours without black, which is people's; the yellow is too pale for a line.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"]
INK = "#1d2429"
GRID = "#80868b"


WIDEST_PANEL = 3.3
MOST_INCHES = 200
# Inches that a character takes at eight points.
SIGN = 0.065
MOST_SIGNS = 44
# Of a panel's title and a forest's names.
SHORT = 34


def new_panels(count: int, label: str, size: Size) -> tuple[Figure, Sequence[Axes]]:
    """Panels in rows, on one scale; a few are no wider than one of many."""
    across = min(size.across, max(1, count))
    down = -(-count // across) or 1
    wide = min(WIDEST_PANEL, (size.width - 0.3) / across)
    figure = Figure(
        figsize=(wide * across + 0.3, size.height * wide * down + 0.6), layout="constrained"
    )
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).ravel())
    for panel in panels[count:]:
        panel.set_axis_off()
    for panel in panels[::across]:
        label_up(panel, label, size)
    return figure, panels


def set_title(panel: Axes, text: str, size: Size) -> None:
    panel.set_title(_in_short(text), fontsize=size.points + 2, color=INK)


def label_across(panel: Axes, text: str, size: Size) -> None:
    panel.set_xlabel(text, fontsize=size.points + 1, color=INK)


def label_up(panel: Axes, text: str, size: Size) -> None:
    panel.set_ylabel(text, fontsize=size.points + 1, color=INK)


def dress(panel: Axes, grid: Literal["both", "x", "y"], size: Size) -> None:
    panel.tick_params(colors=INK, labelsize=size.points)
    panel.grid(axis=grid, color=GRID, alpha=0.25, linewidth=0.6)
    panel.set_facecolor("none")
    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GRID)


def _in_short(name: str) -> str:
    return name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"


def with_gaps(values: Iterable[float | None]) -> list[float]:
    return [nan if value is None else value for value in values]
