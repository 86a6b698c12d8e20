"""The board of episodes as tables: in FLEX's form, its figures one a row, every episode's
result, and the tests between its lines. Scores in percent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from scoring.comparison.sheets import Column, Plain, Sheet
from scoring.core.episodes import EpisodeScore
from scoring.episodes.board import EpisodeBoard, EpisodeEntry, EpisodeTest, place_name
from scoring.episodes.scores import HUMAN, SIMULATED, Who
from scoring.models import ProtocolTag

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


def name_of(who: Who) -> str:
    return f"{PEOPLE[who.kind]}, {who.name}" if who.kind in PEOPLE else who.name


@dataclass(frozen=True)
class Head:
    """A data set over its columns."""

    title: str
    columns: tuple[str, ...]

    @property
    def span(self) -> int:
        return len(self.columns)


@dataclass(frozen=True)
class EpisodeCell:
    mean: str
    interval: str = ""
    # How many of the episodes, where some are missing.
    part: str = ""


@dataclass(frozen=True)
class EpisodeLine:
    name: str
    method: str
    protocol: str
    style: str
    is_running: bool
    cells: tuple[EpisodeCell | None, ...]


@dataclass(frozen=True)
class EpisodeLines:
    """The board as a page shows it."""

    heads: tuple[Head, ...]
    rows: tuple[EpisodeLine, ...]

    def __bool__(self) -> bool:
        return bool(self.rows)


def board_lines(board: EpisodeBoard) -> EpisodeLines:
    shots = {
        task: tuple("few" if few else "0" for each, few in board.places if each == task)
        for task in board.tasks
    }
    overall = Head(str(_("Overall")), ("0", "few", str(_("both"))))
    return EpisodeLines(
        heads=(overall, *(Head(task, columns) for task, columns in shots.items())),
        rows=tuple(_line(board, entry) for entry in board.entries),
    )


def _line(board: EpisodeBoard, entry: EpisodeEntry) -> EpisodeLine:
    over = entry.overall
    return EpisodeLine(
        name=name_of(entry.who),
        method=entry.who.method,
        protocol=", ".join(str(ProtocolTag(tag).label) for tag in entry.protocol),
        style="people" if entry.who.kind in PEOPLE else "system",
        is_running=entry.is_running,
        cells=(
            *(
                None if mean is None else EpisodeCell(f"{100 * mean:.1f}")
                for mean in (over.zero, over.few, over.both)
            ),
            *(_cell(entry.figures.get(place), of) for place, of in board.places.items()),
        ),
    )


def _cell(figure: EpisodeScore | None, of: int) -> EpisodeCell | None:
    if figure is None:
        return None
    part = _("%(count)s of %(of)s episodes") % {"count": figure.episodes, "of": of}
    return EpisodeCell(
        mean=f"{100 * figure.mean:.1f}",
        # One episode says nothing of others.
        interval=f"{100 * figure.low:.1f}–{100 * figure.high:.1f}" if figure.episodes > 1 else "",
        part=part if figure.episodes < of else "",
    )


def episode_sheets(board: EpisodeBoard, tests: Sequence[EpisodeTest]) -> list[Sheet]:
    return [_wide(board), _long(board), _episodes(board), _tests(tests)]


def _wide(board: EpisodeBoard) -> Sheet:
    names = [place_name(place) for place in board.places]
    keys = [name + end for name in names for end in ("", "_ci_lower", "_ci_upper")]
    overall = ("overall-0", "overall-few", "overall")
    return Sheet(
        name="board",
        title=_("Board"),
        note=_("Mean accuracy over episodes; how far below and above it the interval reaches."),
        columns=(
            *WHO,
            Column("protocol", _("Protocol"), is_number=False),
            *(Column(key, key, digits=1) for key in (*keys, *overall)),
        ),
        rows=tuple(_wide_row(board, entry) for entry in board.entries),
    )


def _wide_row(board: EpisodeBoard, entry: EpisodeEntry) -> Plain:
    row: dict[str, Any] = {**_who(entry.who), "protocol": ", ".join(entry.protocol)}
    for place in board.places:
        figure = entry.figures.get(place)
        if figure is not None:
            name = place_name(place)
            row[name] = 100 * figure.mean
            # As FLEX's own table: distances from the mean.
            if figure.episodes > 1:
                row[name + "_ci_lower"] = 100 * (figure.mean - figure.low)
                row[name + "_ci_upper"] = 100 * (figure.high - figure.mean)
    over = entry.overall
    means = {"overall-0": over.zero, "overall-few": over.few, "overall": over.both}
    return {**row, **{name: None if mean is None else 100 * mean for name, mean in means.items()}}


def _long(board: EpisodeBoard) -> Sheet:
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
    return Sheet(
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
        rows=tuple(rows),
    )


def _episodes(board: EpisodeBoard) -> Sheet:
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
    return Sheet(
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
        rows=tuple(rows),
        folded=True,
    )


def _tests(tests: Sequence[EpisodeTest]) -> Sheet:
    rows = [
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
    return Sheet(
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
            Column("p", _("p, sign flips")),
            Column("p_holm", _("p, Holm")),
        ),
        rows=tuple(rows),
        folded=True,
    )


def _who(who: Who) -> Plain:
    return {"who": name_of(who), "method": who.method, "study": who.study}
