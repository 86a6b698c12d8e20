"""The leaderboard of a benchmark, from the runs, people and published figures that appear on it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.benchmarks.floors import RULES
from annotation.models import Benchmark, ItemSet, Role, Study, Task
from scoring.comparison.cells import Cell, CellReader, Choices
from scoring.comparison.comparing import reported_rows
from scoring.comparison.floors import CEILING, NOT_ALLOWED, Bound, bounds, no_skill
from scoring.comparison.paper_tables import task_order
from scoring.comparison.policies import first_policies, policy_of
from scoring.comparison.rows import PEOPLE as HUMAN
from scoring.comparison.rows import Row, cell_row
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies
from scoring.leaderboard.rules import (
    FLOOR,
    PEOPLE,
    SHOTS,
    SYSTEM,
    Entry,
    OverTasks,
    Place,
    gaps_of_figures,
    gaps_of_runs,
    on_task,
    over_tasks,
)
from scoring.models import FULLY_SUPERVISED, Run

SHOWN = (*map(str, SHOTS), FULLY_SUPERVISED)
NO_SKILL = "No skill"
Rows = dict[tuple[str, str], Row]


@dataclass(frozen=True)
class TaskBoard:
    task: str
    references: str
    shots: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Board:
    benchmark: str
    # All tasks of the benchmark, imported or known from published figures.
    tasks: tuple[str, ...]
    # Those that the reader chose to average over.
    chosen: tuple[str, ...]
    # Published on, but not imported: nothing can be scored there.
    not_imported: tuple[str, ...]
    over_tasks: tuple[OverTasks, ...]
    by_task: tuple[TaskBoard, ...]

    @property
    def entries(self) -> list[Entry]:
        """Everybody who appears in any of the tables."""
        places = [line.place for line in self.over_tasks]
        places += [place for board in self.by_task for place in board.places]
        return list({id(place.entry): place.entry for place in places}.values())


def place_all(
    benchmark: Benchmark,
    *,
    references: str | None = None,
    tasks: Sequence[str] = (),
    for_researchers: bool = False,
) -> Board:
    """The board over the chosen tasks, all of them if none is chosen. Researchers see the
    people of running studies too."""
    reader = CellReader(Choices(references=references, shots=SHOWN))
    # Episodes have a board of their own: scoring/episodes/board.py.
    whole = ItemSet.objects.filter(role=Role.TEST, episode__isnull=True)
    imported = {task.slug: task for task in benchmark.tasks.filter(item_sets__in=whole).distinct()}
    published = [row for row in reported_rows(benchmark, None) if str(row.shots) in SHOWN]
    # If nothing can be scored, the board has the policy that its figures state.
    policies = first_policies(published) | {
        slug: reader.policy(task) for slug, task in imported.items()
    }
    entries = [
        *_systems(reader, benchmark, imported.values()),
        *_people(reader, standing_studies(benchmark)),
        *(_people(reader, running_studies(benchmark), running=True) if for_researchers else ()),
        *_published(published, policies),
        *_floor(reader, imported.values()),
    ]
    rows = (row for entry in entries for row in entry.rows.values())
    known = task_order([*rows, *published])
    chosen = tuple(slug for slug in known if slug in tasks) or tuple(known)
    return Board(
        benchmark=benchmark.name,
        tasks=tuple(known),
        chosen=chosen,
        not_imported=tuple(slug for slug in known if slug not in imported),
        over_tasks=tuple(over_tasks(entries, chosen)),
        by_task=tuple(_task_board(entries, slug, policies.get(slug, "")) for slug in chosen),
    )


def _task_board(entries: Sequence[Entry], task: str, references: str) -> TaskBoard:
    there = {shots for entry in entries for slug, shots in entry.rows if slug == task}
    shots = tuple(each for each in SHOWN if each in there)
    return TaskBoard(task, references, shots, tuple(on_task(entries, task)))


def _systems(reader: CellReader, benchmark: Benchmark, tasks: Iterable[Task]) -> Iterator[Entry]:
    """One entry for each system of each submitter: nobody adds to another's line."""
    submitters = _submitters(benchmark)
    groups: dict[tuple[str, str, str, int | None], list[Cell]] = defaultdict(list)
    for task in tasks:
        for whole in reader.systems(task):
            for submitter, cell in _parts(whole, submitters):
                groups[cell.system, cell.method, cell.parameters, submitter].append(cell)
    for cells in groups.values():
        yield _system(cells, reader.choices)


