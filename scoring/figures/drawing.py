"""Figures, drawn to be readable in print and by the colour-blind: colour never stands alone, but
always with a marker or a dash.

Bytes are deterministic: the same rows give the same file.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from math import nan
from textwrap import fill
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotation.benchmarks.floors import ALMOST_ALL
from scoring.comparison.floors import CEILING, Bound, no_skill
from scoring.comparison.items import ItemFigures
from scoring.comparison.paper_tables import UNKNOWN, is_people, task_order
from scoring.comparison.policies import first_policies, policies_of, policy_of
from scoring.comparison.rows import Row
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

# The width of a legend entry in inches: its line, its handle and gaps, each character.
LEGEND_LINE, LEGEND_HANDLE, LEGEND_SIGN = 0.17, 0.65, 0.065
MOST_SIGNS = 44


def shots_figure(rows: Iterable[Row], bounds: Iterable[Bound] = ()) -> Figure:
    """S1 against shots, one panel for each policy of a task, with intervals: people as points,
    systems as lines."""
    shown = [
        row
        for row in rows
        if not row.single and row.mean is not None and isinstance(row.shots, int)
    ]
    bounds = list(bounds)
    first = first_policies(shown, bounds)
    places = [
        (task, policy) for task in task_order(shown) for policy in policies_of(shown, task, first)
    ]
    looks = _looks(shown)
    figure, panels = _panels(len(places), "S1 (percent)")
    for panel, (task, policy) in zip(panels, places, strict=False):
        here = [row for row in shown if row.task == task and policy_of(row, first) == policy]
        _shots_panel(panel, f"{task}, {policy}" if policy else task, here, looks)
        _bound_lines(panel, [b for b in bounds if (b.task, b.references) == (task, policy)])
    told = f"{UNKNOWN} published without its reference policy"
    _legend(figure, panels, told if any(map(_is_unknown, shown)) else None)
    return figure


def differences_figure(tests: Sequence[Plain]) -> Figure:
    """A forest: each difference with its interval, people less system; hollow where the
    group is too small for more than exploring."""
    shown = [test for test in tests if test["difference"] is not None]
    names = [fill(name, MOST_SIGNS) for name in _test_names(shown)]
    lines = max((1 + name.count("\n") for name in names), default=1)
    height = 1.2 + (0.12 + 0.15 * lines) * max(1, len(shown))
    figure = Figure(figsize=(7.5, height), layout="constrained")
    panel = figure.subplots()
    for place, test in enumerate(shown):
        middle, low, high = test["difference"], test["low"], test["high"]
        if low is not None:
            panel.plot([low, high], [place, place], color=INK, linewidth=1.4)
        filled = "none" if test["exploratory"] else INK
        panel.plot([middle], [place], "o", color=INK, markerfacecolor=filled, markersize=5)
    panel.axvline(0, color=GRID, linewidth=1, linestyle="--")
    panel.set_yticks(range(len(shown)), names)
    panel.invert_yaxis()
    panel.set_xlabel("people less system, percent points, with 95 % interval", color=INK)
    _dress(panel, "x")
    return figure


def _test_names(tests: Sequence[Plain]) -> list[str]:
    several = len({(test["study"], test["simulated"]) for test in tests}) > 1
    return [
        (f"{test['study']}{' (simulated)' * test['simulated']}, " if several else "")
        + f"{test['task']}, {test['shots']} shots: {test['system']}, {test['method']}"
        for test in tests
    ]


def curves_figure(curves: Sequence[Plain]) -> Figure:
    """Learning over the training items, one panel per cell: each annotator pale, the group's
    mean hollow, the adjusted mean filled with its SE."""
    figure, panels = _panels(len(curves), "S1 (percent)")
    for panel, curve in zip(panels, curves, strict=False):
        points = curve["points"]
        places = [(point["first"] + point["last"]) / 2 for point in points]
        for means in curve["by_annotator"].values():
            panel.plot(places, _gaps(means), color=GRID, linewidth=0.8, alpha=0.6)
        means = _gaps(point["mean"] for point in points)
        panel.plot(places, means, "o--", color=INK, markerfacecolor="none", label="mean")
        panel.errorbar(
            places,
            _gaps(point["adjusted"] for point in points),
            yerr=_gaps(point["se"] for point in points),
            fmt="s-",
            color=COLOURS[0],
            markersize=4,
            capsize=3,
            label="adjusted for the item, ± SE",
        )
        panel.set_title(f"{curve['task']}, {curve['shots']} shots", fontsize=10, color=INK)
        panel.set_xlabel("position in training", color=INK)
        panel.set_ylim(0, 118)  # an adjusted mean may pass 100
        _dress(panel, "y")
    _legend(figure, panels)
    return figure


def items_figure(task: str, items: Sequence[ItemFigures]) -> Figure:
    """Each item's mean for people against that for systems; a larger circle holds more
    items. Above the diagonal systems do better, below it people."""
    places = Counter(
        (round(item.people, 1), round(item.systems, 1))
        for item in items
        if item.people is not None and item.systems is not None
    )
    figure = Figure(figsize=(5.2, 5.4), layout="constrained")
    panel = figure.subplots()
    panel.plot([0, 100], [0, 100], color=GRID, linewidth=1, linestyle="--")
    panel.scatter(
        [people for people, _ in places],
        [systems for _, systems in places],
        [14 * count for count in places.values()],
        facecolor=COLOURS[0],
        edgecolor=INK,
        linewidth=0.6,
        alpha=0.55,
    )
    panel.set_title(f"{task}: {places.total()} items", fontsize=10, color=INK)
    panel.set_xlabel("people's mean S1 (percent)", color=INK)
    panel.set_ylabel("systems' mean S1 (percent)", color=INK)
    panel.set_xlim(-4, 104)
    panel.set_ylim(-4, 104)
    panel.set_aspect("equal")
    _dress(panel, "both")
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


def inline_svg(figure: Figure, title: str) -> str:
    """An SVG that can stand in a page: no style attribute (the page's policy refuses those),
    and the ink is the page's own, so that it turns with the page's colours."""
    figure.set_facecolor("none")
    text = rendered(figure, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'style="([^"]*)"', lambda found: _attributes(found[1]), text)
    text = text.replace(INK, "currentColor")
    name = f'role="img" aria-label="{_escaped(title)}"'
    return text.replace("<svg", f'<svg {name} stroke-linejoin="round"', 1)


def _panels(count: int, label: str) -> tuple[Figure, Sequence[Axes]]:
    """Up to three panels in a row, on one scale."""
    across = min(3, max(1, count))
    down = -(-count // across) or 1
    figure = Figure(figsize=(3.3 * across + 0.3, 2.7 * down + 0.6), layout="constrained")
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).ravel())
    for panel in panels[count:]:
        panel.set_axis_off()
    for panel in panels[::across]:
        panel.set_ylabel(label, color=INK)
    return figure, panels


def _dress(panel: Axes, grid: Literal["both", "x", "y"]) -> None:
    panel.tick_params(colors=INK, labelsize=8)
    panel.grid(axis=grid, color=GRID, alpha=0.25, linewidth=0.6)
    panel.set_facecolor("none")
    for side, spine in panel.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GRID)


def _gaps(values: Iterable[float | None]) -> list[float]:
    return [nan if value is None else value for value in values]


def _shots_panel(
    panel: Axes, title: str, rows: Sequence[Row], looks: dict[str, tuple[str, str]]
) -> None:
    panel.set_title(title, fontsize=10, color=INK)
    lines = _lines([row for row in rows if not is_people(row)])
    for number, (name, line) in enumerate(lines.items()):
        colour, marker = looks[line[0].system or ""]
        told = [row for row in line if row.ci_low is not None and row.ci_high is not None]
        # Offset from people's and from one another, so that no interval hides another.
        aside = min(0.5, 3 / len(lines)) * (number + 1) if told else 0
        panel.vlines(
            [float(row.shots or 0) - aside for row in told],
            _gaps(row.ci_low for row in told),
            _gaps(row.ci_high for row in told),
            color=colour,
            linewidth=0.9,
        )
        panel.plot(
            [float(row.shots or 0) - aside for row in line],
            _gaps(row.mean for row in line),
            DASHES.get(line[0].method or "", "-."),
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            markerfacecolor="none" if line[0].kind == "reported" else colour,
            label=name,
        )
    for number, (name, line) in enumerate(_lines([r for r in rows if is_people(r)]).items()):
        _people(panel, name, line, number)
    panel.set_ylim(0, 100)
    panel.set_xticks(sorted({row.shots for row in rows}))
    panel.set_xlabel("shots", color=INK)
    _dress(panel, "y")


def _bound_lines(panel: Axes, bounds: Sequence[Bound]) -> None:
    for floor in no_skill(list(bounds)).values():
        panel.axhline(floor, color=GRID, linewidth=3, alpha=0.5, label="no skill")
    for bound in bounds:
        if bound.rule == CEILING and bound.score < ALMOST_ALL:
            panel.axhline(bound.score, color=GRID, linestyle=":", label="ceiling of the form")


def _people(panel: Axes, name: str, line: Sequence[Row], number: int) -> None:
    # Offset from one another, so that no interval hides another.
    places = [float(row.shots or 0) + 0.5 * number for row in line]
    means = [row.mean or 0.0 for row in line]
    low = [m - (m if r.ci_low is None else r.ci_low) for m, r in zip(means, line, strict=True)]
    high = [(m if r.ci_high is None else r.ci_high) - m for m, r in zip(means, line, strict=True)]
    measured = line[0].kind == "human"
    marker = "*" if line[0].kind == "reported" else PEOPLE_MARKERS[number % len(PEOPLE_MARKERS)]
    panel.errorbar(
        places,
        means,
        yerr=[low, high],
        fmt=marker,
        color=INK,
        markerfacecolor=INK if measured else "none",
        markersize=6 if measured else 8,
        capsize=3,
        linewidth=1.4,
        label=name,
    )


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


def _legend(figure: Figure, panels: Iterable[Axes], note: str | None = None) -> None:
    """Beneath the panels, in as many columns as its names allow; the figure grows by it."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return
    width, height = figure.get_size_inches()
    signs = min(MOST_SIGNS, int((width - LEGEND_HANDLE) / LEGEND_SIGN))
    names = [fill(label, signs) for label in handles]
    widest = max(len(line) for name in names for line in name.split("\n"))
    columns = min(3, int(width / (LEGEND_HANDLE + LEGEND_SIGN * widest)))
    lines = _most_lines(names, columns) + (2 if note else 1)
    figure.set_size_inches(width, height + LEGEND_LINE * lines)
    legend = figure.legend(
        list(handles.values()),
        names,
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        frameon=False,
        labelcolor=INK,
        title=note,
        title_fontsize=8,
    )
    legend.get_title().set_color(INK)


def _most_lines(names: Sequence[str], columns: int) -> int:
    """Of the legend's tallest column."""
    each = -(-len(names) // columns)
    starts = range(0, len(names), each)
    return max(sum(1 + name.count("\n") for name in names[s : s + each]) for s in starts)


def _attributes(style: str) -> str:
    """A style's declarations as attributes; the font shorthand has no attribute of its own."""
    pairs = [part.split(":", 1) for part in style.split(";") if ":" in part]
    found: dict[str, str] = {}
    for name, value in ((name.strip(), value.strip()) for name, value in pairs):
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            found["font-size"] = size[1] if size else "10"
        elif name != "font-family":
            found[name] = value
    return " ".join(f'{name}="{_escaped(value)}"' for name, value in found.items())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
