"""The leaderboard of a benchmark: everybody who appears on it, from the runs, people and published
figures, kept as comparisons are, with the fingerprint of all that they follow from; and their
ranks, as one reader may see them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter

from annotation.models import Batch, Benchmark, ItemSet, Role, Study, Task
from annotation.models.benchmark import names_of
from annotation.models.texts import checksum
from scoring.cells.cell_rows import bounds, cell_row, reported_rows
from scoring.cells.cells import Cell, CellReader
from scoring.cells.rows import PEOPLE as HUMAN
from scoring.cells.rows import (
    Row,
    RowKind,
    first_policies,
    policy_of,
    scored_under,
    withheld_row,
)
from scoring.cells.scope import Choices, Scope, inputs_fingerprint
from scoring.comparison.keeping import Store, is_stale
from scoring.comparison.paper_tables import task_order
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies
from scoring.leaderboard.rules import (
    CLUES,
    FLOOR,
    PEOPLE,
    SYSTEM,
    Entry,
    Ranking,
    Rule,
    gaps_of_figures,
    gaps_of_runs,
    on_task,
    over_tasks,
)
from scoring.models import FULLY_SUPERVISED, Part, Run

NO_SKILL = "No skill"
Rows = dict[tuple[str, str], Row]


def gather_entries(
    benchmark: Benchmark,
    reader: CellReader,
    tasks: Sequence[Task],
    policies: Mapping[str, str],
    rule: Rule,
) -> list[Entry]:
    """Gather the entries of these tasks; the people of running studies among them, marked as
    such."""
    published = [row for row in reported_rows(benchmark, None) if reader.choices.wants(row.shots)]
    return [
        *_systems(reader, benchmark, tasks, rule),
        *_people(reader, standing_studies(benchmark)),
        *_people(reader, running_studies(benchmark), running=True),
        *_published(published, policies, rule),
        *_floor(reader, tasks, rule),
    ]


def _systems(
    reader: CellReader, benchmark: Benchmark, tasks: Iterable[Task], rule: Rule
) -> Iterator[Entry]:
    """One entry for each system of each submitter: nobody adds to another's line."""
    runs = standing_runs(benchmark).with_standing()
    # By standing run, who submitted it; None for what researchers stored.
    submitters = {run.pk: None if run.is_by_researchers else run.owner_id for run in runs}
    groups: dict[tuple[str, str, str, int | None], list[Cell]] = defaultdict(list)
    for task in tasks:
        for whole in reader.systems(task):
            for submitter, cell in _parts(whole, submitters):
                groups[cell.system, cell.method, cell.parameters, submitter].append(cell)
    for cells in groups.values():
        yield _system(cells, reader.choices, rule)


def _parts(cell: Cell, submitters: Mapping[int, int | None]) -> Iterator[tuple[int | None, Cell]]:
    """The runs of a cell that appear, separated by submitter."""
    standing = cell.keeping([run.pk in submitters for run in cell.runs])
    owners = [submitters[run.pk] for run in standing.runs]
    for submitter in dict.fromkeys(owners):
        yield submitter, standing.keeping([owner == submitter for owner in owners])


def _system(cells: Sequence[Cell], choices: Choices, rule: Rule) -> Entry:
    """Partial runs where there are no whole ones: a trial takes nobody's rank."""
    whole = {(cell.task, cell.shots) for cell in cells if not cell.is_partial}
    cells = [cell for cell in cells if not cell.is_partial or (cell.task, cell.shots) not in whole]
    runs: list[Run] = [run for cell in cells for run in cell.runs]
    by_task: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.task.slug].append(cell)
    return Entry(
        kind=SYSTEM,
        name=cells[0].system,
        method=cells[0].method,
        parameters=cells[0].parameters,
        citation=_first(run.citation for run in runs),
        url=_first(run.url for run in runs),
        uses_labelled=_told(run.uses_labelled for run in runs),
        uses_unlabelled=_told(run.uses_unlabelled for run in runs),
        protocol=tuple(sorted({tag for run in runs for tag in run.protocol})),
        rows=tuple(cell_row(cell, choices) for cell in cells),
        gaps={task: gaps_of_runs(task_runs, rule) for task, task_runs in by_task.items()},
    )


def _people(
    reader: CellReader, studies: Iterable[Study], *, running: bool = False
) -> Iterator[Entry]:
    """The annotators that count, never simulated ones."""
    for study in studies:
        rows = tuple(cell_row(cell, reader.choices) for cell in reader.people(study))
        if rows:
            yield Entry(PEOPLE, f"{HUMAN}, {study.title}", is_running=running, rows=rows)