def _submitters(benchmark: Benchmark) -> dict[int, int | None]:
    """By standing run, who submitted it; None for what researchers stored."""
    runs = standing_runs(benchmark).values_list("pk", "owner_id", "owner__is_staff")
    return {pk: None if is_staff else owner for pk, owner, is_staff in runs}


def _parts(cell: Cell, submitters: Mapping[int, int | None]) -> Iterator[tuple[int | None, Cell]]:
    """The runs of a cell that appear, separated by submitter and by parameters."""
    groups: dict[tuple[int | None, str], list[int]] = defaultdict(list)
    for number, run in enumerate(cell.runs):
        if run.pk in submitters:
            groups[submitters[run.pk], run.parameters].append(number)
    for (submitter, parameters), numbers in groups.items():
        yield (
            submitter,
            replace(
                cell,
                members=tuple(cell.runs[number] for number in numbers),
                vectors=tuple(cell.vectors[number] for number in numbers),
                parameters=parameters,
            ),
        )


def _system(cells: Sequence[Cell], choices: Choices) -> Entry:
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
        rows=_by_place(cell_row(cell, choices) for cell in cells),
        gaps={task: gaps_of_runs(those) for task, those in by_task.items()},
    )


def _people(
    reader: CellReader, studies: Iterable[Study], *, running: bool = False
) -> Iterator[Entry]:
    """The annotators that count, never simulated ones."""
    for study in studies:
        rows = _by_place(cell_row(cell, reader.choices) for cell in reader.people(study))
        if rows:
            yield Entry(PEOPLE, f"{HUMAN}, {study.title}", is_running=running, rows=rows)


def _published(rows: Iterable[Row], policies: Mapping[str, str]) -> Iterator[Entry]:
    """One entry for each system; a second figure for the same column makes a second entry."""
    groups: dict[tuple[str | None, str | None, str], list[Rows]] = defaultdict(list)
    for row in rows:
        same = groups[row.system, row.method, row.parameters]
        place = (row.task, str(row.shots))
        free = next((each for each in same if place not in each), None)
        if free is None:
            same.append(free := {})
        free[place] = row
    for (system, method, parameters), entries in groups.items():
        for found in entries:
            yield Entry(
                kind=SYSTEM if method else PEOPLE,
                name=system or "",
                method=method or "",
                parameters=parameters,
                source="; ".join(dict.fromkeys(row.source for row in found.values())),
                rows=_comparable(found, policies),
                gaps=_gaps_published(found, policies),
            )


def _comparable(rows: Rows, policies: Mapping[str, str]) -> Rows:
    """Without the figures under another policy than the board's: they cannot share its columns."""
    return {
        place: row for place, row in rows.items() if policy_of(row, policies) == policies[row.task]
    }


def _gaps_published(rows: Rows, policies: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    by_task: dict[str, dict[str, Row]] = defaultdict(dict)
    for (task, shots), row in rows.items():
        by_task[task][shots] = row
    return {task: gaps_of_figures(found, policies[task]) for task, found in by_task.items()}


def _floor(reader: CellReader, tasks: Iterable[Task]) -> Iterator[Entry]:
    """What no skill earns; it needs no training, so it is the same for any number of shots."""
    rows = [
        Row(
            "bound",
            system=NO_SKILL,
            task=best.task,
            shots=shots,
            mean=best.score,
            references=best.references,
            gold_version=best.gold_version,
            source=RULES[best.rule],
        )
        for task in tasks
        for best in _best_without_skill(reader, task)
        for shots in SHOTS
    ]
    if rows:
        yield Entry(FLOOR, NO_SKILL, rows=_by_place(rows))


def _best_without_skill(reader: CellReader, task: Task) -> list[Bound]:
    found = bounds(task, reader.policy(task), reader.gold_version(task))
    best = no_skill(found).get(task.slug)
    allowed = (each for each in found if each.rule not in {CEILING, *NOT_ALLOWED})
    return [each for each in allowed if each.score == best][:1]


def _by_place(rows: Iterable[Row]) -> Rows:
    return {(row.task, str(row.shots)): row for row in rows}


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _told(values: Iterable[bool | None]) -> bool | None:
    """Yes if any run says so; no only if all of them do."""
    said = set(values)
    if True in said:
        return True
    return False if said == {False} else None
