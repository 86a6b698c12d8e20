"""The board of episodes as tables: in FLEX's form, its figures one per row, every episode's result,
and the tests between its lines. Scores in percent."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

from django.utils import translation

from annotation.jobs import files, queue
from annotation.models import Benchmark, Job
from annotation.models.errors import Refusal
from scoring.cells.rows import BY_KEY
from scoring.cells.scope import ordered
from scoring.core.bootstrap import COVERS_LESS, ENOUGH_EPISODES, EpisodeScore
from scoring.episodes.board import (
    PEOPLE,
    EpisodeBoard,
    EpisodeEntry,
    EpisodeTest,
    episode_board,
    paired_tests,
    setting_name,
)
from scoring.models import ProtocolTag, method_label
from scoring.tables.documents import FORMATS, chosen
from scoring.tables.table import (
    Cell,
    Column,
    Group,
    Line,
    Table,
    Value,
    lines_of,
    p_column,
    points,
    rounded,
    values_of,
    words,
)

EXPORT = "export_episodes"
METHOD = BY_KEY["method"]
WHO = (
    words("who", "Who", "The system's name, or the people of a study.", source="who.label"),
    METHOD.under("method", source="who.method"),
    BY_KEY["study"].under("study", source="who.study"),
)
TASK = words("task", "Data set", "The task's slug.")
LIMITS = (
    Column("ci_low", "95 % low", "Lower limit, by bootstrap over episodes.", digits=1),
    Column("ci_high", "95 % high", "Upper limit, by bootstrap over episodes.", digits=1),
)
SPREAD = points("sd_ddof0", "SD (ddof 0)", "SD over episodes (ddof 0), in percent points.")
TESTED = (
    words("first", "First", "One line of the board.", source="first.label"),
    METHOD.under("first_method", source="first.method"),
    words("second", "Second", "Another line of the board.", source="second.label"),
    METHOD.under("second_method", source="second.method"),
    words("place", "Data set", "The data set, without training examples (0) or with some (few)."),
    points("difference", "Difference", "The first less the second, in percent points."),
    SPREAD,
    *LIMITS,
    Column("episodes", "Episodes", "Episodes that both finished.", source="score.episodes"),
    p_column("p", "p", "Two-sided p value of the paired t test over episodes."),
    p_column("p_holm", "p, Holm", "Adjusted by Holm's method over this table."),
)
# Without and with training examples, and over both.
OVERALL: dict[str, str] = {"overall-0": "0", "overall-few": "few", "overall": "both"}
# In FLEX's own table, by what the key ends with.
WIDE: dict[str, str] = {
    "": "Mean accuracy in percent over episodes.",
    "_ci_lower": "How far below the mean its interval reaches, in percent points.",
    "_ci_upper": "How far above the mean its interval reaches, in percent points.",
}


def board_table(board: EpisodeBoard) -> Table:
    overall = Group("Overall")
    score = partial(Column, digits=1, is_strong=True)
    columns = (
        words("who", "Who", is_name=True),
        *(score(key, heading, group=overall) for key, heading in OVERALL.items()),
        *(
            score(setting_name((task, few)), "few" if few else "0", group=Group(board.name(task)))
            for task, few in board.settings
        ),
    )
    lines = tuple(_line(board, entry) for entry in board.entries)
    return Table("episodes-board", "Board", "", columns, lines)


def _line(board: EpisodeBoard, entry: EpisodeEntry) -> Line:
    running = "(not finished)" if entry.is_running else ""
    who = Cell(
        entry.who.label,
        aside=" ".join(filter(None, [method_label(entry.who.method), running])),
        note=", ".join(str(ProtocolTag(tag).label) for tag in entry.protocol),
    )
    figures = {
        setting_name(setting): _cell(entry.figures[setting], of)
        for setting, of in board.settings.items()
        if setting in entry.figures
    }
    style = "people" if entry.who.kind in PEOPLE else "system"
    return Line({"who": who, **_overall(entry), **figures}, kind=style)


def _has_spread(figure: EpisodeScore) -> bool:
    """One episode says nothing about others, and to some readers the spread is not shown."""
    return figure.episodes > 1 and not isnan(figure.sd)


def _spread(figure: EpisodeScore) -> dict[str, Value]:
    return {
        "sd_ddof0": _percent(figure.sd),
        "ci_low": _percent(figure.low),
        "ci_high": _percent(figure.high),
    }


def _percent(score: float) -> float:
    """Round off the last digits, which are the computer's: a rounded score must look like one."""
    return round(100 * score, 10)


def _overall(entry: EpisodeEntry) -> dict[str, Value]:
    return {
        key: None if mean is None else _percent(mean)
        for key, mean in zip(OVERALL, entry.overall, strict=True)
    }


def _cell(figure: EpisodeScore, of: int) -> Cell:
    beneath = []
    if _has_spread(figure):
        less = ", covers less" if figure.episodes < ENOUGH_EPISODES else ""
        beneath.append(f"[{rounded(_percent(figure.low))}–{rounded(_percent(figure.high))}]{less}")
    if figure.episodes < of:
        beneath.append(f"{figure.episodes} of {of} episodes")
    return Cell(_percent(figure.mean), beneath=tuple(beneath))


# The names of the tables, as addresses carry them.
NAMES = ("board", "figures", "episodes", "tests")


