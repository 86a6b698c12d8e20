"""The board of episodes as tables: in FLEX's form, its figures one per row, every episode's result,
and the tests between its lines. Scores in percent."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext_lazy as _

from scoring.core.episodes import EpisodeScore
from scoring.episodes.board import EpisodeBoard, EpisodeEntry, EpisodeTest, place_name
from scoring.episodes.scores import HUMAN, SIMULATED, Who
from scoring.models import ProtocolTag
from scoring.tables.table import (
    Cell,
    Column,
    Group,
    Line,
    Table,
    Text,
    Value,
    lines_of,
    p_column,
    rounded,
)

PEOPLE = {HUMAN: "Human", SIMULATED: "Simulated annotators"}
WHO = (
    Column("who", _("Who"), is_number=False),
    Column("method", _("Method"), is_number=False),
    Column("study", _("Study"), is_number=False),
)
TASK = Column("task", _("Data set"), is_number=False)
LIMITS = (
    Column("ci_low", _("95 % low"), digits=1),
    Column("ci_high", _("95 % high"), digits=1),
)
# Without and with training examples, and over both.
OVERALL: dict[str, Text] = {"overall-0": "0", "overall-few": "few", "overall": _("both")}


def name_of(who: Who) -> str:
    return f"{PEOPLE[who.kind]}, {who.name}" if who.kind in PEOPLE else who.name


def board_table(board: EpisodeBoard) -> Table:
    """The board as a page shows it."""
    overall = Group(str(_("Overall")))
    return Table(
        "episodes-board",
        _("Board"),
        "",
        (
            Column("who", _("Who"), is_number=False, is_name=True),
            *(_score(key, heading, overall) for key, heading in OVERALL.items()),
            *(
                _score(place_name((task, few)), "few" if few else "0", Group(task))
                for task, few in board.places
            ),
        ),
        tuple(_line(board, entry) for entry in board.entries),
    )


def _score(key: str, heading: Text, group: Group) -> Column:
    return Column(key, heading, digits=1, is_strong=True, group=group)


def _line(board: EpisodeBoard, entry: EpisodeEntry) -> Line:
    running = _("(not finished)") if entry.is_running else ""
    protocol = ", ".join(str(ProtocolTag(tag).label) for tag in entry.protocol)
    who = Cell(
        name_of(entry.who),
        aside=" ".join(filter(None, [entry.who.method, str(running)])),
        note=protocol,
    )
    figures = {
        place_name(place): _cell(entry.figures[place], of)
        for place, of in board.places.items()
        if place in entry.figures
    }
    style = "people" if entry.who.kind in PEOPLE else "system"
    return Line({"who": who, **_overall(entry), **figures}, kind=style)


def _overall(entry: EpisodeEntry) -> dict[str, Value]:
    means = (entry.overall.zero, entry.overall.few, entry.overall.both)
    return {
        key: None if mean is None else 100 * mean for key, mean in zip(OVERALL, means, strict=True)
    }


def _cell(figure: EpisodeScore, of: int) -> Cell:
    beneath = []
    # One episode says nothing about others.
    if figure.episodes > 1:
        beneath.append(f"[{rounded(100 * figure.low)}–{rounded(100 * figure.high)}]")
    if figure.episodes < of:
        part = _("%(count)s of %(of)s episodes") % {"count": figure.episodes, "of": of}
        beneath.append(str(part))
    return Cell(100 * figure.mean, beneath=tuple(beneath))


def episode_tables(board: EpisodeBoard, tests: Sequence[EpisodeTest]) -> list[Table]:
    return [_wide(board), _long(board), _episodes(board), _tests(tests)]


def _wide(board: EpisodeBoard) -> Table:
    names = [place_name(place) for place in board.places]
    keys = [name + end for name in names for end in ("", "_ci_lower", "_ci_upper")]
    return Table(
        name="board",
        title=_("Board"),
        note=_("Mean accuracy over episodes; how far below and above it the interval reaches."),
        columns=(
            *WHO,
            Column("protocol", _("Protocol"), is_number=False),
            *(Column(key, key, digits=1) for key in (*keys, *OVERALL)),
        ),
        lines=lines_of(_wide_row(board, entry) for entry in board.entries),
    )


def _wide_row(board: EpisodeBoard, entry: EpisodeEntry) -> Mapping[str, Value]:
    row: dict[str, Value] = {**_who(entry.who), "protocol": ", ".join(entry.protocol)}
    for place in board.places:
        figure = entry.figures.get(place)
        if figure is not None:
            name = place_name(place)
            row[name] = 100 * figure.mean
            # As in FLEX's own table: distances from the mean.
            if figure.episodes > 1:
                row[name + "_ci_lower"] = 100 * (figure.mean - figure.low)
                row[name + "_ci_upper"] = 100 * (figure.high - figure.mean)
    return {**row, **_overall(entry)}


def _long(board: EpisodeBoard) -> Table:
    rows = [
        {
            **_who(entry.who),
            "task": place[0],
            "training": "few" if place[1] else "0",
            "mean": 100 * figure.mean,
            "sd_ddof0": 100 * figure.sd if figure.episodes > 1 else None,
            "ci_low": 100 * figure.low if figure.episodes > 1 else None,
            "ci_high": 100 * figure.high if figure.episodes > 1 else None,
            "episodes": figure.episodes,
            "of": board.places[place],
        }
        for entry in board.entries
        for place, figure in entry.figures.items()
    ]
    return Table(
        name="figures",
        title=_("Figures"),
        note=_("The SD over episodes (ddof 0), and a percentile bootstrap of 1,000 resamples."),
        columns=(
            *WHO,
            TASK,
            Column("training", _("Training"), is_number=False),
            Column("mean", _("Mean"), digits=1),
            Column("sd_ddof0", _("SD (ddof 0)"), digits=1),
            *LIMITS,
            Column("episodes", _("Episodes")),
            Column("of", _("of")),
        ),
        lines=lines_of(rows),
    )


def _episodes(board: EpisodeBoard) -> Table:
    rows = [
        {
            **_who(entry.who),
            "task": result.task,
            "episode": result.episode,
            "way": result.way,
            "shots": result.shots,
            "accuracy": 100 * result.score,
            "n": result.n,
            "items": result.items,
        }
        for entry in board.entries
        for result in entry.results
    ]
    return Table(
        name="episodes",
        title=_("Episodes"),
        note=_("The result of every episode: the mean over n annotators or runs."),
        columns=(
            *WHO,
            TASK,
            Column("episode", _("Episode")),
            Column("way", _("Classes")),
            Column("shots", _("Training examples")),
            Column("accuracy", _("Accuracy"), digits=1),
            Column("n", "n"),
            Column("items", _("Questions")),
        ),
        lines=lines_of(rows),
        is_folded=True,
    )


def _tests(tests: Sequence[EpisodeTest]) -> Table:
    rows: list[dict[str, Value]] = [
        {
            "first": name_of(test.first),
            "first_method": test.first.method,
            "second": name_of(test.second),
            "second_method": test.second.method,
            "place": place_name(test.place),
            "difference": 100 * test.difference,
            "sd_ddof0": 100 * test.sd,
            "ci_low": 100 * test.low,
            "ci_high": 100 * test.high,
            "episodes": test.episodes,
            "p": test.p,
            "p_holm": test.p_holm,
        }
        for test in tests
    ]
    return Table(
        name="tests",
        title=_("Tests on the same episodes"),
        note=_(
            "The first less the second, over the episodes that both finished: a bootstrap over "
            "episodes, and a sign-flip test with Holm's adjustment over all rows."
        ),
        columns=(
            Column("first", _("First"), is_number=False),
            Column("first_method", _("Method"), is_number=False),
            Column("second", _("Second"), is_number=False),
            Column("second_method", _("Method"), is_number=False),
            Column("place", _("Data set"), is_number=False),
            Column("difference", _("Difference"), digits=1),
            Column("sd_ddof0", _("SD (ddof 0)"), digits=1),
            *LIMITS,
            Column("episodes", _("Episodes")),
            p_column("p", _("p, sign flips")),
            p_column("p_holm", _("p, Holm")),
        ),
        lines=lines_of(rows),
        is_folded=True,
    )


def _who(who: Who) -> Mapping[str, Value]:
    return {"who": name_of(who), "method": who.method, "study": who.study}
