"""What all figures are drawn on: colours, panels, their labels and their legend; and how they
become files, or SVG in a page. Bytes are deterministic: the same rows give the same file. Colour
never stands without a marker or a dash, for print and for the colour-blind."""

import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from math import nan
from textwrap import fill
from typing import Literal
from xml.sax.saxutils import quoteattr

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from scoring.figures.sizes import Size
from scoring.tables.table import UNSEEN

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
# An entry in inches, at eight points: its line, its handle and gaps.
LINE, HANDLE = 0.17, 0.65


def new_panels(count: int, size: Size) -> tuple[Figure, Sequence[Axes]]:
    """Panels in rows, on one scale of scores; a few are no wider than one of many."""
    across = min(size.across, max(1, count))
    down = -(-count // across) or 1
    wide = min(WIDEST_PANEL, (size.width - 0.3) / across)
    inches = (wide * across + 0.3, size.height * wide * down + 0.6)
    figure = Figure(figsize=inches, layout="constrained")
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).ravel())
    for panel in panels[count:]:
        panel.set_axis_off()
    for panel in panels[::across]:
        label_up(panel, "S1 (percent)", size)
    return figure, panels


def set_title(panel: Axes, text: str, size: Size) -> None:
    short = text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
    panel.set_title(short, fontsize=size.points + 2, color=INK)


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


def with_gaps(values: Iterable[float | None]) -> list[float]:
    return [nan if value is None else value for value in values]


def add_legend(figure: Figure, panels: Iterable[Axes], size: Size, note: str = "") -> None:
    """Beneath the panels, in as many columns as its names allow; the figure grows by it."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return
    width, height = figure.get_size_inches()
    a_handle, a_sign = HANDLE * size.scale, SIGN * size.scale
    signs = min(MOST_SIGNS, int((width - a_handle) / a_sign))
    names = [fill(label, signs) for label in handles]
    widest = max(len(line) for name in names for line in name.split("\n"))
    columns = max(1, min(3, int(width / (a_handle + a_sign * widest))))
    lines = _most_lines(names, columns) + 1 + len(note.splitlines())
    figure.set_size_inches(width, height + LINE * size.scale * lines)
    legend = figure.legend(
        list(handles.values()),
        names,
        loc="outside lower center",
        ncols=columns,
        fontsize=size.points,
        frameon=False,
        labelcolor=INK,
        title=note or None,
        title_fontsize=size.points,
    )
    legend.get_title().set_color(INK)


def _most_lines(names: Sequence[str], columns: int) -> int:
    """How many lines the legend's tallest column has."""
    per_column = -(-len(names) // columns)
    starts = range(0, len(names), per_column)
    return max(sum(1 + name.count("\n") for name in names[s : s + per_column]) for s in starts)


# Text stays text, ids are stable, and no clock gets into a file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "scoring"
mpl.rcParams["pdf.fonttype"] = 42
# Names are no formulas: one that begins like a formula and is none could not be drawn.
mpl.rcParams["text.parse_math"] = False
NO_DATES = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {"Software": None},
}


def rendered(figure: Figure, form: str) -> bytes:
    """The figure as svg, pdf or png."""
    for text in figure.findobj(Text):
        # A control character is not allowed in an SVG, and makes the whole file unreadable.
        text.set_text(UNSEEN.sub("", text.get_text()))
    out = BytesIO()
    figure.savefig(out, format=form, metadata=NO_DATES[form], dpi=200)
    return out.getvalue()


def inline_svg(figure: Figure, title: str) -> str:
    """An SVG that can stand in a page: no style attribute (the page's policy refuses those),
    and the ink is the page's own, so that it turns with the page's colours."""
    figure.set_facecolor("none")
    text = rendered(figure, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'style="([^"]*)"', lambda match: _attributes(match[1]), text)
    text = text.replace(INK, "currentColor")
    name = f'role="img" aria-label={quoteattr(title)}'
    return text.replace("<svg", f'<svg {name} stroke-linejoin="round"', 1)


def _attributes(style: str) -> str:
    """A style's declarations as attributes; the font shorthand has no attribute of its own."""
    pairs = [part.split(":", 1) for part in style.split(";") if ":" in part]
    attributes: dict[str, str] = {}
    for name, value in ((name.strip(), value.strip()) for name, value in pairs):
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            attributes["font-size"] = size[1] if size else "10"
        elif name != "font-family":
            attributes[name] = value
    return " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
