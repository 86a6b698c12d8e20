"""A leaderboard as tables: as they are read on its page, and as they are exported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from scoring.comparison.grid import FEW, NOTES, ONE, PARTIAL, UNKNOWN, rounded
from scoring.comparison.rows import Row
from scoring.comparison.sheets import Column, Plain, Sheet
from scoring.leaderboard.board import Board, TaskBoard
from scoring.leaderboard.rules import FLOOR, PEOPLE, SHOTS, SORTED_BY, SYSTEM, OverTasks, Place
from scoring.models import FULLY_SUPERVISED, ProtocolTag

# What every score names.
UNDER = ("references", "normalisation")
STYLES = {SYSTEM: "system", PEOPLE: "people", FLOOR: "bound"}


@dataclass(frozen=True)
class BoardCell:
    text: str
    sd: str = ""
    interval: str = ""
    size: str = ""
    marks: str = ""


@dataclass(frozen=True)
class BoardLine:
    place: Place
    cells: tuple[BoardCell | None, ...]
    # Further figures, behind the columns about the system.
    others: tuple[BoardCell | None, ...] = ()
    source: str = ""
    note: str = ""

    @property
    def style(self) -> str:
        return STYLES[self.place.entry.kind]

    @property
    def protocol(self) -> str:
        return ", ".join(str(ProtocolTag(tag).label) for tag in self.place.entry.protocol)


@dataclass(frozen=True)
class BoardTable:
    """Heads name the columns of figures; the first one is the column that orders."""

    title: str
    policy: str
    heads: tuple[str, ...]
    other_heads: tuple[str, ...]
    lines: tuple[BoardLine, ...]

    @property
    def ranked(self) -> list[BoardLine]:
        return [line for line in self.lines if not line.place.is_unranked]

    @property
    def unranked(self) -> list[BoardLine]:
        return [line for line in self.lines if line.place.is_unranked]

    @property
    def has_protocols(self) -> bool:
        return any(line.protocol for line in self.lines)

    @property
    def notes(self) -> dict[str, str]:
        used = {mark for line in self.lines for cell in line.cells if cell for mark in cell.marks}
        return {mark: note for mark, note in NOTES.items() if mark in used}


def tables(board: Board) -> list[BoardTable]:
    """The table over tasks where there are several, then one for each task."""
    first = [_over_tasks(board)] if len(board.chosen) > 1 else []
    return [*first, *map(_on_task, board.by_task)]


def _over_tasks(board: Board) -> BoardTable:
    others = [shots for shots in reversed(SHOTS) if shots != SORTED_BY]
    heads = (
        _average(SORTED_BY),
        _("SD of the average: √(Σ SD²) / %(tasks)s") % {"tasks": len(board.chosen)},
        _("√(Σ SD²), as the CLUES board prints"),
        *(f"{task}, {_shots(SORTED_BY)}" for task in board.chosen),
    )
    lines = tuple(_line_over_tasks(line, board, others) for line in board.over_tasks)
    title = _("Average over %(count)s tasks") % {"count": len(board.chosen)}
    return BoardTable(title, "", heads, tuple(map(_average, others)), lines)


def _line_over_tasks(line: OverTasks, board: Board, others: Sequence[int]) -> BoardLine:
    entry, found = line.place.entry, line.averages
    rows = [entry.row(task) for task in board.chosen]
    best = found.get(SORTED_BY)
    averages = (
        BoardCell(rounded(best.mean), marks=_marks_of_all(rows)) if best else None,
        BoardCell(rounded(best.sd)) if best and best.sd is not None else None,
        BoardCell(rounded(best.clues_sd)) if best and best.clues_sd is not None else None,
    )
    return BoardLine(
        line.place,
        (*averages, *map(_cell, rows)),
        others=tuple(
            BoardCell(rounded(found[shots].mean)) if shots in found else None for shots in others
        ),
        source=_sources(row for row in entry.rows.values() if row.task in board.chosen),
    )


def _on_task(board: TaskBoard) -> BoardTable:
    # The column that orders, then down to the fewest; fully supervised is no few-shot figure.
    shots = [str(each) for each in (SORTED_BY, *reversed(SHOTS), FULLY_SUPERVISED)]
    shots = [each for each in dict.fromkeys(shots) if each in board.shots]
    lines = tuple(_line_on_task(place, board.task, shots) for place in board.places)
    return BoardTable(board.task, board.scored_under, tuple(map(_shots, shots)), (), lines)


def _line_on_task(place: Place, task: str, shots: Sequence[str]) -> BoardLine:
    rows = [place.entry.row(task, each) for each in shots]
    sources = _sources(rows)
    # Of no skill, the source is the rule that its answers follow.
    is_floor = place.entry.kind == FLOOR
    return BoardLine(
        place,
        tuple(_cell(row, in_full=True) for row in rows),
        source="" if is_floor else sources,
        note=sources if is_floor else "",
    )


def _sources(rows: Iterable[Row | None]) -> str:
    return "; ".join(dict.fromkeys(row.source for row in rows if row and row.source))


def _average(shots: int) -> str:
    return _("Average, %(shots)s shots") % {"shots": shots}


def _shots(shots: int | str) -> str:
    if shots == FULLY_SUPERVISED:
        return _("fully supervised")
    return _("%(shots)s shots") % {"shots": shots}


def _cell(row: Row | None, *, in_full: bool = False) -> BoardCell | None:
    if row is None or row.mean is None:
        return None
    has_interval = in_full and row.ci_low is not None
    return BoardCell(
        text=rounded(row.mean),
        sd=rounded(row.sd),
        interval=f"[{rounded(row.ci_low)}, {rounded(row.ci_high)}]" if has_interval else "",
        size=f"n = {row.n}" if in_full and row.kind == "human" else "",
        marks="".join(_marks(row)),
    )


def _marks(row: Row) -> Iterable[str]:
    if row.references == "unknown":
        yield UNKNOWN
    if row.coverage is not None and row.coverage < 1:
        yield PARTIAL
    if row.kind in ("human", "run") and row.n == 1:
        yield ONE
    elif row.kind == "human" and row.is_exploratory:
        yield FEW


def _marks_of_all(rows: Iterable[Row | None]) -> str:
    """An average is as uncertain as what it is made of."""
    return "".join(dict.fromkeys(mark for row in rows if row for mark in _marks(row)))


# Exports: every figure unrounded, under names that stay.

_ABOUT = tuple(
    Column(key, heading, is_number=False)
    for key, heading in (
        ("kind", "Kind"),
        ("system", "System"),
        ("method", "Method"),
        ("parameters", "Parameters"),
        ("external_labelled", "External labelled"),
        ("external_unlabelled", "External unlabelled"),
        ("protocol", "Protocol"),
        ("citation", "Citation"),
        ("url", "Address"),
        ("source", "Published in"),
        ("not_ranked", "Not ranked because"),
    )
)


def board_sheets(board: Board) -> list[Sheet]:
    return [_averages_sheet(board), _figures_sheet(board)]


def _averages_sheet(board: Board) -> Sheet:
    columns = (
        Column("shots", "Shots"),
        Column("rank", "Rank"),
        *_ABOUT,
        Column("mean", "Average", digits=1),
        Column("sd", "SD of the average", digits=1),
        Column("clues_root_sum_sd", "Root of the summed squared SDs (CLUES)", digits=1),
        Column("tasks", "Tasks", is_number=False),
        Column("references", "References", is_number=False),
        Column("normalisations", "Normalisation", is_number=False),
    )
    rows = [
        {
            "shots": shots,
            **_about(line.place),
            # The rank is by one number of shots, and stands with it alone.
            "rank": line.place.rank if shots == SORTED_BY else None,
            "mean": found.mean if found else None,
            "sd": found.sd if found else None,
            "clues_root_sum_sd": found.clues_sd if found else None,
            "tasks": " ".join(board.chosen),
            "references": " ".join(found.references) if found else None,
            "normalisations": " ".join(found.normalisations) if found else None,
        }
        for shots in reversed(SHOTS)
        for line in board.over_tasks
        for found in [line.averages.get(shots)]
        if found or shots == SORTED_BY
    ]
    note = (
        "Mean of the task means of whoever has all of these tasks; ranked by the mean at "
        f"{SORTED_BY} shots. The SD of the average is the root of the summed squared SDs, divided "
        "by the number of tasks; the board of CLUES prints the root itself."
    )
    return Sheet("averages", "Average over tasks", note, columns, tuple(rows))


def _figures_sheet(board: Board) -> Sheet:
    figures = ("mean", "sd", "n", "m", "ci_low", "ci_high")
    columns = (
        Column("task", "Task", is_number=False),
        Column("rank", "Rank"),
        *_ABOUT,
        Column("shots", "Shots"),
        *(Column(key, key, digits=None if key in "nm" else 1) for key in figures),
        *(Column(key, key, is_number=False) for key in ("ci_method", "estimand", *UNDER)),
        Column("gold_version", "Gold version"),
        Column("coverage", "Coverage", digits=3),
    )
    rows = [
        {"task": each.task, **_about(place), **_figures(row)}
        for each in board.by_task
        for place in each.places
        for shots in each.shots
        for row in [place.entry.row(each.task, shots)]
        if row
    ]
    note = (
        f"S1 in percent; ranked on each task by the mean at {SORTED_BY} shots. The SD of people is "
        "over annotators, that of systems over runs; a published figure is as published."
    )
    return Sheet("figures", "Figures by task and shots", note, columns, tuple(rows))


def _figures(row: Row) -> Plain:
    names = ("shots", "mean", "sd", "n", "m", "ci_low", "ci_high", "ci_method", "estimand")
    return {name: getattr(row, name) for name in (*names, *UNDER, "gold_version", "coverage")}


def _about(place: Place) -> Mapping[str, object]:
    entry = place.entry
    return {
        "rank": place.rank,
        "kind": entry.kind,
        "system": entry.name,
        "method": entry.method or None,
        "parameters": entry.parameters or None,
        "external_labelled": entry.uses_labelled,
        "external_unlabelled": entry.uses_unlabelled,
        "protocol": " ".join(entry.protocol) or None,
        "citation": entry.citation or None,
        "url": entry.url or None,
        "source": entry.source or None,
        "not_ranked": "; ".join(place.gaps) or None,
    }
