"""What all figures are drawn on: sizes, colours, panels and their labels.

Readable in print and by the colour-blind: colour never stands alone, but always with a marker or a
dash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours without black, which is people's; the yellow is too pale for a line.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"]
INK = "#1d2429"
GRID = "#80868b"


@dataclass(frozen=True)
class Size:
    """Of a figure: its width in inches, how many panels stand in a row, the points of its smallest
    text, and how high a panel is beside its width."""

    width: float
    across: int
    points: float
    height: float = 0.8

    @property
    def scale(self) -> float:
        return self.points / 8

    @property
    def marks(self) -> float:
        """How large they and their lines are: small panels hold as many of them."""
        return self.scale**2


# Over a page; in one of its two columns, or on a phone.
PAGE, COLUMN = Size(10.2, 3, 8), Size(3.35, 2, 6.5, height=1.1)
WIDEST_PANEL = 3.3
SIZES = {"page": PAGE, "column": COLUMN}
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
