"""The board of a benchmark of episodes, in FLEX's form: zero-shot and few-shot for each data set,
over data sets, and overall.

A figure is the mean over episodes, with their SD (ddof 0) and a percentile bootstrap over them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotation.models import Benchmark, Study
from scoring.core.bootstrap import SEED
from scoring.core.comparison import holm, sign_flip_p
from scoring.core.episodes import EpisodeScore, episode_score
from scoring.episodes.scores import EpisodeReader, EpisodeResult, Who, system_of
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies

# A data set, and whether its episodes have training examples.
Place = tuple[str, bool]


def place_name(place: Place) -> str:
    """Its name on FLEX's board."""
    task, few = place
    return f"{task}-{'few' if few else '0'}"


@dataclass(frozen=True)
class Overall:
    """Means over the data sets of the board, and of both; None where something is missing."""

    zero: float | None
    few: float | None
    both: float | None


@dataclass(frozen=True)
class EpisodeEntry:
    """One line of the board."""

    who: Who
    protocol: tuple[str, ...]
    # Its study is still running, or its annotators are simulated: only researchers see such a line.
    is_running: bool
    results: tuple[EpisodeResult, ...]
    figures: Mapping[Place, EpisodeScore]
    overall: Overall


@dataclass(frozen=True)
class EpisodeTest:
    """Two lines of the board on the same episodes; the first's mean less the second's, in [0,
    1]."""

    first: Who
    second: Who
    place: Place
    difference: float
    sd: float
    low: float
    high: float
    episodes: int
    p: float
    p_holm: float


@dataclass(frozen=True)
class EpisodeBoard:
    benchmark: str
    # How many episodes there are in each column.
    places: Mapping[Place, int]
    entries: tuple[EpisodeEntry, ...]

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(task for task, _ in self.places))


def episode_board(
    benchmark: Benchmark,
    *,
    protocol: str = "",
    for_researchers: bool = False,
    simulated: bool = False,
    seed: int = SEED,
) -> EpisodeBoard:
    """Systems and people whose figures are approved, best first; with a protocol, only its systems.
    Researchers see the people of running studies too."""
    reader = EpisodeReader(benchmark)
    places = dict(sorted(reader.counts().items()))
    runs = standing_runs(benchmark).filter(episode__isnull=False).select_related("owner")
    wanted = [run for run in runs.order_by("pk") if not protocol or protocol in run.protocol]
    tags: dict[Who, set[str]] = defaultdict(set)
    for run in wanted:
        tags[system_of(run)].update(run.protocol)
    standing = [*reader.of_systems(wanted), *_people(reader, standing_studies(benchmark))]
    running = _people(reader, running_studies(benchmark)) if for_researchers else []
    if simulated:
        running += _people(reader, benchmark.studies.order_by("pk"), simulated=True)
    entries = [
        _entry(who, those, places, protocol=tags[who], is_running=not stands, seed=seed)
        for stands, results in ((True, standing), (False, running))
        for who, those in _by_who(results).items()
    ]
    return EpisodeBoard(benchmark.name, places, tuple(sorted(entries, key=_order)))


def _people(
    reader: EpisodeReader, studies: Iterable[Study], *, simulated: bool = False
) -> list[EpisodeResult]:
    return [result for study in studies for result in reader.of_people(study, simulated=simulated)]


def paired_tests(board: EpisodeBoard, *, seed: int = SEED) -> list[EpisodeTest]:
    """Every pair of lines in every column, on the episodes that both finished: an interval by
    bootstrap over episodes, and a sign-flip test with Holm's adjustment over the whole family."""
    tests = [
        test
        for first, second in combinations(board.entries, 2)
        for place in board.places
        for test in _test(first, second, place, seed)
    ]
    adjusted = holm([each.p for each in tests])
    return [replace(each, p_holm=float(p)) for each, p in zip(tests, adjusted, strict=True)]


def _by_who(results: Iterable[EpisodeResult]) -> dict[Who, list[EpisodeResult]]:
    groups: dict[Who, list[EpisodeResult]] = defaultdict(list)
    for result in results:
        groups[result.who].append(result)
    return groups


def _entry(
    who: Who,
    results: Sequence[EpisodeResult],
    places: Iterable[Place],
    *,
    protocol: Iterable[str],
    is_running: bool,
    seed: int,
) -> EpisodeEntry:
    ordered = tuple(sorted(results, key=lambda each: (each.task, each.episode)))
    scores: dict[Place, list[float]] = defaultdict(list)
    for result in ordered:
        scores[result.task, result.is_few].append(result.score)
    figures = {
        place: episode_score(those, rng=np.random.default_rng(seed))
        for place, those in scores.items()
    }
    return EpisodeEntry(
        who=who,
        protocol=tuple(sorted(protocol)),
        is_running=is_running,
        results=ordered,
        figures=figures,
        overall=_overall(figures, places),
    )


def _overall(figures: Mapping[Place, EpisodeScore], places: Iterable[Place]) -> Overall:
    means = {}
    for few in (False, True):
        wanted = [place for place in places if place[1] == few]
        means[few] = _mean([figures[place].mean if place in figures else None for place in wanted])
    there = [means[few] for few in (False, True) if any(place[1] == few for place in places)]
    return Overall(zero=means[False], few=means[True], both=_mean(there))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _order(entry: EpisodeEntry) -> tuple[bool, float, str, str]:
    """The highest overall mean first; those without one last."""
    both = entry.overall.both
    return both is None, -(both or 0), entry.who.name, entry.who.method


def _test(
    first: EpisodeEntry, second: EpisodeEntry, place: Place, seed: int
) -> Iterator[EpisodeTest]:
    ours, theirs = (
        {
            result.episode: result.score
            for result in entry.results
            if (result.task, result.is_few) == place
        }
        for entry in (first, second)
    )
    differences = [ours[episode] - theirs[episode] for episode in ours if episode in theirs]
    if len(differences) < 2:
        return
    found = episode_score(differences, rng=np.random.default_rng(seed))
    yield EpisodeTest(
        first=first.who,
        second=second.who,
        place=place,
        difference=found.mean,
        sd=found.sd,
        low=found.low,
        high=found.high,
        episodes=found.episodes,
        p=sign_flip_p(differences, rng=np.random.default_rng(seed)),
        p_holm=np.nan,
    )
