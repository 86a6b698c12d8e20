"""A leaderboard as tables: as on its page; and exported, unrounded, under stable names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from django.utils.text import Truncator

from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.comparison.paper_tables import NOTES, marks_of
from scoring.leaderboard.board import Board, TaskBoard
from scoring.leaderboard.rules import FLOOR, PEOPLE, SYSTEM, Entry, Ranking
from scoring.models import FULLY_SUPERVISED, ProtocolTag, method_label
from scoring.tables.documents import ALL
from scoring.tables.table import (
    SECTION,
    Cell,
    Column,
    Line,
    Table,
    Value,
    columns_in,
    lines_of,
    values_of,
    words,
)

# The last one only if anybody states it.
ABOUT = (
    words("labelled", "External labelled"),
    words("unlabelled", "External unlabelled"),
    words("protocol", "Protocol"),
)
AVERAGE = "average"
STYLES = {SYSTEM: "system", PEOPLE: "people", FLOOR: "bound"}
MOST_CITED = 160


def board_tables(board: Board) -> list[Table]:
    first = [_over_tasks(board)] if len(board.chosen) > 1 else []
    return [*first, *(_on_task(each, board.name(each.task)) for each in board.by_task)]


def paper_tables(board: Board, name: str) -> list[Table]:
    """What a paper prints of an exported table, or of all: as the page shows it at first."""
    shown = [
        table.without(set(table.keys) - set(usual_columns(table))) for table in board_tables(board)
    ]
    by_task = [table for table in shown if table.name != AVERAGE]
    over_tasks = [table for table in shown if table.name == AVERAGE]
    return {"averages": over_tasks or by_task, "figures": by_task, ALL: shown}.get(name, [])


def _over_tasks(board: Board) -> Table:
    sorted_by = board.rule.sorted_by
    others = [shots for shots in board.rule.shots if shots != sorted_by]
    scores = {
        "average": f"Average, {_shots(sorted_by)}",
        "sd": f"SD of the average: √(Σ SD²) / {len(board.chosen)}",
        "clues_sd": "√(Σ SD²), as the CLUES board prints",
        **{task: f"{name}, {_shots(sorted_by)}" for task, name in board.named(board.chosen)},
    }
    return _table(
        AVERAGE,
        f"Average over {len(board.chosen)} tasks",
        "",
        scores,
        [(ranking, _cells_over_tasks(ranking, board)) for ranking in board.over_tasks],
        further={str(shots): f"Average, {_shots(shots)}" for shots in reversed(others)},
    )


def _cells_over_tasks(ranking: Ranking, board: Board) -> dict[str, Cell]:
    entry, averages = ranking.entry, ranking.averages
    sorted_by = board.rule.sorted_by
    rows = [entry.row(task, sorted_by) for task in board.chosen]
    cells = {str(shots): Cell(average.mean) for shots, average in averages.items()}
    if best := averages.get(sorted_by):
        # An average is as uncertain as its parts.
        marks = "".join(dict.fromkeys(mark for row in rows if row for mark in marks_of(row)))
        cells["average"] = Cell(best.mean, marks=marks)
        cells |= {"sd": Cell(best.sd), "clues_sd": Cell(best.clues_sd)}
    every = [row for row in entry.rows if row.task in board.chosen]
    return {
        **cells,
        **{row.task: _cell(row) for row in rows if row and row.mean is not None},
        "who": _who(ranking, published=_sources(every)),
    }


def _on_task(board: TaskBoard, name: str) -> Table:
    # The column that orders, then down to the fewest; fully supervised is not a few-shot figure.
    few = [count for count in board.shots if count != FULLY_SUPERVISED]
    shots = [*reversed(few), *(count for count in board.shots if count not in few)]
    return _table(
        board.task,
        name,
        f"references: {board.scored_under}" if board.scored_under else "",
        {count: _shots(count) for count in shots},
        [(ranking, _cells_on_task(ranking, board.task, shots)) for ranking in board.rankings],
    )


def _cells_on_task(ranking: Ranking, task: str, shots: Sequence[str]) -> dict[str, Cell]:
    rows = {count: row for count in shots if (row := ranking.entry.row(task, count))}
    sources = _sources(rows.values())
    # For no skill, the source is the rule that its answers follow.
    is_floor = ranking.entry.kind == FLOOR
    who = _who(ranking, rule=sources) if is_floor else _who(ranking, published=sources)
    known = {count: row for count, row in rows.items() if row.mean is not None}
    return {**{count: _cell(row, in_full=True) for count, row in known.items()}, "who": who}


def usual_columns(table: Table) -> list[str]:
    """What is in sight at first."""
    about = {"sd", "clues_sd", *(column.key for column in ABOUT)}
    further = {key for key in table.keys if key.isdecimal()} if table.name == AVERAGE else set()
    return [key for key in table.keys if key not in about | further]


def _table(
    name: str,
    title: str,
    note: str,
    scores: Mapping[str, str],
    lines: Sequence[tuple[Ranking, dict[str, Cell]]],
    *,
    further: Mapping[str, str] | None = None,
) -> Table:
    """The first score orders; further ones come after what is known about the system."""
    about = ABOUT if any(ranking.entry.protocol for ranking, _ in lines) else ABOUT[:-1]
    first, *rest = (Column(key, heading, digits=1) for key, heading in scores.items())
    columns = (
        words("who", "Who", is_name=True),
        replace(first, is_strong=True, sort="descending"),
        *(*rest, *about),
        *(Column(key, heading, digits=1) for key, heading in (further or {}).items()),
    )
    return Table(name, title, note, columns, tuple(_ranked_first(lines)), marks=NOTES)


def _ranked_first(lines: Sequence[tuple[Ranking, dict[str, Cell]]]) -> Iterable[Line]:
    ranked = [line for line in lines if not line[0].is_unranked]
    unranked = [line for line in lines if line[0].is_unranked]
    if not ranked:
        yield Line({"who": "No entries yet."}, kind=SECTION)
    yield from (_line(*line) for line in ranked)
    if unranked:
        yield Line({"who": "Not ranked"}, kind=SECTION)
    yield from (_line(*line) for line in unranked)


def _line(ranking: Ranking, cells: Mapping[str, Cell]) -> Line:
    entry = ranking.entry
    return Line(
        {
            **cells,
            "labelled": _told(entry, entry.uses_labelled),
            "unlabelled": _told(entry, entry.uses_unlabelled),
            "protocol": ", ".join(str(ProtocolTag(tag).label) for tag in entry.protocol),
        },
        kind=STYLES[entry.kind],
    )


def _told(entry: Entry, uses: bool | None) -> Value:
    """Tell it of systems only."""
    return ("not told" if uses is None else uses) if entry.kind == SYSTEM else ""


def _who(ranking: Ranking, *, published: str = "", rule: str = "") -> Cell:
    entry = ranking.entry
    size = f"({entry.parameters})" if entry.parameters else ""
    beneath = (
        f"published: {published}" if entry.source else "",
        Truncator(entry.citation).chars(MOST_CITED),
        "still running: only researchers see this line" if entry.is_running else "",
        rule,
        *ranking.gaps,
    )
    return Cell(
        entry.name,
        aside=" ".join(filter(None, [method_label(entry.method), size])),
        beneath=tuple(filter(None, beneath)),
        rank=ranking.rank,
        href=entry.url,
    )


def _sources(rows: Iterable[Row]) -> str:
    return "; ".join(dict.fromkeys(row.source for row in rows if row.source))


def _shots(shots: int | str) -> str:
    return "fully supervised" if shots == FULLY_SUPERVISED else f"{shots} shots"


def _cell(row: Row, *, in_full: bool = False) -> Cell:
    has_size = in_full and row.kind in (RowKind.HUMAN, RowKind.ELSEWHERE)
    return Cell(
        row.mean,
        sd=row.sd,
        low=row.ci_low if in_full else None,
        high=row.ci_high if in_full else None,
        marks=marks_of(row),
        beneath=(f"n = {row.n}",) if has_size else (),
    )


_ABOUT = tuple(columns_in(__file__, "about").values())
_AVERAGES = tuple(columns_in(__file__, "averages").values())
RANK = Column("rank", "Rank", "By the mean at the most shots, among systems that lack nothing.")
# Under their stable names, as the comparison explains them.
_EXPORTED = tuple(
    replace(BY_KEY[key], heading=key)
    for key in (
        *("mean", "sd", "n", "m", "ci_low", "ci_high"),
        *("ci_method", "estimand", "references", "normalisation"),
    )
)


def exported_tables(board: Board) -> list[Table]:
    return [_exported_averages(board), _exported_figures(board)]


def _exported_averages(board: Board) -> Table:
    columns = (
        *(BY_KEY["shots"], RANK, *_ABOUT, *_AVERAGES),
        words("tasks", "Tasks", "The tasks that the average is over."),
        BY_KEY["references"],
        replace(BY_KEY["normalisation"], key="normalisations"),
    )
    rows = [
        {
            "shots": shots,
            **_about(ranking),
            # The rank is by one number of shots, and is given only there.
            "rank": ranking.rank if shots == board.rule.sorted_by else None,
            **values_of(_AVERAGES, average),
            "tasks": " ".join(board.chosen),
            "references": " ".join(average.references) if average else None,
            "normalisations": " ".join(average.normalisations) if average else None,
        }
        for shots in reversed(board.rule.shots)
        for ranking in board.over_tasks
        for average in [ranking.averages.get(shots)]
        if average or shots == board.rule.sorted_by
    ]
    note = (
        "Mean of the task means of those who have all of these tasks; ranked by the mean at "
        f"{board.rule.sorted_by} shots. The SD of the average is the root of the summed squared "
        "SDs, divided by the number of tasks; the CLUES board prints the root itself."
    )
    table = Table("averages", "Average over tasks", note, columns, lines_of(rows))
    chosen = {" ".join(board.chosen): ", ".join(map(board.name, board.chosen))}
    return table.with_names("tasks", chosen)


def _exported_figures(board: Board) -> Table:
    figures = (BY_KEY["shots"], *_EXPORTED, BY_KEY["gold_version"], BY_KEY["coverage"])
    rows = [
        {"task": on_task.task, **_about(ranking), **values_of(figures, row)}
        for on_task in board.by_task
        for ranking in on_task.rankings
        for shots in on_task.shots
        for row in [ranking.entry.row(on_task.task, shots)]
        if row
    ]
    note = (
        f"S1 in percent; ranked on each task by the mean at {board.rule.sorted_by} shots. The SD "
        "of people is over annotators, that of systems over runs; a published figure is as "
        "published."
    )
    columns = (BY_KEY["task"], RANK, *_ABOUT, *figures)
    table = Table("figures", "Figures by task and shots", note, columns, lines_of(rows))
    return table.with_names("task", board.names)


def _about(ranking: Ranking) -> dict[str, Value]:
    entry = ranking.entry
    said = values_of(_ABOUT, entry)
    said |= {"protocol": " ".join(entry.protocol), "not_ranked": "; ".join(ranking.gaps)}
    known = {key: None if value == "" else value for key, value in said.items()}
    return {"rank": ranking.rank, **known}
