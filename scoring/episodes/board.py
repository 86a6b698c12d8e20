"""What people and systems scored in each episode, by the same scorer as everything else, and their
board in FLEX's form: zero-shot and few-shot for each data set, over data sets, and overall.

A benchmark of FLEX's size has thousands of episodes, so their items are read together. A figure is
the mean over episodes, with their SD (ddof 0) and a percentile bootstrap over them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from annotation.models import Assignment, Benchmark, ItemSet, ReferencePolicy, Role, Study, Task
from annotation.models.benchmark import names_of
from scoring.cells.rows import released
from scoring.cells.vectors import (
    Floats,
    Owners,
    ScoredItems,
    assignment_scores,
    is_well_formed,
    run_scores,
    scored_items,
)
from scoring.core.bootstrap import SEED, EpisodeScore, episode_score
from scoring.core.intervals import paired_p
from scoring.core.verdicts import holm
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies
from scoring.models import Run

HUMAN, SYSTEM, SIMULATED = "human", "run", "simulated"
PEOPLE = {HUMAN: "Human", SIMULATED: "SIMULATED PEOPLE"}
# Every episode asks for one label, so both policies agree.
POLICY = ReferencePolicy.ANY
# A data set, and whether its episodes have training examples: zero-shot or few-shot.
Setting = tuple[str, bool]


def setting_name(setting: Setting) -> str:
    """Its name on FLEX's board."""
    task, few = setting
    return f"{task}-{'few' if few else '0'}"


@dataclass(frozen=True)
class Who:
    """A study's people, or a system of one submitter."""

    kind: str
    name: str
    method: str = ""
    parameters: str = ""
    study: str = ""
    submitter: int | None = None

    @property
    def label(self) -> str:
        return f"{PEOPLE[self.kind]}, {self.name}" if self.kind in PEOPLE else self.name


@dataclass(frozen=True)
class EpisodeResult:
    """One episode by one of them: the mean over its annotators or runs, in [0, 1]."""

    who: Who
    task: str
    episode: int
    way: int
    # Training examples; none is zero-shot.
    shots: int
    score: float
    n: int
    items: int

    @property
    def setting(self) -> Setting:
        return self.task, self.shots > 0


class EpisodeReader:
    """The episodes of a benchmark, at the latest gold of each task."""

    def __init__(self, benchmark: Benchmark) -> None:
        sets = ItemSet.objects.filter(task__benchmark=benchmark, episode__isnull=False)
        tests = sets.filter(role=Role.TEST).select_related("task")
        self.sets = {item_set.pk: item_set for item_set in tests}
        training = sets.filter(role=Role.TRAINING).values_list("task_id", "episode", "shots")
        self._shots = {(task, episode): shots or 0 for task, episode, shots in training}
        self._items: dict[int, ScoredItems] = {}

    def shots(self, test_set: ItemSet) -> int:
        return self._shots.get((test_set.task_id, test_set.episode), 0)

    def of_systems(self, runs: Iterable[Run]) -> list[EpisodeResult]:
        """The systems' results, on episodes alone in which every question is answered."""
        members = ((run.test_set_id, system_of(run), run.pk) for run in runs)
        return list(self._results(members, run_scores))

    def of_people(self, study: Study, *, simulated: bool = False) -> list[EpisodeResult]:
        counted = Assignment.objects.filter(study=study).counted().select_related("batch")
        chosen = counted.simulated() if simulated else counted.of_people()
        who = Who(SIMULATED if simulated else HUMAN, study.title, study=study.slug)
        members = ((member.batch.test_set_id, who, member.pk) for member in chosen.order_by("pk"))
        return list(self._results(members, assignment_scores))

    def _results(
        self,
        members: Iterable[tuple[int, Who, int]],
        scores: Callable[[Owners, str], dict[int, Floats]],
    ) -> Iterator[EpisodeResult]:
        """Gather results by test set and whose they are, from the primary keys of assignments or
        runs; those of one task are read together."""
        groups: dict[tuple[int, Who], list[int]] = defaultdict(list)
        set_of: dict[Task, dict[int, int]] = defaultdict(dict)
        for test_set, who, owner in members:
            if test_set in self.sets:
                groups[test_set, who].append(owner)
                set_of[self.sets[test_set].task][owner] = test_set
        vectors: dict[int, Floats] = {}
        for task, sets in set_of.items():
            items = self._items_of(task, set(sets.values()))
            vectors |= scores({owner: items[pk] for owner, pk in sets.items()}, POLICY)
        for (pk, who), owners in groups.items():
            whole = [vectors[owner] for owner in owners if not np.isnan(vectors[owner]).any()]
            if not whole:
                continue
            item_set = self.sets[pk]
            yield EpisodeResult(
                who,
                item_set.task.slug,
                item_set.episode or 0,
                way=len(item_set.choices),
                shots=self.shots(item_set),
                score=float(np.mean([vector.mean() for vector in whole])),
                n=len(whole),
                items=len(whole[0]),
            )

    def _items_of(self, task: Task, pks: Collection[int]) -> dict[int, ScoredItems]:
        missing = [self.sets[pk] for pk in pks if pk not in self._items]
        if missing:
            self._items |= scored_items(task, missing, task.latest_gold_version().number)
        return self._items


