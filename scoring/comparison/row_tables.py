"""The rows and verdicts of a comparison as tables: every column for exports, what each interval
says, the annotators one by one, and who is ahead, in words for reading and as values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from scoring.cells.rows import BY_KEY, COLUMNS, Row, RowKind, scored_under
from scoring.comparison.comparison import Comparison, first_of
from scoring.contrasts.difference import COLUMNS as OF_TESTS
from scoring.contrasts.difference import Difference, Sort
from scoring.contrasts.outcomes import verdict_in_words
from scoring.core.normalisation import NONE
from scoring.models import method_label
from scoring.tables.table import (
    Cell,
    Column,
    Line,
    Table,
    limits,
    lines_of,
    picked,
    records_of,
    values_of,
    words,
)

ESTIMANDS = {"new_items": "new items", "these_items": "these items"}
# In sight on a page; the rest is behind a click on a line.
USUAL_OF_INTERVALS = ("task", "shots", "mean", "interval", "n", "m", "without")
USUAL_OF_ANNOTATORS = ("study", "system", "task", "shots", "split", "mean", "sd", "median_item_s")
# Of one person they say what the others of the cell say too.
OF_CELLS = {"kind", "gold_version", "coverage"}


def row_table(name: str, rows: Iterable[Row]) -> Table:
    return Table(name, "", "", COLUMNS, lines_of(records_of(COLUMNS, rows)))


def columns_table(provenance: str) -> Table:
    """What the columns mean, and what all figures rest on."""
    meanings = {column.key: str(column.meaning) for column in COLUMNS}
    described = {**meanings, "(all figures)": provenance}.items()
    return Table(
        "columns",
        "",
        "",
        (Column("column", "", is_number=False), Column("meaning", "", is_number=False)),
        lines_of({"column": key, "meaning": meaning} for key, meaning in described),
    )


def interval_table(rows: Iterable[Row], titles: Mapping[str, str]) -> Table:
    """Says for which items each interval is, by which method, over how many people or runs and item
    clusters, and under which reference policy. titles: what readers call the studies."""
    return Table(
        "intervals",
        "How each interval was computed",
        "",
        (
            Column("who", "Who", "People of a study, or a system.", is_number=False, is_name=True),
            *picked(BY_KEY, "task shots"),
            replace(BY_KEY["mean"], heading="Mean"),
            Column("interval", "Interval (95 %)", "Its limits, in percent.", digits=1),
            replace(BY_KEY["estimand"], heading="For"),
            BY_KEY["ci_method"],
            replace(BY_KEY["n"], heading="n"),
            *picked(BY_KEY, "m references gold_version shot_sets"),
            Column(
                "without",
                "Without one",
                "The range of the mean when any one annotator is left out, in percent.",
                digits=1,
            ),
            *picked(BY_KEY, "flagged notes"),
        ),
        tuple(
            _interval_line(row, titles)
            for row in rows
            if row.ci_low is not None or (row.notes and not row.single)
        ),
    )


def _interval_line(row: Row, titles: Mapping[str, str]) -> Line:
    study = titles.get(row.study or "", row.study)
    who = ", ".join(filter(None, (row.system, row.pool, method_label(row.method), study)))
    return Line(
        {
            **values_of(COLUMNS, row),
            "who": who,
            "references": scored_under(row.references, row.normalisation),
            "interval": limits(row.ci_low, row.ci_high) or None,
            "estimand": str(ESTIMANDS[row.estimand]) if row.estimand else None,
            "without": limits(row.without_low, row.without_high) or None,
        }
    )


def annotator_table(rows: Sequence[Row]) -> Table:
    """Each person, in every column that persons fill; the figures are over their items."""
    people = [row for row in rows if row.single]
    filled = {key for key in BY_KEY if any(getattr(row, key) is not None for row in people)}
    shown = (filled | {"split"}) - OF_CELLS
    if {row.normalisation for row in people} <= {NONE}:
        shown -= {"normalisation"}
    columns = tuple(column for column in COLUMNS if column.key in shown)
    lines = tuple(_annotator_line(columns, row) for row in people)
    return Table("annotators", "Annotators", "", columns, lines)


def _annotator_line(columns: Sequence[Column], row: Row) -> Line:
    aside = {RowKind.SIMULATED: "simulated", RowKind.ELSEWHERE: "from elsewhere"}.get(row.kind, "")
    return Line({**values_of(columns, row), "system": Cell(row.system, aside=aside)})


# Of a system's row in the export of all rows: what its sign in the table says.
OF_ROWS = (
    words(
        "against", "Against", "The study with whose people this system is compared.", source="study"
    ),
    *picked(OF_TESTS, "outcome certainty reasons supplement"),
    replace(OF_TESTS["difference"], meaning="Those people minus this system, in percent points."),
    OF_TESTS["low"].under("difference_low", source="low"),
    OF_TESTS["high"].under("difference_high", source="high"),
    *picked(OF_TESTS, "p_holm"),
)
READ = picked(
    OF_TESTS,
    "study pool task shots system method parameters other_shots outcome reasons difference "
    "low high p p_holm family runs margin exploratory supplement frozen_at disputed",
)
VERDICTS = (
    *picked(OF_TESTS, "study simulated task tasks shots system method parameters other_shots"),
    *picked(OF_TESTS, "other_system other_method other_parameters outcome certainty"),
    *picked(OF_TESTS, "reasons exploratory frozen_at supplement pool group difference"),
    *picked(OF_TESTS, "low high p p_holm family in_family margin fragile disputed runs m n above"),
)


def verdict_table(table: Comparison) -> Table:
    """Who is ahead, in words: every verdict, of averages over tasks, of cells, between shots."""
    lines = (
        {
            **values_of(READ, test),
            "task": test.task or "average",
            "outcome": verdict_in_words(test),
        }
        for test in table.verdicts
        if test.sort != Sort.SYSTEMS
    )
    return Table("verdicts", "Who is ahead", table.warning, READ, lines_of(lines))


def finding_table(tests: Iterable[Difference]) -> Table:
    """Every verdict with what it rests on; an average names its tasks and has no task."""
    return Table("verdicts", "Who is ahead", "", VERDICTS, lines_of(records_of(VERDICTS, tests)))


def judged_row_table(table: Comparison) -> Table:
    """Every row as it is, a system's with what may be said of people beside it."""
    judged = ((row, first_of(table.tests_of(row))) for row in table.rows)
    lines = (
        {**values_of(COLUMNS, row), **(values_of(OF_ROWS, test) if test else {})}
        for row, test in judged
    )
    return Table("comparison", "", "", (*COLUMNS, *OF_ROWS), lines_of(lines))
