"""A comparison as a document: all rows for computing, tables for reading. The first, on its page
too, answers the question: people, every system beside them at one number of shots, the verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum

from scoring.cells.cell_rows import BOOTSTRAP
from scoring.cells.rows import (
    EPISODE_BOOTSTRAP,
    GROUPED,
    INCOMPLETE,
    LATER,
    OTHER,
    Row,
    RowKind,
    no_skill,
    scored_under,
    whose,
)
from scoring.comparison.answer import answers
from scoring.comparison.comparison import Comparison, first_of
from scoring.comparison.paper_tables import (
    ANNOTATOR,
    NOTES,
    WHO,
    FigureLine,
    Links,
    ScoreColumn,
    annotators_by_shots,
    beside_score,
    figures_by_column,
    in_blocks,
    marks_of,
    name_cell,
    scores_of_persons,
    size_of,
    supervision_table,
    system_tables,
    time_table,
    with_sd,
)
from scoring.comparison.revisions import revisions
from scoring.comparison.row_tables import (
    VERDICTS,
    annotator_table,
    columns_table,
    finding_table,
    interval_table,
    judged_row_table,
    row_table,
    verdict_table,
)
from scoring.contrasts.averages import Average
from scoring.contrasts.difference import Difference, runs_text
from scoring.contrasts.outcomes import LEGEND, sign_of, verdict_in_words
from scoring.core.intervals import GUARD
from scoring.models import FULLY_SUPERVISED, shots_order, shots_text
from scoring.tables.documents import (
    Format,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_plain_latex,
    escaped_markdown,
)
from scoring.tables.table import MISSING, Cell, Column, Line, Table, limits, signed
from scoring.tables.xlsx import as_xlsx

AVERAGE = "average"
VERDICT_KEYS = [column.key for column in VERDICTS]
OTHER_INTERVALS = {
    GUARD: "of two people the guard band",
    BOOTSTRAP: "of the consensus a bootstrap over contexts",
    EPISODE_BOOTSTRAP: "over episodes a bootstrap",
}
Opened = tuple[str, str]


def shots_of_people(rows: Iterable[Row]) -> str:
    """The number of shots that a reader meets first: that for which most tasks have people, the
    highest of several. Without measured people it goes by published ones, then by systems."""
    known = [row for row in rows if not row.single and row.mean is not None]
    measured = [row for row in known if row.is_cell_of_people]
    counted = measured or [row for row in known if row.is_of_people] or known
    tasks: dict[str, set[str]] = defaultdict(set)
    for row in counted:
        tasks[str(row.shots)].add(row.task)
    return max(tasks, key=lambda shots: (len(tasks[shots]), shots_order(shots)), default="")


def overview(table: Comparison, shots: str, links: Links = None) -> Table:
    """People first, then the systems by score; below those that came later, and those on other shot
    sets or items. links: by task, of a page; without any it is for a document."""
    rows = _once_below(
        row for row in table.figures if str(row.shots) == shots and row.kind != RowKind.CONSENSUS
    )
    task_columns, lines = figures_by_column(rows, by_shots=True, titles=table.titles)
    columns = [WHO]
    if len({column.task for column in task_columns}) > 1:
        columns.append(Column(AVERAGE, "average", digits=1, is_strong=True))
    for column in task_columns:
        about = "" if links is None else _items_of(column.task, rows)
        columns.append(column.shown("", links, table, about))
    at = ", fully supervised" if shots == FULLY_SUPERVISED else f" at {shots_text(shots)}"
    shown = ((line.first.block, _overview_line(line, table, links)) for line in _by_score(lines))
    whole = in_blocks(shown, _no_skill(table, task_columns))
    return Table(
        "overview",
        f"People and systems{at}",
        "",
        tuple(columns),
        whole,
        marks={**NOTES, **LEGEND, **_of_several(table, whole)},
        keeps_kinds=True,
    )


def _once_below(rows: Iterable[Row]) -> list[Row]:
    """Drop what a system's later runs would repeat: on other shot sets or items these, with those
    before them, have no more in common with people than those before them alone."""
    shown: dict[object, Row] = {}
    for row in rows:
        is_below = row.kind == RowKind.RUN and row.block == OTHER
        shown.setdefault((whose(row), row.task) if is_below else id(row), row)
    return list(shown.values())


def _items_of(task: str, rows: Iterable[Row]) -> str:
    """The item clusters that all of its figures rest on, but for those in the blocks below."""
    counts = {row.m for row in rows if row.task == task and row.m and not row.block}
    return f"m = {counts.pop()}" if len(counts) == 1 else ""


def _sizes_told(table: Comparison, shots: str) -> str:
    """How many people and items, for a table without room in its head."""
    rows = [row for row in table.figures if str(row.shots) == shots]
    people = [row for row in rows if row.is_cell_of_people]
    items = {
        table.task_names.get(row.task, row.task): size
        for row in people
        if (size := _items_of(row.task, rows))
    }
    same = set(items.values())
    each = [f"{size} ({task})" for task, size in items.items()]
    sizes = [_sizes(people), *(same if len(same) == 1 else each)]
    return f"{', '.join(filter(None, sizes))}." if people else ""


def _by_score(lines: Iterable[FigureLine]) -> list[FigureLine]:
    """People as they come, then the systems, the highest score first; by groups of items below."""

    def place(line: FigureLine) -> tuple[str, bool, float]:
        group = line.first.group or ""
        if line.first.is_of_people:
            return group, False, 0.0
        means = [row.mean for row in line.figures.values() if row.mean is not None]
        return group, True, -sum(means) / len(means) if means else 0.0

    return sorted(lines, key=place)


def apart(test: Difference) -> str:
    """People minus the system, with the interval of that difference."""
    if test.difference is None:
        return ""
    between = limits(test.low, test.high).replace("-", "−")
    return " ".join(filter(None, [signed(test.difference), between]))


def _overview_line(line: FigureLine, table: Comparison, links: Links) -> Line:
    cells = {column.key: _overview_cell(row, table, links) for column, row in line.figures.items()}
    average = table.average_of(line.first)
    mean = _overview_cell(average, table, links) if average else Cell()
    return Line({"who": _who(line, table), AVERAGE: mean, **cells}, kind=line.kind)


def _who(line: FigureLine, table: Comparison) -> Cell:
    first = line.first
    if first.is_cell_of_people:
        sizes = _sizes(line.figures.values())
        sizes += " a task" if sizes and len({row.task for row in line.figures.values()}) > 1 else ""
        return Cell(line.name, aside=", ".join(filter(None, [sizes, first.after_checks])))
    runs = {row.n for row in line.figures.values() if row.kind == RowKind.RUN}
    size = f"({first.parameters})" if first.parameters else ""
    few = runs_text(min(filter(None, runs), default=None))
    came = max((test.supplement or "" for test in table.tests_of(first)), default="")
    about = [size, few, f"came {came}" if first.block == LATER and came else ""]
    return name_cell(line, line.name, ", ".join(filter(None, about)))


def _sizes(rows: Iterable[Row]) -> str:
    sizes = sorted({row.n for row in rows if row.n})
    return f"n = {'–'.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))}" if sizes else ""


def _overview_cell(row: Row | Average, table: Comparison, links: Links) -> Cell:
    tests = table.tests_of(row)
    sign, in_words = _verdicts_of(tests)
    low, high = row.limits
    is_apart = isinstance(row, Row) and row.block in (OTHER, INCOMPLETE, GROUPED)
    is_own = is_apart or not table.has_verdicts
    size = f"m = {row.m}" if isinstance(row, Row) and is_own and row.m else ""
    return Cell(
        row.mean,
        sd=row.sd,
        low=low,
        high=high,
        marks=marks_of(row) if isinstance(row, Row) else "",
        sign=sign,
        in_words=in_words,
        size=size,
        beneath=(size,) if size and links is not None else (),
        opens=() if links is None else tuple(_opened(row, tests, table)),
    )


def _verdicts_of(tests: Sequence[Difference]) -> tuple[str, str]:
    """The sign and its words; of pools that differ a sign each."""
    shown = first_of(tests)
    of_pools = [
        (pool, test)
        for pool, those in _by_pool(tests).items()
        if (test := first_of(those)) and shown and test.simulated == shown.simulated
    ]
    signs = [sign_of(test) for _pool, test in of_pools]
    if shown is None or len({*signs}) == 1:
        return sign_of(shown), verdict_in_words(shown) if shown else ""
    words = (f"{pool}: {verdict_in_words(test)}" for pool, test in of_pools)
    return "".join(sign or MISSING for sign in signs), "; ".join(words)


def _by_pool(tests: Iterable[Difference]) -> dict[str, list[Difference]]:
    pools: dict[str, list[Difference]] = defaultdict(list)
    for test in tests:
        pools[test.pool or ""].append(test)
    return dict(sorted(pools.items()))


def _of_several(table: Comparison, lines: Sequence[Line]) -> dict[str, str]:
    """What the signs of pools that differ say: of whom each is."""
    cells = [cell for line in lines for cell in line.cells.values() if isinstance(cell, Cell)]
    whose = ", then of ".join(_by_pool((*table.tests, *table.average_tests)))
    return {cell.sign: f"of {whose}" for cell in cells if len(cell.sign) > 1}


def _opened(row: Row | Average, tests: Iterable[Difference], table: Comparison) -> Iterable[Opened]:
    if isinstance(row, Row):
        if size := size_of(row):
            yield "", size
        for column, text in beside_score(row):
            yield column.heading, f"{text} {column.unit}"
    for test in tests:
        yield from _of_test(test)
    if isinstance(row, Row):
        for person in scores_of_persons(row, table.rows):
            yield str(person.system), with_sd(person)


def _of_test(test: Difference) -> Iterable[Opened]:
    yield f"{test.pool or 'people'} minus system", apart(test)
    yield "", verdict_in_words(test)
    if test.reasons:
        yield "not sure", ", ".join(test.reasons)
    if test.disputed:
        yield "disputed items", test.disputed
    if test.p_holm is not None:
        yield "p, Holm", "< 0.001" if test.p_holm < 0.001 else f"{test.p_holm:.3f}"
    if test.above is not None:
        yield "people above it", f"{test.above} of {test.n}"
    if test.runs_left_out:
        yield "runs on other shot sets, left out", str(test.runs_left_out)


def _no_skill(table: Comparison, columns: Sequence[ScoreColumn]) -> Iterable[Line]:
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
        # In any order the same, to the last digit.
        mean = fsum(floors[task] for task in tasks) / len(tasks) if whole else None
        yield Line({"who": Cell("no skill"), AVERAGE: mean, **cells}, kind="bound")


def main_table(table: Comparison) -> Table:
    """The table as it would stand in a paper: the verdicts are in its note."""
    shots = shots_of_people(table.rows)
    legend = [
        sentence
        for answer in (answers(table, shots) if table.has_verdicts else ())
        for sentence in (*answer.headline, answer.so_far)
        if sentence
    ]
    paper = replace(overview(table, shots), is_short=True)
    return _explained(
        replace(paper, title=f"{paper.title} in “{table.title}”"),
        table,
        [row for row in table.rows if not row.single],
        [_sizes_told(table, shots), *legend, *_terms(table)],
    )


def _terms(table: Comparison) -> Iterable[str]:
    margin = max((test.margin or 0.0 for test in table.tests), default=0.0)
    if table.tests and table.has_verdicts and table.study:
        yield f"Margin {margin:g} points." if margin else "No margin was set."
    if table.versions and table.versions[-1].verdicts and table.has_verdicts:
        last = table.versions[-1]
        yield f"Frozen on {last.day} (version {last.number}: {last.after or last.reason})."
        yield from revisions(table)


def paper_tables(table: Comparison) -> list[Table]:
    """The tables as in a paper: the answer, annotators, systems, full supervision, times; no empty
    ones."""
    return [paper for paper in (main_table(table), *appendix_tables(table)) if paper.lines]


def appendix_tables(table: Comparison) -> list[Table]:
    papers = [
        *annotators_by_shots(table),
        *system_tables(table),
        *supervision_table(table, shots_of_people(table.rows)),
    ]
    shown = [_explained(paper, table, table.figures) for paper in papers if paper.lines]
    times = table.named(time_table(table))
    return [*shown, times] if times.lines else shown


def _explained(
    paper: Table, table: Comparison, rows: Sequence[Row], further: Iterable[str] = ()
) -> Table:
    """Explain what stands in its cells, which are of these rows, and of single annotators: above it
    in a sentence, the rest beneath."""
    cells = [cell for line in paper.lines for cell in line.cells.values() if isinstance(cell, Cell)]
    has_sd = any(cell.sd is not None for cell in cells)
    has_interval = any(cell.low is not None and cell.high is not None for cell in cells)
    single = any(cell.aside.startswith(ANNOTATOR) for cell in cells)
    average = any(getattr(line.cells.get(AVERAGE), "sd", None) is not None for line in paper.lines)
    over = ["people: over annotators"]
    over += ["single annotators: over items"] if single else []
    over += ["systems: over runs"]
    over += ["averages: √(Σ SD²) / tasks"] if average else []
    clusters = ", those of one context counted once" if table.shares_contexts else ""
    policy = scored_under(table.references or "of each task", table.normalisation)
    beside = (" ± SD" if has_sd else "") + (" with its 95 % interval" if has_interval else "")
    sentences = [
        f"SD of {'; '.join(over)}." if has_sd else "",
        f"{_interval(table, rows)}." if has_interval else "",
        f"n people, m items{clusters}.",
        *(table.warning, *further),
    ]
    note = f"S1 in percent (references {policy}){beside}."
    return replace(paper, note=note, remark=" ".join(filter(None, sentences)))


def _interval(table: Comparison, rows: Iterable[Row]) -> str:
    """What the intervals of its cells are."""
    methods = {row.ci_method for row in rows}
    name = "Student's t" if table.choices.estimand == "these_items" else "Wilson"
    others = [words for method, words in OTHER_INTERVALS.items() if method in methods]
    return "; ".join([f"95 % intervals for {table.estimand}, {name}", *others])


def _json(table: Comparison) -> str:
    facts = {
        "benchmark": table.benchmark,
        "references": table.references,
        "interim": table.interim_titles or None,
        "note": table.warning or None,
    }
    tests = table.verdicts
    verdicts = [
        {**record, "tasks": list(test.tasks), "reasons": list(test.reasons)}
        for test, record in zip(tests, finding_table(tests).records, strict=True)
    ]
    rows = row_table("rows", table.rows).records
    versions = [
        {
            "version": version.number,
            "frozen_at": version.day,
            "reason": version.reason,
            "verdicts": [{key: test.get(key) for key in VERDICT_KEYS} for test in version.verdicts],
        }
        for version in table.versions
    ]
    return as_json([], {**facts, "rows": rows, "verdicts": verdicts, "versions": versions})


def _markdown(table: Comparison) -> str:
    further = (interval_table(table.rows, table.titles), annotator_table(table.rows))
    parts: Iterable[str] = (
        f"# Comparison: {escaped_markdown(table.title)}",
        as_markdown([*paper_tables(table), *(table.named(one) for one in further if one.lines)]),
        escaped_markdown(table.provenance),
    )
    return "\n\n".join(parts) + "\n"


def _xlsx(table: Comparison) -> bytes:
    """Sheets to read, one for each question; behind them every row as it is."""
    raw = [row_table("comparison", table.rows), row_table("consensus", table.consensus)]
    filled = [part for part in raw if part.lines or part.name == "comparison"]
    to_read = [*paper_tables(table), verdict_table(table), annotator_table(table.rows)]
    return as_xlsx(
        [*filled, columns_table(table.provenance)],
        to_read=[table.named(part) for part in to_read if part.lines],
    )


FORMATS: dict[str, Format[Comparison]] = {
    "csv": Format("csv", lambda table: as_csv(judged_row_table(table))),
    "json": Format("json", _json),
    "latex": Format("latex", lambda of: as_plain_latex(main_table(of), comment=of.provenance)),
    "latex-appendix": Format(
        "latex", lambda of: as_latex(appendix_tables(of), comment=of.provenance)
    ),
    "markdown": Format("markdown", _markdown),
    "xlsx": Format("xlsx", _xlsx),
}