def system_of(run: Run) -> Who:
    """What researchers stored belongs to nobody."""
    submitter = None if run.is_by_researchers else run.owner_id
    return Who(SYSTEM, run.system, run.method, run.parameters, submitter=submitter)


@dataclass(frozen=True)
class EpisodeEntry:
    who: Who
    protocol: tuple[str, ...]
    # Its study is still running, or its annotators are simulated: only researchers see such a line.
    is_running: bool
    results: tuple[EpisodeResult, ...]
    figures: Mapping[Setting, EpisodeScore]
    # Means over the data sets of the board, without and with training examples, and of both; None
    # where something is missing.
    overall: tuple[float | None, float | None, float | None]


@dataclass(frozen=True)
class EpisodeTest:
    """Two lines of the board on the same episodes; the score is the first's less the second's."""

    first: Who
    second: Who
    setting: Setting
    score: EpisodeScore
    p: float
    p_holm: float = np.nan


@dataclass(frozen=True)
class EpisodeBoard:
    benchmark: str
    # How many episodes there are in each column.
    settings: Mapping[Setting, int]
    entries: tuple[EpisodeEntry, ...]
    # By slug, what is read.
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, task: str) -> str:
        return self.names.get(task, task)


def episode_board(
    benchmark: Benchmark,
    *,
    protocol: str = "",
    for_researchers: bool = False,
    simulated: bool = False,
    sees_gold: bool = False,
) -> EpisodeBoard:
    """Systems and people whose figures are approved, best first; with a protocol, only its systems.
    Researchers see the people of running studies too; for whoever may not see the gold, see
    `_withheld`."""
    reader = EpisodeReader(benchmark)
    counts = Counter((each.task.slug, reader.shots(each) > 0) for each in reader.sets.values())
    settings = dict(sorted(counts.items()))
    runs = standing_runs(benchmark).filter(episode__isnull=False)
    runs = runs.with_standing().select_related("task")
    shown = [run for run in runs.order_by("pk") if sees_gold or is_well_formed(run)]
    tags: dict[Who, set[str]] = defaultdict(set)
    for run in shown:
        tags[system_of(run)].update(run.protocol)
    # Systems are chosen whole: a figure over some of a system's runs would be one more figure.
    chosen = [run for run in shown if not protocol or protocol in tags[system_of(run)]]
    standing = [*reader.of_systems(chosen), *_people(reader, standing_studies(benchmark))]
    running = _people(reader, running_studies(benchmark)) if for_researchers else []
    if simulated:
        running += _people(reader, benchmark.studies.order_by("pk"), simulated=True)
    entries = [
        _entry(who, episodes, settings, protocol=tags[who], is_running=not stands)
        for stands, results in ((True, standing), (False, running))
        for who, episodes in _by_who(results).items()
    ]
    if not sees_gold:
        entries = [_withheld(entry, settings) for entry in entries]
    names = names_of(benchmark.tasks.all())
    return EpisodeBoard(benchmark.name, settings, tuple(sorted(entries, key=_order)), names)


