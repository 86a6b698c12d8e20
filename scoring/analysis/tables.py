"""All tables of an analysis: what each says, its columns, and where it takes its values."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from scoring.analysis.analysing import Analysis
from scoring.cells.rows import BY_KEY
from scoring.tables.table import Column, Line, Table, lines_from, lines_of, p_column, values_of
from scoring.tests.columns import (
    DIFFERENCE,
    OF_PEOPLE,
    P_HOLM,
    SIMULATED,
    SYSTEM,
    VERDICT,
    WHERE,
    points,
    words,
)

UNDER_KEYS = ("references", "normalisation", "gold_version")
UNDER = tuple(BY_KEY[key] for key in UNDER_KEYS)
ANNOTATORS = Column("n", "n", "Annotators in the cell.", source="uncertainty.n")
# The column that lists several.
TASKS = words("tasks", "Tasks", "The tasks that the mean is over.")
_NEW = "The 95 % interval for other people on other items like these, in percent."
_THESE = "The 95 % interval for other people on exactly this test set, in percent."
_GUARD = "The guard band, in percent; only where n is below 5. Two have nothing else."
_variance = partial(Column, digits=4)


UNCERTAINTY = (
    points("mean", "Mean", "Mean S1 in percent over the cell's annotators."),
    points("sd", "SD", "Sample SD (ddof 1) over annotators, in percent points."),
    points(
        "sd_ddof0", "SD (ddof 0)", "SD over annotators with n instead of n – 1, in percent points."
    ),
    Column("n", "n", "Annotators in the cell."),
    Column("m", "m", "Item clusters: items that share a context count as one."),
    points("new_items_low", "New items, low", _NEW, source="new_items.low"),
    points("new_items_high", "New items, high", _NEW, source="new_items.high"),
    points(
        "new_items_df",
        "df",
        "Degrees of freedom of the interval for new items.",
        source="new_items.df",
    ),
    words(
        "new_items_method",
        "New items, method",
        "How the interval for new items was computed.",
        source="new_items.method",
    ),
    points("guard_low", "Guard band, low", _GUARD, source="guard.low"),
    points("guard_high", "Guard band, high", _GUARD, source="guard.high"),
    points("these_items_low", "These items, low", _THESE, source="these_items.low"),
    points("these_items_high", "These items, high", _THESE, source="these_items.high"),
    words(
        "these_items_method",
        "These items, method",
        "How the interval for these items was computed.",
        source="these_items.method",
    ),
    _variance(
        "annotator_var",
        "Annotator variance",
        "How much annotators differ, as a variance of scores in [0, 1].",
    ),
    _variance(
        "item_var", "Item variance", "How much item clusters differ in difficulty, as a variance."
    ),
    _variance(
        "residual_var",
        "Residual variance",
        "The variance that neither annotators nor item clusters explain.",
    ),
    BY_KEY["without_low"],
    BY_KEY["without_high"],
    BY_KEY["flagged"],
    Column("splits", "Splits", "Training sets that the annotators learned from."),
    BY_KEY["shot_sets"],
    _variance(
        "split_var",
        "Variance between splits",
        "How much the splits differ; empty for a single one.",
    ),
    _variance(
        "within_split_var",
        "Variance within splits",
        "How much annotators of one split differ; empty if nobody shares one.",
    ),
    BY_KEY["notes"],
)


_LIMIT = "A limit of its 95 % interval, by bootstrap over contexts."
# Krippendorff's and the like, each with its interval.
OF_PAIRS = (
    (
        "masi",
        "α, MASI",
        "Krippendorff's α with the MASI distance between two answers: 1 is full "
        "agreement, 0 what chance gives.",
    ),
    (
        "pairwise_s1",
        "S1 of pairs",
        "Mean S1 of two annotators' answers against each other, from 0 to 1.",
    ),
    ("empty", "α, empty or not", "Krippendorff's α on whether an answer is empty."),
)
_CONSENSUS = "Its 95 % interval by bootstrap over contexts: these people, other items."
AGREEMENT = (
    points(
        "consensus",
        "Consensus S1, %",
        "Mean S1 in percent of what more than half of the annotators chose.",
        source="consensus.mean",
    ),
    points("consensus_low", "Consensus, low", _CONSENSUS, source="consensus.ci_low"),
    points("consensus_high", "Consensus, high", _CONSENSUS, source="consensus.ci_high"),
    ANNOTATORS,
    Column("items", "Items", "Items that anybody answered.", source="consensus.items"),
    points(
        "against_others",
        "Against the others",
        "Mean S1 in percent of each annotator against the consensus of the others, in "
        "place of the gold: what lies above it may be noise in the labels. Three "
        "annotators or more.",
        source="agreement.against_others",
    ),
    *(
        Column(key, heading, meaning, digits=2, source=f"agreement.{source}")
        for name, title, what in OF_PAIRS
        for key, heading, meaning, source in (
            (name, title, what, f"{name}.value"),
            (f"{name}_low", "95 % low", _LIMIT, f"{name}.low"),
            (f"{name}_high", "95 % high", _LIMIT, f"{name}.high"),
        )
    ),
)
OF_CURVE = (
    *WHERE,
    Column("annotators", "Annotators", "Those who finished the training of the cell."),
)
OF_POINT = (
    Column("first", "From position", "The first training item of the block, from 1."),
    Column("last", "To position", "The last training item of the block."),
    Column("answers", "Answers", "Answers at these positions."),
    points("mean", "Mean", "Mean S1 of these answers in percent, not adjusted."),
    points(
        "adjusted",
        "Adjusted",
        "Mean S1 in percent, corrected for which items stood at these positions.",
    ),
    points("se", "SE of adjusted", "Standard error of that mean, in percent points."),
)
EXCLUDED = (
    BY_KEY["study"].under("study", source="including.study"),
    SIMULATED.under("simulated", source="including.is_simulated"),
    BY_KEY["task"],
    BY_KEY["shots"],
    *(
        BY_KEY[key].under(f"{side}_{key}", f"{heading} {side}", source=f"{source}.{key}")
        for side, source in (("without", "without"), ("with", "including"))
        for key, heading in (
            ("mean", "Mean"),
            ("sd", "SD"),
            ("n", "n"),
            ("m", "m"),
            ("ci_low", "95 % low"),
            ("ci_high", "95 % high"),
        )
    ),
    BY_KEY["ci_method"].under("without_ci_method", "Method without", source="without.ci_method"),
    BY_KEY["ci_method"].under("with_ci_method", "Method with", source="including.ci_method"),
    *(BY_KEY[key].under(key, source=f"including.{key}") for key in ("estimand", *UNDER_KEYS)),
)


TESTS = Table(
    "tests",
    "People against systems, on the same items",
    "Percent points, people less system, for other people, other runs and other items like "
    "these: Satterthwaite's t on the items that the system and somebody answered. Holm's p "
    "covers the tests of one study with five annotators or more. Non-overlapping SD bars are "
    "not a test.",
    (
        *WHERE,
        *SYSTEM,
        points("mean", "People", "People's mean S1 in percent on the compared items."),
        points(
            "other_mean", "System's mean", "The system's mean S1 in percent on the compared items."
        ),
        *DIFFERENCE,
        *VERDICT,
        *OF_PEOPLE,
        *UNDER,
    ),
)
SYSTEMS = Table(
    "systems",
    "Systems against systems, on the same items",
    "Percent points, first less second, on the same items and, where both have two or more "
    "of the same, on the same splits. The p values are adjusted over this table, which is "
    "a family of its own.",
    (
        BY_KEY["task"],
        BY_KEY["shots"],
        words("first", "First", "The first system's name."),
        words("first_method", "Method", "How the first system was adapted."),
        words("first_parameters", "Parameters", "The first system's size."),
        words("system", "Second", "The second system's name."),
        words("method", "Method", "How the second system was adapted."),
        words("parameters", "Parameters", "The second system's size."),
        points("mean", "First's mean", "In percent, on the compared items."),
        points("other_mean", "Second's mean", "In percent, on the compared items."),
        *DIFFERENCE,
        *VERDICT,
        *UNDER,
    ),
)
SHOTS = Table(
    "changes",
    "Change between shots",
    "Percent points, more shots less fewer, on the same items and with other people: "
    "Satterthwaite's t for other people and other items like these. The p values are "
    "adjusted over this table.",
    (
        *WHERE,
        Column(
            "other_shots",
            "Against shots",
            "The smaller number of training examples, which the other annotators had.",
        ),
        points("mean", "More", "With more shots, in percent, on the compared items."),
        points("other_mean", "Fewer", "With fewer shots, in percent, on the compared items."),
        *DIFFERENCE,
        *UNDER,
    ),
)
CELLS = Table(
    "uncertainty",
    "The uncertainty of each cell",
    "New items: how other people would do on other items like these; these items: on "
    "exactly this test set. The guard band is given beside the interval for n below 5. "
    "Components are variances of scores in [0, 1]; they feed the planner.",
    (
        *WHERE,
        *(one.under(one.key, source=f"uncertainty.{one.source or one.key}") for one in UNCERTAINTY),
        *UNDER,
    ),
)
TOGETHER = Table(
    "agreement",
    "Consensus and agreement",
    "Consensus holds what more than half of the annotators chose; it is a figure of its"
    " own, not the mean annotator's. α is Krippendorff's; intervals by bootstrap over "
    "contexts.",
    (
        *WHERE,
        *AGREEMENT,
        *UNDER,
    ),
)
CURVES = Table(
    "curves",
    "Learning over the training items",
    "S1 in percent by position in the shot set, over everybody who finished the training, "
    "screened out or not. Adjusted: corrected for which items happened to be there, since "
    "orders differ, and kept within 0 and 100.",
    (
        *OF_CURVE,
        *OF_POINT,
        *UNDER,
    ),
)
AVERAGES = Table(
    "aggregates",
    "Over all tasks",
    "The mean of the task means, only for those who have all of them. SD is that of this "
    "mean, √(Σ sd²)/T; the CLUES leaderboard prints √(Σ sd²) instead.",
    (
        BY_KEY["kind"],
        BY_KEY["study"],
        *SYSTEM,
        BY_KEY["shots"],
        points("mean", "Mean", "Mean of the task means, in percent."),
        points("low", "95 % low", "Lower limit of its 95 % interval, in percent."),
        points("high", "95 % high", "Upper limit of its 95 % interval, in percent."),
        points(
            "sd",
            "SD of the mean",
            "√(Σ sd²)/T over the T tasks, in percent points; empty if an SD is missing.",
        ),
        points(
            "clues_sd",
            "SD as CLUES prints it",
            "√(Σ sd²), in percent points; empty if an SD is missing.",
        ),
        TASKS,
        words("exploratory", "Exploratory", "Whether a task has fewer than five annotators."),
        BY_KEY["notes"],
        BY_KEY["references"],
        BY_KEY["normalisation"].under("normalisations"),
        words("source", "Source", "Where the figures were published, if they were."),
    ),
)
AVERAGE_TESTS = Table(
    "average-tests",
    "People against systems, over all tasks",
    "The mean of the tasks' differences, people less system, in percent points. Those of "
    "one study's people are a family of their own. Where tasks share people there is no "
    "interval.",
    (
        BY_KEY["study"],
        SIMULATED,
        BY_KEY["shots"],
        *SYSTEM,
        points("difference", "Difference", "The mean of the tasks' differences."),
        points("low", "95 % low", "Lower limit of its 95 % interval."),
        points("high", "95 % high", "Upper limit of its 95 % interval."),
        *(column for column in VERDICT if column.key != "p_direction"),
        p_column("p", "p of the direction", "Its p value, with the margin; raw.").under(
            "p", source="p_direction"
        ),
        P_HOLM,
        *(column for column in OF_PEOPLE if column.key == "detectable"),
        TASKS,
        BY_KEY["notes"],
    ),
)
SIDES = Table(
    "excluded",
    "Without and with excluded annotators",
    "Cells that hold excluded annotators, side by side.",
    (*EXCLUDED,),
)
ALL = (TESTS, SYSTEMS, SHOTS, CELLS, TOGETHER, CURVES, AVERAGES, AVERAGE_TESTS, SIDES)
TABLES = {table.name: table for table in ALL}
# What each is of, if not called like it.
PARTS = {
    "uncertainty": "cells",
    "aggregates": "averages",
    "average-tests": "average_tests",
}
PROVENANCE = Table(
    "provenance",
    "What these figures rest on",
    "Stale: answers, runs, gold or figures have changed since this was computed, so it no "
    "longer matches the data.",
    (
        words(
            "inputs",
            "Fingerprint of the inputs",
            "The first 12 digits of a checksum of all answers, runs, gold and choices.",
        ),
        words("computed_at", "Computed at", "Date and time, with the time zone."),
        words("stale", "Stale", "Whether the inputs have changed since."),
        Column("seed", "Seed", "Where all random draws start."),
        Column("scorer_version", "Scorer version", "The version of the scoring rules."),
        BY_KEY["references"],
        BY_KEY["estimand"],
        words(
            "interim", "Interim", "The studies that are not closed, whose figures may still change."
        ),
    ),
)


def filled(table: Table, analysis: Analysis) -> Table:
    return replace(table, lines=tuple(_lines(table, analysis)))


def analysis_tables(analysis: Analysis) -> list[Table]:
    """Every table of a kept analysis; those without rows are left out."""
    return [table for table in (filled(table, analysis) for table in ALL) if table.lines]


def with_task_names(table: Table, names: Mapping[str, str]) -> Table:
    """As it is read; the bare values stay slugs."""
    lists = {str(record["tasks"]) for record in table.records if record.get("tasks")}
    of_lists = {
        tasks: ", ".join(names.get(task, task) for task in tasks.split(", ")) for tasks in lists
    }
    return table.with_names("task", names).with_names("tasks", of_lists)


def _lines(table: Table, analysis: Analysis) -> Sequence[Line]:
    if table is CURVES:
        return lines_of(
            {**values_of((*OF_CURVE, *UNDER), curve), **values_of(OF_POINT, point)}
            for curve in analysis.curves
            for point in curve.points
        )
    if table is TOGETHER:
        return lines_from(table.columns, [cell for cell in analysis.cells if cell.agreement])
    things = getattr(analysis, PARTS.get(table.name, table.name))
    if table is SIDES:
        things = sorted(things, key=lambda cell: (cell.including.study or "", cell.task))
    return lines_from(table.columns, things)
