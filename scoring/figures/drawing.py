"""Figures, drawn to be readable in print and by the colour-blind: colour never stands alone, but
always with a marker or a dash.

Bytes are deterministic: the same rows give the same file.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from math import nan
from textwrap import fill
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotation.benchmarks.floors import ALMOST_ALL
from scoring.comparison.floors import CEILING, Bound, no_skill
from scoring.comparison.items import ItemScores
from scoring.comparison.paper_tables import UNKNOWN
from scoring.comparison.rows import Row
from scoring.comparison.score_columns import (
    first_policies,
    is_people,
    policies_of,
    policy_of,
    task_order,
)
from scoring.models import References

Plain = dict[str, Any]

# Text stays text, ids are stable, and no clock gets into a file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "scoring"
mpl.rcParams["pdf.fonttype"] = 42
NO_DATES = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "png": {"Software": None},
}
CONTENT_TYPES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}

# Okabe and Ito's colours without black, which is people's; the yellow is too pale for a line.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"]
MARKERS = ["s", "^", "v", "D", "P", "X", "<", ">"]
PEOPLE_MARKERS = ["o", "D", "p", "s", "h"]
DASHES = {"FT": "-", "PT": "--", "ICL": ":"}
INK = "#1d2429"
GRID = "#80868b"

# A legend entry in inches, at eight points: its line, its handle and gaps, each character.
LEGEND_LINE, LEGEND_HANDLE, LEGEND_SIGN = 0.17, 0.65, 0.065
MOST_SIGNS = 44


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
DODGED_MARK = "*"
# In shots, where there is only one number of them.
MOST_ASIDE = 10
# Of a panel's title and a forest's names.
SHORT = 34


def shots_figure(
    rows: Iterable[Row],
    bounds: Iterable[Bound] = (),
    task_names: Mapping[str, str] | None = None,
    *,
    size: Size = PAGE,
) -> Figure:
    """S1 against shots, one panel for each policy of a task, with intervals: people as points,
    systems as lines."""
    shown = [
        row
        for row in rows
        if not row.single and row.mean is not None and isinstance(row.shots, int)
    ]
    bounds = list(bounds)
    first = first_policies(shown, bounds)
    task_policies = [
        (task, policy) for task in task_order(shown) for policy in policies_of(shown, task, first)
    ]
    looks = _looks(shown)
    figure, panels = _panels(len(task_policies), "S1 (percent)", size)
    for panel, (task, policy) in zip(panels, task_policies, strict=False):
        here = [row for row in shown if row.task == task and policy_of(row, first) == policy]
        name = (task_names or {}).get(task, task)
        _title(panel, f"{name}, {policy}" if policy else name, size)
        _shots_panel(panel, here, looks, size)
        _bound_lines(panel, [b for b in bounds if (b.task, b.references) == (task, policy)])
    told = {
        f"{UNKNOWN} published without its reference policy": any(map(_is_unknown, shown)),
        f"{DODGED_MARK} marks with intervals stand side by side": any(
            panel.get_xlabel().endswith(DODGED_MARK) for panel in panels
        ),
    }
    _legend(figure, panels, size, "\n".join(note for note, applies in told.items() if applies))
    return figure


def differences_figure(tests: Sequence[Plain], *, size: Size = PAGE) -> Figure:
    """A forest: each difference with its interval, people less system; hollow where the
    group is too small for more than exploring."""
    shown = [test for test in tests if test["difference"] is not None]
    # Names take less than half of the width.
    width = min(7.5, size.width)
    signs = min(MOST_SIGNS, int(0.45 * width / (LEGEND_SIGN * size.scale)))
    names = [fill(name, signs) for name in _test_names(shown)]
    lines = max((1 + name.count("\n") for name in names), default=1)
    # An image has only so many pixels: beyond that the lines move closer.
    height = min(MOST_INCHES, 1.2 + size.scale * (0.07 + 0.14 * lines) * max(1, len(shown)))
    figure = Figure(figsize=(width, height), layout="constrained")
    panel = figure.subplots()
    for place, test in enumerate(shown):
        middle, low, high = test["difference"], test["low"], test["high"]
        if low is not None:
            panel.plot([low, high], [place, place], color=INK, linewidth=1.4)
        filled = "none" if test["exploratory"] else INK
        panel.plot([middle], [place], "o", color=INK, markerfacecolor=filled, markersize=5)
    panel.axvline(0, color=GRID, linewidth=1, linestyle="--")
    panel.set_yticks(range(len(shown)), names)
    panel.set_ylim(max(1, len(shown)) - 0.5, -0.5)
    panel.set_xlim(*_reach(shown))
    # Beneath the marks alone, which names leave half of the width.
    told = "people less system, percent points, with 95 % interval"
    _across(panel, fill(told, int(0.55 * width / (LEGEND_SIGN * size.scale))), size)
    _dress(panel, "x", size)
    return figure


def _reach(tests: Sequence[Plain]) -> tuple[float, float]:
    """From the least limit to the greatest, and 0 between them; never beyond what is possible."""
    ends = [0.0]
    for test in tests:
        ends += [test[name] for name in ("low", "difference", "high") if test[name] is not None]
    return max(-102.0, min(ends) - 2), min(102.0, max(ends) + 2)


def _test_names(tests: Sequence[Plain]) -> list[str]:
    several = len({(test["study"], test["simulated"]) for test in tests}) > 1
    return [
        (f"{test['study']}{' (simulated)' * test['simulated']}, " if several else "")
        + f"{test['task']}, {test['shots']} shots: {test['system']}, {test['method']}"
        for test in tests
    ]


def curves_figure(curves: Sequence[Plain], *, size: Size = PAGE) -> Figure:
    """Learning over the training items, one panel per cell: each annotator pale, the group's
    mean hollow, the adjusted mean filled with its SE."""
    figure, panels = _panels(len(curves), "S1 (percent)", size)
    for panel, curve in zip(panels, curves, strict=False):
        points = curve["points"]
        positions = [(point["first"] + point["last"]) / 2 for point in points]
        for means in curve["by_annotator"].values():
            panel.plot(positions, _gaps(means), color=GRID, linewidth=0.8, alpha=0.6)
        means = _gaps(point["mean"] for point in points)
        panel.plot(positions, means, "o--", color=INK, markerfacecolor="none", label="mean")
        panel.errorbar(
            positions,
            _gaps(point["adjusted"] for point in points),
            yerr=_gaps(point["se"] for point in points),
            fmt="s-",
            color=COLOURS[0],
            markersize=4,
            capsize=3,
            label="adjusted for the item, ± SE",
        )
        _title(panel, f"{curve['task']}, {curve['shots']} shots", size)
        _across(panel, "position in training", size)
        panel.set_ylim(-2, 102)
        _dress(panel, "y", size)
    _legend(figure, panels, size)
    return figure


def items_figure(task: str, items: Sequence[ItemScores], *, size: Size = PAGE) -> Figure:
    """Each item's mean for people against that for systems; a larger circle holds more
    items. Above the diagonal systems do better, below it people."""
    by_scores = Counter(
        (round(item.people, 1), round(item.systems, 1))
        for item in items
        if item.people is not None and item.systems is not None
    )
    width = min(5.2, size.width)
    figure = Figure(figsize=(width, width + 0.2), layout="constrained")
    panel = figure.subplots()
    panel.plot([0, 100], [0, 100], color=GRID, linewidth=1, linestyle="--")
    panel.scatter(
        [people for people, _ in by_scores],
        [systems for _, systems in by_scores],
        [14 * count for count in by_scores.values()],
        facecolor=COLOURS[0],
        edgecolor=INK,
        linewidth=0.6,
        alpha=0.55,
    )
    _title(panel, f"{task}: {by_scores.total()} items", size)
    _across(panel, "people's mean S1 (percent)", size)
    _up(panel, "systems' mean S1 (percent)", size)
    panel.set_xlim(-4, 104)
    panel.set_ylim(-4, 104)
    panel.set_aspect("equal")
    _dress(panel, "both", size)
    return figure


FIGURES: dict[str, tuple[Callable[..., Figure], str]] = {
    "shots": (shots_figure, "Score against shots"),
    "differences": (differences_figure, "Differences between people and systems"),
    "curves": (curves_figure, "Learning over the training items"),
    "items": (items_figure, "Each item for people and for systems"),
}


def rendered(figure: Figure, form: str) -> bytes:
    """The figure as svg, pdf or png."""
    out = BytesIO()
    figure.savefig(out, format=form, metadata=NO_DATES[form], dpi=200)
    return out.getvalue()


def file_name(figure: str, name: str, form: str, size: str) -> str:
    of_column = "-column" if size == "column" else ""
    return f"{figure}-{name}{of_column}.{form}"


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
    name = f'role="img" aria-label="{_escaped(title)}"'
    return text.replace("<svg", f'<svg {name} stroke-linejoin="round"', 1)


def _panels(count: int, label: str, size: Size) -> tuple[Figure, Sequence[Axes]]:
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
        _up(panel, label, size)
    return figure, panels


def _title(panel: Axes, text: str, size: Size) -> None:
    panel.set_title(_in_short(text), fontsize=size.points + 2, color=INK)


def _across(panel: Axes, text: str, size: Size) -> None:
    panel.set_xlabel(text, fontsize=size.points + 1, color=INK)


def _up(panel: Axes, text: str, size: Size) -> None:
    panel.set_ylabel(text, fontsize=size.points + 1, color=INK)


def _dress(panel: Axes, grid: Literal["both", "x", "y"], size: Size) -> None:
    panel.tick_params(colors=INK, labelsize=size.points)
    panel.grid(axis=grid, color=GRID, alpha=0.25, linewidth=0.6)
    panel.set_facecolor("none")
    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GRID)


def _in_short(name: str) -> str:
    return name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"


def _gaps(values: Iterable[float | None]) -> list[float]:
    return [nan if value is None else value for value in values]


def _shots_panel(
    panel: Axes, rows: Sequence[Row], looks: dict[str, tuple[str, str]], size: Size
) -> None:
    systems = _lines([row for row in rows if not is_people(row)])
    people = _lines([row for row in rows if is_people(row)])
    step = _step(rows)
    asides = _asides([*people.values(), *systems.values()], step)
    for (name, line), aside in zip(systems.items(), asides[len(people) :], strict=True):
        _system(panel, name, line, aside, looks[line[0].system or ""], size)
    for number, (name, line) in enumerate(people.items()):
        _people(panel, name, line, number, asides[number], size)
    panel.set_ylim(-2, 102)  # a mark at either end is whole
    shots = sorted({int(row.shots or 0) for row in rows})
    panel.set_xticks(shots)
    panel.set_xlim(shots[0] - step / 2, shots[-1] + step / 2)
    _across(panel, f"shots{DODGED_MARK * any(asides)}", size)
    _dress(panel, "y", size)


def _step(rows: Sequence[Row]) -> float:
    """The least distance between two numbers of shots."""
    shots = sorted({int(row.shots or 0) for row in rows})
    return float(min((b - a for a, b in pairwise(shots)), default=MOST_ASIDE))


def _asides(lines: Sequence[Sequence[Row]], step: float) -> list[float]:
    """How far each line stands beside its shots. Marks stand on them; only where several intervals
    would hide one another do those after the first stand aside, to the left and right, all within a
    sixth of the way to the next shots."""
    has_interval = [any(row.ci_low is not None for row in line) for line in lines]
    count = sum(has_interval) | 1
    places = (np.arange(count) - count // 2) * step / (3 * max(1, count - 1))
    room = iter(sorted(places.tolist(), key=abs))
    return [next(room) if told else 0.0 for told in has_interval]


def _system(
    panel: Axes,
    name: str,
    line: Sequence[Row],
    aside: float,
    look: tuple[str, str],
    size: Size,
) -> None:
    colour, marker = look
    told = [row for row in line if row.ci_low is not None and row.ci_high is not None]
    panel.vlines(
        [float(row.shots or 0) + aside for row in told],
        _gaps(row.ci_low for row in told),
        _gaps(row.ci_high for row in told),
        color=colour,
        linewidth=0.9 * size.marks,
    )
    panel.plot(
        [float(row.shots or 0) + aside for row in line],
        _gaps(row.mean for row in line),
        DASHES.get(line[0].method or "", "-."),
        color=colour,
        marker=marker,
        markersize=4 * size.marks,
        linewidth=1.2 * size.marks,
        markerfacecolor="none" if line[0].kind == "reported" else colour,
        label=name,
    )


def _bound_lines(panel: Axes, bounds: Sequence[Bound]) -> None:
    for floor in no_skill(list(bounds)).values():
        panel.axhline(floor, color=GRID, linewidth=3, alpha=0.5, label="no skill")
    for bound in bounds:
        if bound.rule == CEILING and bound.score < ALMOST_ALL:
            panel.axhline(bound.score, color=GRID, linestyle=":", label="ceiling of the form")


def _people(
    panel: Axes, name: str, line: Sequence[Row], number: int, aside: float, size: Size
) -> None:
    shots = [float(row.shots or 0) + aside for row in line]
    means = [row.mean or 0.0 for row in line]
    # Never below 0: a limit may be the mean itself, but for rounding.
    low = [max(0.0, m - _or(r.ci_low, m)) for m, r in zip(means, line, strict=True)]
    high = [max(0.0, _or(r.ci_high, m) - m) for m, r in zip(means, line, strict=True)]
    measured = line[0].kind == "human"
    marker = "*" if line[0].kind == "reported" else PEOPLE_MARKERS[number % len(PEOPLE_MARKERS)]
    panel.errorbar(
        shots,
        means,
        yerr=[low, high],
        fmt=marker,
        color=INK,
        markerfacecolor=INK if measured else "none",
        markersize=(6 if measured else 8) * size.marks,
        capsize=3 * size.marks,
        linewidth=1.4 * size.marks,
        label=name,
    )


def _or(limit: float | None, mean: float) -> float:
    return mean if limit is None else limit


def _lines(rows: Iterable[Row]) -> dict[str, list[Row]]:
    lines: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.kind, str(row.method), str(row.system))):
        lines.setdefault(_label(row), []).append(row)
    return {name: sorted(line, key=lambda row: row.shots or 0) for name, line in lines.items()}


def _label(row: Row) -> str:
    parts = [row.system, row.method, row.study, "published" if row.kind == "reported" else None]
    return ", ".join(filter(None, parts)) + (UNKNOWN if _is_unknown(row) else "")


def _is_unknown(row: Row) -> bool:
    """Whether it was published without its reference policy."""
    return row.references == References.UNKNOWN


def _looks(rows: Iterable[Row]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each system, in order of name."""
    systems = sorted({row.system or "" for row in rows if not is_people(row)})
    return {
        system: (COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])
        for number, system in enumerate(systems)
    }


def _legend(figure: Figure, panels: Iterable[Axes], size: Size, note: str = "") -> None:
    """Beneath the panels, in as many columns as its names allow; the figure grows by it."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return
    width, height = figure.get_size_inches()
    a_handle, a_sign = LEGEND_HANDLE * size.scale, LEGEND_SIGN * size.scale
    signs = min(MOST_SIGNS, int((width - a_handle) / a_sign))
    names = [fill(label, signs) for label in handles]
    widest = max(len(line) for name in names for line in name.split("\n"))
    columns = max(1, min(3, int(width / (a_handle + a_sign * widest))))
    lines = _most_lines(names, columns) + 1 + len(note.splitlines())
    figure.set_size_inches(width, height + LEGEND_LINE * size.scale * lines)
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
    return " ".join(f'{name}="{_escaped(value)}"' for name, value in attributes.items())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
