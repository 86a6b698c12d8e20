"""The figures: scores against shots, differences, curves of learning, items."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations, cycle, pairwise
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from annotation.benchmarks.material import ALMOST_ALL
from scoring.analysis.items import ItemScores
from scoring.cells.rows import CEILING, Bound, Row, RowKind, first_policies, no_skill, policy_of
from scoring.comparison.paper_tables import UNKNOWN, task_order
from scoring.core.verdicts import SURE
from scoring.figures.canvas import (
    COLOURS,
    GRID,
    INK,
    MOST_INCHES,
    MOST_SIGNS,
    SIGN,
    add_legend,
    dress,
    label_across,
    label_up,
    new_panels,
    set_title,
    with_gaps,
)
from scoring.figures.sizes import PAGE, Size
from scoring.models import References, method_label

# A test of a forest, as it is exported.
Record = Mapping[str, Any]
REACH = ("low", "difference", "high")
MARKERS = ["s", "^", "v", "D", "P", "X", "<", ">"]
PEOPLE_MARKERS = ["o", "D", "p", "s", "h"]
ALONE = "x"
DASHES = {"FT": "-", "PT": "--", "ICL": ":"}
DODGED_MARK = "*"
# In points: marks nearer to each other lie on one another.
NEAR = 3
# In shots, where there is only one number of them.
MOST_ASIDE = 10


def shots_figure(
    rows: Iterable[Row],
    bounds: Iterable[Bound] = (),
    task_names: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    *,
    size: Size = PAGE,
) -> Figure:
    """S1 against shots, one panel for each policy of a task, with intervals: people as points,
    systems as lines; of a study only what rests on its people's items."""
    shown = [row for row in rows if row.is_on_curve]
    bounds = list(bounds)
    first = first_policies(shown, bounds)
    tasks = task_order(shown)
    task_policies = sorted(
        {(row.task, policy_of(row, first)) for row in shown},
        key=lambda pair: (tasks.index(pair[0]), pair[1] != first[pair[0]], pair[1]),
    )
    named = titles or {}
    looks = _looks(shown, named)
    figure, panels = new_panels(len(task_policies), size)
    for panel, (task, policy) in zip(panels, task_policies, strict=False):
        on_panel = [row for row in shown if row.task == task and policy_of(row, first) == policy]
        name = (task_names or {}).get(task, task)
        several = sum(task == other for other, _ in task_policies) > 1
        set_title(panel, f"{name}, {policy}" if several else name, size)
        _shots_panel(panel, on_panel, looks, named, size)
        _bound_lines(panel, [b for b in bounds if (b.task, b.references) == (task, policy)])
    notes = {
        f"{UNKNOWN} published without its reference policy": any(map(_is_unknown, shown)),
        f"{DODGED_MARK} marks stand side by side": any(
            panel.get_xlabel().endswith(DODGED_MARK) for panel in panels
        ),
    }
    add_legend(figure, panels, size, "\n".join(note for note, applies in notes.items() if applies))
    return figure


def differences_figure(tests: Sequence[Record], *, size: Size = PAGE) -> Figure:
    """A forest: each difference with its interval, people minus system; hollow where not sure."""
    shown = [test for test in tests if test["difference"] is not None]
    # Names take less than half of the width.
    width = min(7.5, size.width)
    signs = min(MOST_SIGNS, int(0.45 * width / (SIGN * size.scale)))
    names = [fill(name, signs) for name in _test_names(shown)]
    lines = max((1 + name.count("\n") for name in names), default=1)
    # An image has only so many pixels: beyond that the lines move closer.
    height = min(MOST_INCHES, 1.2 + size.scale * (0.07 + 0.14 * lines) * max(1, len(shown)))
    figure = Figure(figsize=(width, height), layout="constrained")
    panel = figure.subplots()
    for place, test in enumerate(shown):
        if test["low"] is not None and test["high"] is not None:
            panel.plot([test["low"], test["high"]], [place, place], color=INK, linewidth=1.4)
        filled = INK if test["certainty"] == SURE else "none"
        panel.plot(
            [test["difference"]], [place], "o", color=INK, markerfacecolor=filled, markersize=5
        )
    panel.axvline(0, color=GRID, linewidth=1, linestyle="--")
    panel.set_yticks(range(len(shown)), names)
    panel.set_ylim(max(1, len(shown)) - 0.5, -0.5)
    # From the least limit to the greatest, and 0 between them; never beyond what is possible.
    ends = [0.0, *(end for test in shown for key in REACH if (end := test[key]) is not None)]
    panel.set_xlim(max(-102.0, min(ends) - 2), min(102.0, max(ends) + 2))
    # Beneath the marks alone, which names leave half of the width.
    axis = "people minus system, percent points, with 95 % interval"
    label_across(panel, fill(axis, int(0.55 * width / (SIGN * size.scale))), size)
    dress(panel, "x", size)
    return figure