def _people(
    reader: EpisodeReader, studies: Iterable[Study], *, simulated: bool = False
) -> list[EpisodeResult]:
    return [result for study in studies for result in reader.of_people(study, simulated=simulated)]


def paired_tests(
    board: EpisodeBoard, *, tell: Callable[[], None] = lambda: None
) -> list[EpisodeTest]:
    """Every pair of lines in every column, on the episodes that both finished: an interval by
    bootstrap over episodes, and a paired t test with Holm's adjustment over the whole family.
    `tell` is called before each pair."""
    tests: list[EpisodeTest] = []
    for first, second in combinations(board.entries, 2):
        tell()
        for setting in board.settings:
            tests += _test(first, second, setting)
    adjusted = holm([test.p for test in tests])
    return [replace(test, p_holm=float(p)) for test, p in zip(tests, adjusted, strict=True)]


def _by_who(results: Iterable[EpisodeResult]) -> dict[Who, list[EpisodeResult]]:
    groups: dict[Who, list[EpisodeResult]] = defaultdict(list)
    for result in results:
        groups[result.who].append(result)
    return groups


def _entry(
    who: Who,
    results: Sequence[EpisodeResult],
    settings: Iterable[Setting],
    *,
    protocol: Iterable[str],
    is_running: bool,
) -> EpisodeEntry:
    ordered = tuple(sorted(results, key=lambda result: (result.task, result.episode)))
    scores: dict[Setting, list[float]] = defaultdict(list)
    for result in ordered:
        scores[result.setting].append(result.score)
    figures = {
        setting: episode_score(episodes, rng=np.random.default_rng(SEED))
        for setting, episodes in scores.items()
    }
    tags, overall = tuple(sorted(protocol)), _overall(figures, settings)
    return EpisodeEntry(who, tags, is_running, ordered, figures, overall)


def _withheld(entry: EpisodeEntry, settings: Mapping[Setting, int]) -> EpisodeEntry:
    """Leave single episodes out, which have few questions. A system has a rounded mean where all
    its runs together answered every episode equally often; people a rounded figure."""
    figures = {}
    for setting, figure in entry.figures.items():
        mean, sd, low, high = map(_rounded, (figure.mean, figure.sd, figure.low, figure.high))
        if entry.who.kind == SYSTEM:
            answers = {each.n for each in entry.results if each.setting == setting}
            if figure.episodes < settings[setting] or len(answers) > 1:
                continue
            sd = low = high = np.nan
        figures[setting] = replace(figure, mean=mean, sd=sd, low=low, high=high)
    overall = _overall(figures, settings)
    zero, few, both = (None if mean is None else _rounded(mean) for mean in overall)
    return replace(entry, results=(), figures=figures, overall=(zero, few, both))


def _rounded(score: float) -> float:
    return released(100 * score) / 100


def _overall(
    figures: Mapping[Setting, EpisodeScore], settings: Iterable[Setting]
) -> tuple[float | None, float | None, float | None]:
    by_few: dict[bool, list[float | None]] = {False: [], True: []}
    for setting in settings:
        by_few[setting[1]].append(figures[setting].mean if setting in figures else None)
    zero, few = map(_mean, by_few.values())
    return zero, few, _mean([_mean(means) for means in by_few.values() if means])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _order(entry: EpisodeEntry) -> tuple[bool, float, str, str]:
    """The highest overall mean first; those without one last."""
    *_, both = entry.overall
    return both is None, -(both or 0), entry.who.name, entry.who.method


def _test(first: EpisodeEntry, second: EpisodeEntry, setting: Setting) -> Iterator[EpisodeTest]:
    ours, theirs = (
        {each.episode: each.score for each in entry.results if each.setting == setting}
        for entry in (first, second)
    )
    differences = [ours[episode] - theirs[episode] for episode in ours if episode in theirs]
    if len(differences) < 2:
        return
    score = episode_score(differences, rng=np.random.default_rng(SEED))
    yield EpisodeTest(first.who, second.who, setting, score, paired_p(differences))
