"""A leaderboard as tables, as exported: every figure unrounded, under stable names."""

from dataclasses import replace

from scoring.cells.rows import BY_KEY, Row
from scoring.leaderboard.board import Board
from scoring.leaderboard.rules import SHOTS, SORTED_BY, Ranking
from scoring.tables.table import Column, Table, Value, lines_of

# What every score names.
UNDER = ("references", "normalisation")

_ABOUT = tuple(
    Column(key, heading, meaning, is_number=False)
    for key, heading, meaning in (
        ("kind", "Kind", "system, people or no_skill (an answer without a look at the question)."),
        ("system", "System", "The system's name, or that of the people or the rule."),
        ("method", "Method", "FT, PT, ICL or another way of adapting a system."),
        ("parameters", "Parameters", "The system's size, as its submitter states it."),
        (
            "external_labelled",
            "External labelled",
            "Whether it uses labelled data beyond the shots; empty if not stated.",
        ),
        (
            "external_unlabelled",
            "External unlabelled",
            "Whether it uses further unlabelled data; empty if not stated.",
        ),
        ("protocol", "Protocol", "How it was prepared before the test, in FLEX's categories."),
        ("citation", "Citation", "What to cite for it."),
        ("url", "Address", "Where to read about it."),
        ("source", "Published in", "Where its figures were published; empty if scored here."),
        ("not_ranked", "Not ranked because", "What keeps it from a rank."),
    )
)
RANK = Column("rank", "Rank", f"By the mean at {SORTED_BY} shots, among systems that lack nothing.")
# Under their stable names, as the comparison explains them.
_FIGURES = tuple(
    replace(BY_KEY[key], heading=key)
    for key in ("mean", "sd", "n", "m", "ci_low", "ci_high", "ci_method", "estimand", *UNDER)
)


def exported_tables(board: Board) -> list[Table]:
    return [_averages(board), _figures(board)]


def _averages(board: Board) -> Table:
    columns = (
        BY_KEY["shots"],
        RANK,
        *_ABOUT,
        Column("mean", "Average", "Mean of the task means, in percent.", digits=1),
        Column(
            "sd",
            "SD of the average",
            "√(Σ sd²)/T over the T tasks; empty if an SD is missing.",
            digits=1,
        ),
        Column(
            "clues_root_sum_sd",
            "Root of the summed squared SDs (CLUES)",
            "√(Σ sd²), as the CLUES board prints it.",
            digits=1,
        ),
        Column("tasks", "Tasks", "The tasks that the average is over.", is_number=False),
        BY_KEY["references"],
        replace(BY_KEY["normalisation"], key="normalisations"),
    )
    rows = [
        {
            "shots": shots,
            **_about(line.ranking),
            # The rank is by one number of shots, and is given only there.
            "rank": line.ranking.rank if shots == SORTED_BY else None,
            "mean": average.mean if average else None,
            "sd": average.sd if average else None,
            "clues_root_sum_sd": average.clues_sd if average else None,
            "tasks": " ".join(board.chosen),
            "references": " ".join(average.references) if average else None,
            "normalisations": " ".join(average.normalisations) if average else None,
        }
        for shots in reversed(SHOTS)
        for line in board.over_tasks
        for average in [line.averages.get(shots)]
        if average or shots == SORTED_BY
    ]
    note = (
        "Mean of the task means of those who have all of these tasks; ranked by the mean at "
        f"{SORTED_BY} shots. The SD of the average is the root of the summed squared SDs, divided "
        "by the number of tasks; the CLUES board prints the root itself."
    )
    table = Table("averages", "Average over tasks", note, columns, lines_of(rows))
    chosen = {" ".join(board.chosen): ", ".join(map(board.name, board.chosen))}
    return table.with_names("tasks", chosen)


def _figures(board: Board) -> Table:
    columns = (
        BY_KEY["task"],
        RANK,
        *_ABOUT,
        BY_KEY["shots"],
        *_FIGURES,
        BY_KEY["gold_version"],
        BY_KEY["coverage"],
    )
    rows = [
        {"task": on_task.task, **_about(ranking), **_figures_of(row)}
        for on_task in board.by_task
        for ranking in on_task.rankings
        for shots in on_task.shots
        for row in [ranking.entry.row(on_task.task, shots)]
        if row
    ]
    note = (
        f"S1 in percent; ranked on each task by the mean at {SORTED_BY} shots. The SD of people is "
        "over annotators, that of systems over runs; a published figure is as published."
    )
    table = Table("figures", "Figures by task and shots", note, columns, lines_of(rows))
    return table.with_names("task", board.names)


def _figures_of(row: Row) -> dict[str, Value]:
    names = ("shots", "mean", "sd", "n", "m", "ci_low", "ci_high", "ci_method", "estimand")
    return {name: getattr(row, name) for name in (*names, *UNDER, "gold_version", "coverage")}


def _about(ranking: Ranking) -> dict[str, Value]:
    entry = ranking.entry
    return {
        "rank": ranking.rank,
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
        "not_ranked": "; ".join(ranking.gaps) or None,
    }