def _test_names(tests: Sequence[Record]) -> list[str]:
    several = len({test["study"] for test in tests}) > 1
    return [
        (f"{test['study']}, " if several else "")
        + "SIMULATED PEOPLE, " * test["simulated"]
        + (f"{test['pool']}, " if test["pool"] else "")
        + f"{test['task']}, {test['shots']} shots: "
        + ", ".join(filter(None, [test["system"], method_label(test["method"])]))
        for test in tests
    ]


def curves_figure(curves: Sequence[Record], *, size: Size = PAGE) -> Figure:
    """Learning over the training items, one panel per cell: each annotator pale, the group's
    mean hollow, the adjusted mean filled with its SE."""
    figure, panels = new_panels(len(curves), size)
    for panel, curve in zip(panels, curves, strict=False):
        points = curve["points"]
        positions = [(point["first"] + point["last"]) / 2 for point in points]
        for means in curve["by_annotator"].values():
            panel.plot(positions, with_gaps(means), color=GRID, linewidth=0.8, alpha=0.6)
        means = with_gaps(point["mean"] for point in points)
        panel.plot(positions, means, "o--", color=INK, markerfacecolor="none", label="mean")
        panel.errorbar(
            positions,
            with_gaps(point["adjusted"] for point in points),
            yerr=with_gaps(point["se"] for point in points),
            fmt="s-",
            color=COLOURS[0],
            markersize=4,
            capsize=3,
            label="adjusted for the item, ± SE",
        )
        set_title(panel, f"{curve['task']}, {curve['shots']} shots", size)
        label_across(panel, "position in training", size)
        panel.set_ylim(-2, 102)
        dress(panel, "y", size)
    add_legend(figure, panels, size)
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
    set_title(panel, f"{task}: {by_scores.total()} items", size)
    label_across(panel, "people's mean S1 (percent)", size)
    label_up(panel, "systems' mean S1 (percent)", size)
    panel.set_xlim(-4, 104)
    panel.set_ylim(-4, 104)
    panel.set_aspect("equal")
    dress(panel, "both", size)
    return figure


FIGURES: dict[str, tuple[Callable[..., Figure], str]] = {
    "shots": (shots_figure, "Score against shots"),
    "differences": (differences_figure, "Differences between people and systems"),
    "curves": (curves_figure, "Learning over the training items"),
    "items": (items_figure, "Each item for people and for systems"),
}


def _shots_panel(
    panel: Axes,
    rows: Sequence[Row],
    looks: dict[str, tuple[str, str]],
    titles: Mapping[str, str],
    size: Size,
) -> None:
    systems = _lines([row for row in rows if not row.is_of_people], titles)
    people = _lines([row for row in rows if row.is_of_people], titles)
    shots = sorted({int(row.shots or 0) for row in rows})
    # The least distance between two numbers of shots.
    step = float(min((b - a for a, b in pairwise(shots)), default=MOST_ASIDE))
    asides = _asides([*people.values(), *systems.values()], step)
    for (name, line), aside in zip(systems.items(), asides[len(people) :], strict=True):
        _system(panel, name, line, aside, looks[line[0].system or ""], size)
    for (name, line), aside in zip(people.items(), asides, strict=False):
        _, marker = looks[_label(line[0], titles)]
        _people(panel, name, line, marker, aside, size)
    panel.set_ylim(-2, 102)  # a mark at either end is whole
    panel.set_xticks(shots)
    panel.set_xlim(shots[0] - step / 2, shots[-1] + step / 2)
    label_across(panel, f"shots{DODGED_MARK * any(asides)}", size)
    dress(panel, "y", size)