def episode_tables(board: EpisodeBoard, tests: Sequence[EpisodeTest]) -> list[Table]:
    places = {
        setting_name((task, few)): setting_name((board.name(task), few))
        for task, few in board.settings
    }
    return [
        _wide(board),
        _long(board).with_names("task", board.names),
        _episodes(board).with_names("task", board.names),
        _tests(tests).with_names("place", places),
    ]


def _wide(board: EpisodeBoard) -> Table:
    names = [setting_name(setting) for setting in board.settings]
    figures = [(name + end, meaning) for name in names for end, meaning in WIDE.items()]
    figures += [(key, "Mean over data sets, in percent.") for key in OVERALL]
    return Table(
        name="board",
        title="Board",
        note=f"Mean accuracy; how far below and above it the interval reaches. {COVERS_LESS}",
        columns=(
            *WHO,
            words(
                *("protocol", "Protocol"),
                "How the system was prepared before the test, in FLEX's categories.",
            ),
            *(Column(key, key, meaning, digits=1) for key, meaning in figures),
        ),
        lines=lines_of(map(_wide_row, board.entries)),
    )


def _wide_row(entry: EpisodeEntry) -> Mapping[str, Value]:
    row = {**values_of(WHO, entry), "protocol": ", ".join(entry.protocol), **_overall(entry)}
    for setting, figure in entry.figures.items():
        name = setting_name(setting)
        row[name] = _percent(figure.mean)
        # As in FLEX's own table: distances from the mean.
        if _has_spread(figure):
            row[name + "_ci_lower"] = _percent(figure.mean - figure.low)
            row[name + "_ci_upper"] = _percent(figure.high - figure.mean)
    return row


def _long(board: EpisodeBoard) -> Table:
    rows = [
        {
            **values_of(WHO, entry),
            "task": setting[0],
            "training": "few" if setting[1] else "0",
            "mean": _percent(figure.mean),
            **(_spread(figure) if _has_spread(figure) else {}),
            "episodes": figure.episodes,
            "of": board.settings[setting],
        }
        for entry in board.entries
        for setting, figure in entry.figures.items()
    ]
    return Table(
        name="figures",
        title="Figures",
        note=f"SD over episodes (ddof 0); percentile bootstrap of 1,000 resamples. {COVERS_LESS}",
        columns=(
            *WHO,
            TASK,
            words("training", "Training", "0: episodes without training examples; few: with some."),
            Column("mean", "Mean", "Mean accuracy in percent over episodes.", digits=1),
            SPREAD,
            *LIMITS,
            Column("episodes", "Episodes", "Episodes that were finished."),
            Column("of", "of", "Episodes that there are."),
        ),
        lines=lines_of(rows),
    )


def _episodes(board: EpisodeBoard) -> Table:
    columns = (
        *WHO,
        TASK,
        Column("episode", "Episode", "The episode's number."),
        Column("way", "Classes", "Classes to choose from."),
        Column("shots", "Training examples", "Training examples of the episode."),
        points("accuracy", "Accuracy", "Mean accuracy in percent."),
        Column("n", "n", "Annotators or runs that finished the episode."),
        Column("items", "Questions", "Test questions of the episode."),
    )
    return Table(
        name="episodes",
        title="Episodes",
        note="The result of every episode: the mean over n annotators or runs.",
        columns=columns,
        lines=lines_of(
            {**values_of(columns, result), "accuracy": _percent(result.score)}
            for entry in board.entries
            for result in entry.results
        ),
    )


def _tests(tests: Sequence[EpisodeTest]) -> Table:
    return Table(
        name="tests",
        title="Tests on the same episodes",
        note="The first less the second, over the episodes that both finished: a bootstrap over "
        f"episodes, and a paired t test with Holm's adjustment over all rows. {COVERS_LESS}",
        columns=TESTED,
        lines=lines_of(map(_tested, tests)),
    )


def _tested(test: EpisodeTest) -> dict[str, Value]:
    return {
        **values_of(TESTED, test),
        "place": setting_name(test.setting),
        "difference": _percent(test.score.mean),
        **_spread(test.score),
    }


# What a reader chose, and may see: as `episode_board` takes it.
SEEN = ("protocol", "for_researchers", "sees_gold")


def export_board(
    benchmark: Benchmark,
    table: str,
    form: str,
    seen: Mapping[str, Any],
    *,
    tell: Callable[[], None] = lambda: None,
) -> bytes | None:
    """One table, or all of them; None if there is no such table."""
    board = episode_board(benchmark, **seen)
    with translation.override("en"):  # as all documents
        tables = chosen(episode_tables(board, paired_tests(board, tell=tell)), table, form)
    return FORMATS[form].write(tables) if board.settings and tables else None


@queue.runs(EXPORT)
def write_board(job: Job, progress: queue.Progress) -> queue.Result:
    """Arguments: benchmark, its id, choices, table, form, and what its reader may see."""
    benchmark, arguments = ordered(job)[0].benchmark, job.arguments
    table, form = arguments["table"], arguments["form"]
    seen = {name: arguments[name] for name in SEEN}
    document = export_board(benchmark, table, form, seen, tell=lambda: progress(0, 0))
    if document is None:
        raise Refusal("There is no such table: choose another one on the page of the board.")
    return files.keep(job, file_name(benchmark, table, form), [document])


def file_name(benchmark: Benchmark, table: str, form: str) -> str:
    return f"{table}-{benchmark.name}.{FORMATS[form].extension}"
