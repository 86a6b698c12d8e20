"""The table that answers the question: people first, every system beside them at one number of
shots, with what the tests say; all else is a click away."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.floors import no_skill
from scoring.comparison.over_tasks import Aggregate
from scoring.comparison.paper_tables import (
    NOTES,
    WHO,
    marks_of,
    scores_of_persons,
    size_of,
    task_group,
)
from scoring.comparison.rows import BESIDE_SCORES, Row
from scoring.comparison.score_columns import (
    FigureLine,
    ScoreColumn,
    is_people,
    lines_of_figures,
    name_of,
    score_columns,
    shots_text,
    task_order,
)
from scoring.comparison.verdicts import AverageVerdict, CellVerdict, Finding, first_of
from scoring.core.verdicts import AHEAD, BEHIND, EXPLORATORY, SAME, UNDECIDED
from scoring.models import FULLY_SUPERVISED, method_label, shots_order
from scoring.tables.table import Cell, Column, Line, Table, Text, limits, rounded, signed

AVERAGE = "average"
# From the system's side.
SIGNS = {AHEAD: "▲", BEHIND: "▼", SAME: "≈", UNDECIDED: "?", EXPLORATORY: "( )"}
FALLS = "‡"
NOTE_OF_FALLS = "Without one of the people it would say something else."
Opened = tuple[Text, str]


def shots_of_people(rows: Iterable[Row]) -> str:
    """The number of shots that a reader meets first: that for which most tasks have people, the
    highest of several. Without measured people it goes by published ones, then by systems."""
    known = [row for row in rows if not row.single and row.mean is not None]
    counted = [row for row in known if people_named(row)] or list(filter(is_people, known)) or known
    tasks: dict[str, set[str]] = defaultdict(set)
    for row in counted:
        tasks[str(row.shots)].add(row.task)
    return max(tasks, key=lambda shots: (len(tasks[shots]), shots_order(shots)), default="")


def overview(table: ComparisonTable, shots: str, links: Mapping[str, str] | None = None) -> Table:
    rows = [row for row in table.figures if str(row.shots) == shots and not _is_consensus(row)]
    tasks = task_order(rows)
    columns = score_columns(rows, tasks)
    lines = [_line(line, table, shots) for line in lines_of_figures(rows)]
    average = (Column(AVERAGE, "average", digits=1, is_strong=True),) if len(tasks) > 1 else ()
    return Table(
        "overview",
        _title(shots),
        "",
        (WHO, *average, *_columns(columns, links or {}, table.task_names)),
        (*lines, *_no_skill(table, columns)),
        marks={**NOTES, FALLS: NOTE_OF_FALLS, **_legend(table)},
        keeps_kinds=True,
    )


def people_named(row: Row) -> bool:
    return row.kind in ("human", "simulated") and not row.single


def apart(finding: Finding) -> str:
    """People less the system, with the interval of that difference."""
    if finding.difference is None:
        return ""
    between = limits(finding.low, finding.high).replace("-", "−")
    return " ".join(filter(None, [signed(finding.difference), between]))


def _title(shots: str) -> Text:
    if shots == FULLY_SUPERVISED:
        return "People and systems, fully supervised"
    return f"People and systems at {shots_text(shots)}"


def _is_consensus(row: Row) -> bool:
    return row.kind == "consensus"


def _columns(
    columns: Iterable[ScoreColumn], links: Mapping[str, str], names: Mapping[str, str]
) -> Iterable[Column]:
    for column in columns:
        yield Column(column.key, "", digits=1, group=task_group(column, links, names))


def _legend(table: ComparisonTable) -> dict[str, Text]:
    margins = {finding.margin for finding in table.verdicts.cells if not finding.is_reported}
    margin = rounded(max(margins, default=0.0), 1).removesuffix(".0")
    return {
        SIGNS[AHEAD]: "ahead of people",
        SIGNS[BEHIND]: "behind people",
        SIGNS[SAME]: f"as good as people, within {margin} points",
        SIGNS[UNDECIDED]: "not decided",
        SIGNS[EXPLORATORY]: "exploratory: fewer than five people, so nothing is claimed",
    }


def _line(line: FigureLine, table: ComparisonTable, shots: str) -> Line:
    first = next(iter(line.figures.values()))
    return Line(
        {
            "who": _who(line, table),
            AVERAGE: _average(first, table, shots),
            **{key: _cell(row, table) for key, row in line.figures.items()},
        },
        kind="people" if line.is_people else "system",
    )


def _who(line: FigureLine, table: ComparisonTable) -> Cell:
    rows = list(line.figures.values())
    first = rows[0]
    sources = dict.fromkeys(row.source for row in rows if row.source)
    if people_named(first):
        # On the page of a study, its name is said already.
        name = name_of(replace(first, study=None)) if table.study else line.name
        return Cell(name, aside=_sizes(rows))
    about = [method_label(first.method), f"({first.parameters})" if first.parameters else ""]
    # A published figure of people is named by its source.
    note = "" if line.is_people else "; ".join(sources)
    return Cell(line.name, aside=" ".join(filter(None, about)), note=note)


def _sizes(rows: Iterable[Row]) -> str:
    sizes = sorted({row.n for row in rows if row.n})
    return f"n = {'–'.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))}" if sizes else ""


def _cell(row: Row, table: ComparisonTable) -> Cell:
    of_row = table.verdicts.about(row)
    verdict = first_of(of_row)
    falls = FALLS if verdict and verdict.falls else ""
    return Cell(
        row.mean,
        marks="".join(marks_of(row)) + falls,
        sign=SIGNS.get(verdict.of_system, "") if verdict else "",
        distance=_distance(verdict),
        opens=tuple(_opened(row, of_row, table)),
    )


def _distance(verdict: CellVerdict | None) -> float | None:
    """Of a published figure from people: there is nothing to test it on."""
    if verdict is None or not verdict.is_reported or verdict.difference is None:
        return None
    return -verdict.difference


def _opened(row: Row, verdicts: Iterable[CellVerdict], table: ComparisonTable) -> Iterable[Opened]:
    if interval := limits(row.ci_low, row.ci_high):
        yield "95 % interval", interval
    if guard := limits(row.guard_low, row.guard_high):
        yield "guard band", guard
    if row.sd is not None:
        yield "SD", rounded(row.sd)
    if size := size_of(row):
        yield "", size
    for column in BESIDE_SCORES:
        if (value := getattr(row, column.key)) is not None:
            yield column.heading, f"{column.read(value)} {column.unit}"
    for verdict in verdicts:
        yield from _of_verdict(verdict)
    if people_named(row):
        yield from ((name, rounded(mean)) for name, mean in scores_of_persons(row, table.rows))


def _of_verdict(verdict: CellVerdict | AverageVerdict) -> Iterable[Opened]:
    yield "people less system", apart(verdict)
    if verdict.p_holm is not None:
        yield "p, Holm", _p(verdict.p_holm)
    if verdict.detectable is not None:
        yield "would be found from", rounded(verdict.detectable)
    if isinstance(verdict, CellVerdict) and verdict.above is not None:
        yield "people above it", f"{verdict.above} / {verdict.n}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _average(row: Row, table: ComparisonTable, shots: str) -> Cell:
    """Over all tasks, of whoever has all of them."""
    found = next((each for each in table.averages if _is_of(each, row, shots)), None)
    if found is None:
        return Cell()
    of_row = [
        verdict
        for verdict in table.verdicts.averages
        if row.kind == "run"
        and str(verdict.shots) == shots
        and (verdict.system, verdict.method, verdict.parameters)
        == (row.system, row.method, row.parameters)
    ]
    verdict = next(iter(of_row), None)
    opens: list[Opened] = [
        ("95 % interval", limits(found.low, found.high)),
        ("SD", rounded(found.sd)),
    ]
    return Cell(
        found.mean,
        sign=SIGNS.get(verdict.of_system, "") if verdict else "",
        opens=tuple(
            [(label, text) for label, text in opens if text]
            + [part for verdict in of_row for part in _of_verdict(verdict)]
        ),
    )


def _is_of(average: Aggregate, row: Row, shots: str) -> bool:
    names = ("kind", "study", "system", "method", "parameters")
    return str(average.shots) == shots and all(
        getattr(average, name) == getattr(row, name) for name in names
    )


def _no_skill(table: ComparisonTable, columns: Sequence[ScoreColumn]) -> Iterable[Line]:
    """What answers earn that ignore the question, in the columns of its policy."""
    floors = no_skill(list(table.bounds))
    under = {bound.task: bound.references for bound in table.bounds}
    cells = {
        column.key: floors[column.task]
        for column in columns
        if column.task in floors and column.policy in ("", under[column.task])
    }
    if cells:
        tasks = {column.task for column in columns}
        whole = tasks <= set(floors)
        mean = sum(floors[task] for task in tasks) / len(tasks) if whole else None
        yield Line({"who": Cell("no skill"), AVERAGE: mean, **cells}, kind="bound")