def _asides(lines: Sequence[Sequence[Row]], step: float) -> list[float]:
    """How far each line stands beside its shots: where several intervals or two marks would hide
    one another, left and right in turns, within a sixth of the way to the next shots."""
    several = sum(any(row.ci_low is not None for row in line) for line in lines) > 1
    if not several and not _covers(lines):
        return [0.0] * len(lines)
    count = len(lines) | 1
    places = (np.arange(count) - count // 2) * step / (3 * max(1, count - 1))
    return sorted(places.tolist(), key=abs)[: len(lines)]


def _covers(lines: Sequence[Sequence[Row]]) -> bool:
    """Whether a mark of a line lies on one of another."""
    marks = [[(row.shots, row.mean or 0.0) for row in line] for line in lines]
    return any(
        shots == other and abs(mean - theirs) < NEAR
        for first, second in combinations(marks, 2)
        for shots, mean in first
        for other, theirs in second
    )


def _system(
    panel: Axes, name: str, line: Sequence[Row], aside: float, look: tuple[str, str], size: Size
) -> None:
    colour, marker = look
    limited = [row for row in line if row.ci_low is not None and row.ci_high is not None]
    panel.vlines(
        [float(row.shots or 0) + aside for row in limited],
        with_gaps(row.ci_low for row in limited),
        with_gaps(row.ci_high for row in limited),
        color=colour,
        linewidth=0.9 * size.marks,
    )
    panel.plot(
        [float(row.shots or 0) + aside for row in line],
        with_gaps(row.mean for row in line),
        DASHES.get(line[0].method or "", "-."),
        color=colour,
        marker=marker,
        markersize=4 * size.marks,
        linewidth=1.2 * size.marks,
        markerfacecolor="none" if line[0].kind == RowKind.REPORTED else colour,
        label=name,
    )


def _bound_lines(panel: Axes, bounds: Sequence[Bound]) -> None:
    for floor in no_skill(list(bounds)).values():
        panel.axhline(floor, color=GRID, linewidth=3, alpha=0.5, label="no skill")
    for bound in bounds:
        if bound.rule == CEILING and bound.score < ALMOST_ALL:
            panel.axhline(bound.score, color=GRID, linestyle=":", label="ceiling of the form")


def _people(
    panel: Axes, name: str, line: Sequence[Row], marker: str, aside: float, size: Size
) -> None:
    shots = [float(row.shots or 0) + aside for row in line]
    means = [row.mean or 0.0 for row in line]
    # Never below 0: a limit may be the mean itself, but for rounding.
    low = [max(0.0, m - _or(r.ci_low, m)) for m, r in zip(means, line, strict=True)]
    high = [max(0.0, _or(r.ci_high, m) - m) for m, r in zip(means, line, strict=True)]
    measured = line[0].kind == RowKind.HUMAN
    published = line[0].kind == RowKind.REPORTED
    marker = ALONE if _is_one_person(line) else "*" if published else marker
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


def _lines(rows: Iterable[Row], titles: Mapping[str, str]) -> dict[str, list[Row]]:
    lines: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (row.kind, str(row.method), str(row.system))):
        lines.setdefault(_label(row, titles), []).append(row)
    return {
        name + (", one person" if _is_one_person(line) else ""): sorted(
            line, key=lambda row: row.shots or 0
        )
        for name, line in lines.items()
    }


def _is_one_person(line: Iterable[Row]) -> bool:
    return all(row.is_cell_of_people and row.n == 1 for row in line)


def _label(row: Row, titles: Mapping[str, str]) -> str:
    """People of several studies are told apart by their titles, those of one by their pools."""
    published = "published" if row.kind == RowKind.REPORTED else None
    study = titles.get(row.study or "") if len(titles) > 1 else None
    parts = [row.system, row.pool, method_label(row.method), study, published]
    return ", ".join(filter(None, parts)) + (UNKNOWN if _is_unknown(row) else "")


def _is_unknown(row: Row) -> bool:
    return row.references == References.UNKNOWN


def _looks(rows: Collection[Row], titles: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The same in every panel: a colour and a marker for each system, in order of name, and a
    marker for each line of people."""
    systems = sorted({row.system or "" for row in rows if not row.is_of_people})
    people = sorted({(row.kind, _label(row, titles)) for row in rows if row.is_of_people})
    markers = zip((label for _kind, label in people), cycle(PEOPLE_MARKERS), strict=False)
    return {
        **{label: (INK, marker) for label, marker in markers},
        **{
            system: (COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])
            for number, system in enumerate(systems)
        },
    }