def _published(rows: Iterable[Row], policies: Mapping[str, str], rule: Rule) -> Iterator[Entry]:
    """A second figure for the same column makes a second entry."""
    groups: dict[tuple[str | None, str | None, str], list[Rows]] = defaultdict(list)
    for row in rows:
        same = groups[row.system, row.method, row.parameters]
        column = (row.task, str(row.shots))
        free = next((each for each in same if column not in each), None)
        if free is None:
            same.append(free := {})
        free[column] = row
    for (system, method, parameters), entries in groups.items():
        for figures in entries:
            # Those under another policy than the board's cannot share its columns.
            comparable = (r for r in figures.values() if policy_of(r, policies) == policies[r.task])
            by_task: dict[str, dict[str, Row]] = defaultdict(dict)
            for (task, shots), row in figures.items():
                by_task[task][shots] = row
            yield Entry(
                kind=SYSTEM if method else PEOPLE,
                name=system or "",
                method=method or "",
                parameters=parameters,
                source="; ".join(dict.fromkeys(row.source for row in figures.values())),
                rows=tuple(comparable),
                gaps={
                    task: gaps_of_figures(of_task, policies[task], rule)
                    for task, of_task in by_task.items()
                },
            )


def _floor(reader: CellReader, tasks: Iterable[Task], rule: Rule) -> Iterator[Entry]:
    """What no skill earns; it needs no training, so it is the same for any number of shots."""
    all_bounds = (bounds(task, reader.policy(task), reader.gold_version(task)) for task in tasks)
    allowed = ([bound for bound in of_task if bound.is_floor] for of_task in all_bounds)
    rows = [
        Row(
            RowKind.BOUND,
            system=NO_SKILL,
            task=best.task,
            shots=shots,
            mean=best.score,
            references=best.references,
            normalisation=best.normalisation,
            gold_version=best.gold_version,
            source=best.in_words,
        )
        for best in (
            max(task_bounds, key=attrgetter("score")) for task_bounds in allowed if task_bounds
        )
        for shots in rule.shots
    ]
    if rows:
        yield Entry(FLOOR, NO_SKILL, rows=tuple(rows))


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _told(values: Iterable[bool | None]) -> bool | None:
    """Yes if any run says so; no only if all of them do."""
    said = set(values)
    if True in said:
        return True
    return False if said == {False} else None


OF_RUNS = (
    *("pk", "is_by_researchers", "owner_id", "parameters", "citation", "url"),
    *("uses_labelled", "uses_unlabelled", "protocol"),
)


@dataclass(frozen=True)
class Entries:
    entries: tuple[Entry, ...]


STORE = Store(Part.BOARD, Entries, 7)


def _kept_entries(
    benchmark: Benchmark,
    reader: CellReader,
    tasks: Sequence[Task],
    policies: Mapping[str, str],
    rule: Rule,
) -> Sequence[Entry]:
    scope, fingerprint = Scope(benchmark), _fingerprint(benchmark, reader)
    kept = STORE.find(scope, reader.choices)
    if is_stale(kept, fingerprint):
        gathered = gather_entries(benchmark, reader, tasks, policies, rule)
        kept = STORE.keep(scope, reader.choices, Entries(tuple(gathered)), fingerprint)
    read = STORE.read(kept)
    return read.entries if read else ()


def _fingerprint(benchmark: Benchmark, reader: CellReader) -> str:
    """Covers whose figures appear by decision, and what their submitters say about them, too."""
    runs = standing_runs(benchmark).with_standing().order_by("pk").values_list(*OF_RUNS)
    studies = [
        list(group.values_list("pk", "title"))
        for group in (standing_studies(benchmark), running_studies(benchmark))
    ]
    return checksum([inputs_fingerprint(Scope(benchmark), reader.choices), list(runs), studies])


@dataclass(frozen=True)
class TaskBoard:
    task: str
    # Empty where nothing says under which policy.
    scored_under: str
    shots: tuple[str, ...]
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class Board:
    benchmark: str
    # All tasks of the benchmark, imported or known from published figures.
    tasks: tuple[str, ...]
    # Those that the reader chose to average over.
    chosen: tuple[str, ...]
    # Published on, but not imported: nothing can be scored there.
    not_imported: tuple[str, ...]
    over_tasks: tuple[Ranking, ...]
    by_task: tuple[TaskBoard, ...]
    rule: Rule = CLUES
    # By slug, what is read; a task that is not imported has its slug alone.
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, task: str) -> str:
        return self.names.get(task, task)

    def named(self, tasks: Sequence[str]) -> list[tuple[str, str]]:
        return [(task, self.name(task)) for task in tasks]

    @property
    def choices(self) -> list[tuple[str, str]]:
        return self.named(self.tasks)

    @property
    def names_not_imported(self) -> list[str]:
        return list(map(self.name, self.not_imported))

    @property
    def entries(self) -> list[Entry]:
        """Everybody who appears in any of the tables."""
        rankings = chain(self.over_tasks, *(board.rankings for board in self.by_task))
        return list({id(ranking.entry): ranking.entry for ranking in rankings}.values())


