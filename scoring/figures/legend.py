"""The legend beneath a figure's panels, with what its signs mean."""

from collections.abc import Iterable, Sequence
from textwrap import fill

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scoring.figures.canvas import INK, MOST_SIGNS, SIGN
from scoring.figures.sizes import Size

# An entry in inches, at eight points: its line, its handle and gaps.
LINE, HANDLE = 0.17, 0.65


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
    """Of the legend's tallest column."""
    per_column = -(-len(names) // columns)
    starts = range(0, len(names), per_column)
    return max(sum(1 + name.count("\n") for name in names[s : s + per_column]) for s in starts)