def place_all(
    benchmark: Benchmark,
    *,
    references: str | None = None,
    tasks: Sequence[str] = (),
    for_researchers: bool = False,
    sees_gold: bool = False,
) -> Board:
    """The board over the chosen tasks, all of them if none is chosen. Researchers see the
    people of running studies too. Whoever may not see the gold gets, and is shown the order by,
    what `withheld_row` leaves."""
    every = reported_rows(benchmark, None)
    rule = _rule(benchmark, every)
    reader = CellReader(
        Choices(references=references, shots=(*map(str, rule.shots), FULLY_SUPERVISED))
    )
    # Episodes have a board of their own: scoring/episodes/board.py.
    whole = ItemSet.objects.filter(role=Role.TEST, episode__isnull=True)
    imported = {task.slug: task for task in benchmark.tasks.filter(item_sets__in=whole).distinct()}
    published = [row for row in every if reader.choices.wants(row.shots)]
    # If nothing can be scored, the board has the policy that its figures state.
    policies = first_policies(published) | {
        slug: reader.policy(task) for slug, task in imported.items()
    }
    under = {
        slug: scored_under(policy, imported[slug].normalisation if slug in imported else None)
        for slug, policy in policies.items()
    }
    entries = _kept_entries(benchmark, reader, list(imported.values()), policies, rule)
    entries = [entry for entry in entries if for_researchers or not entry.is_running]
    if not sees_gold:
        others = {
            slug for slug, task in imported.items() if reader.policy(task) != task.reference_policy
        }
        entries = [_withheld(entry, others) for entry in entries]
    rows = (row for entry in entries for row in entry.rows)
    known = task_order([*rows, *published])
    chosen = tuple(slug for slug in known if slug in tasks) or tuple(known)
    names = names_of(imported.values())
    over = {slug: names.get(slug, slug) for slug in chosen}
    return Board(
        benchmark=benchmark.name,
        tasks=tuple(known),
        chosen=chosen,
        not_imported=tuple(slug for slug in known if slug not in imported),
        over_tasks=tuple(over_tasks(entries, over, rule, in_full=sees_gold)),
        by_task=tuple(_task_board(entries, slug, under.get(slug, ""), rule) for slug in chosen),
        rule=rule,
        names=names,
    )


def _rule(benchmark: Benchmark, published: Iterable[Row]) -> Rule:
    """That of CLUES wherever anything has one of its numbers of shots, or nothing has any yet; else
    the numbers that there are."""
    test_sets = Batch.objects.filter(study__benchmark=benchmark, test_set__episode=None)
    runs = Run.objects.complete().of_benchmark(benchmark).filter(episode=None)
    of_people = test_sets.values_list("training_set__shots", flat=True)
    numbers = {shots or 0 for shots in of_people.distinct()}
    numbers |= {shots for shots in runs.values_list("shots", flat=True) if shots is not None}
    numbers |= {row.shots for row in published if isinstance(row.shots, int)}
    if usual := numbers & {*CLUES.shots}:
        return Rule(sorted_by=max(usual))
    return Rule(tuple(sorted(numbers)), (), max(numbers)) if numbers else CLUES


def _withheld(entry: Entry, others: Collection[str]) -> Entry:
    """The entry as whoever may not see the gold is shown it; `others` are the tasks that the board
    scores under another policy than their own, where no run shows a mean."""
    rows = tuple(map(withheld_row, entry.rows))
    without = {row.task for row in rows if row.kind == RowKind.RUN and row.task in others}
    because = ("scores of runs are shown under the task’s own reference policy alone",)
    gaps = {task: (*entry.gaps.get(task, ()), *because) for task in without}
    return replace(entry, rows=rows, gaps={**entry.gaps, **gaps})


def _task_board(entries: Sequence[Entry], task: str, under: str, rule: Rule) -> TaskBoard:
    available = {str(row.shots) for entry in entries for row in entry.rows if row.task == task}
    shots = tuple(each for each in (*map(str, rule.shots), FULLY_SUPERVISED) if each in available)
    return TaskBoard(task, under, shots, tuple(on_task(entries, task, rule)))
