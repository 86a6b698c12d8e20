"""All tables of an analysis: what each says, and its columns."""

from collections.abc import Mapping

from scoring.analysis.uncertainty import AGREEMENT, UNCERTAINTY, Record
from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.tables.table import Column, Table, picked, points, values_of, words
from scoring.tests.differences import COLUMNS as OF_TESTS
from scoring.tests.verdicts import OF_AVERAGES

# What every score names.
TERMS = ("references", "normalisation", "gold_version")
SCORED_UNDER = tuple(BY_KEY[key] for key in TERMS)
WHERE = picked(OF_TESTS, "study pool simulated task shots")
SYSTEM = picked(OF_TESTS, "system method parameters")
VERDICT = picked(OF_TESTS, "outcome certainty reasons exploratory supplement family margin fragile")
DIFFERENCE = picked(OF_TESTS, "difference low high se df p p_holm m left_out notes")

TESTS = Table(
    "tests",
    "People against systems, on the same items",
    "Percent points, people less system, for other people and other items like these and, from "
    "five runs on, other runs: Satterthwaite's t on the items that the system and somebody "
    "answered. Holm's p covers the tests of one study with five annotators or more. "
    "Non-overlapping SD bars are not a test.",
    (
        *WHERE,
        *SYSTEM,
        *picked(OF_TESTS, "mean other_mean"),
        *DIFFERENCE,
        *picked(OF_TESTS, "n runs runs_left_out above"),
        *VERDICT,
        *SCORED_UNDER,
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
        words("system", "First", "The first system's name."),
        words("method", "Method", "How the first system was adapted."),
        words("parameters", "Parameters", "The first system's size."),
        *picked(OF_TESTS, "other_system other_method other_parameters"),
        points("mean", "First's mean", "In percent, on the compared items."),
        points("other_mean", "Second's mean", "In percent, on the compared items."),
        *DIFFERENCE,
        *picked(OF_TESTS, "runs runs_left_out"),
        *VERDICT,
        *SCORED_UNDER,
    ),
)
CHANGES = Table(
    "changes",
    "Change between shots",
    "Percent points, more shots less fewer, on the same items and with other people: "
    "Satterthwaite's t for other people and other items like these. The p values are "
    "adjusted over this table.",
    (
        *WHERE,
        *picked(OF_TESTS, "other_shots"),
        points("mean", "More", "With more shots, in percent, on the compared items."),
        points("other_mean", "Fewer", "With fewer shots, in percent, on the compared items."),
        *DIFFERENCE,
        *picked(OF_TESTS, "n other_n"),
        *VERDICT,
        *SCORED_UNDER,
    ),
)
CELLS = Table(
    "uncertainty",
    "The uncertainty of each cell",
    "New items: how other people would do on other items like these; these items: on "
    "exactly this test set. Two people have the guard band in its place. "
    "Components are variances of scores in [0, 1]; they feed the planner.",
    (*WHERE, *UNCERTAINTY, *SCORED_UNDER),
)
TOGETHER = Table(
    "agreement",
    "Consensus and agreement",
    "Consensus holds what more than half of the annotators chose; it is a figure of its"
    " own, not the mean annotator's. α is Krippendorff's; intervals by bootstrap over "
    "contexts.",
    (*WHERE, *AGREEMENT, *SCORED_UNDER),
)
CURVES = Table(
    "curves",
    "Learning over the training items",
    "S1 in percent by position in the shot set, over everybody who finished the training, "
    "screened out or not. Adjusted: corrected for which items happened to be there, since "
    "orders differ, and kept within 0 and 100.",
    (
        *WHERE,
        Column("annotators", "Annotators", "Those who finished the training of the cell."),
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
        *SCORED_UNDER,
    ),
)
AVERAGES = Table(
    "aggregates",
    "Over all tasks",
    "The mean of the task means, only for those who have all of them. SD is that of this "
    "mean, √(Σ sd²)/T; the CLUES leaderboard prints √(Σ sd²) instead.",
    tuple(OF_AVERAGES.values()),
)
AVERAGE_TESTS = Table(
    "average-tests",
    "People against systems, over all tasks",
    "The mean of the tasks' differences, people less system, in percent points. Those of "
    "one study's people are a family of their own. Where tasks share people there is no "
    "interval.",
    (
        *picked(OF_TESTS, "study simulated shots"),
        *SYSTEM,
        points("difference", "Difference", "The mean of the tasks' differences."),
        *picked(OF_TESTS, "low high"),
        *picked(OF_TESTS, "p p_holm"),
        *VERDICT,
        *picked(OF_TESTS, "n runs tasks"),
        BY_KEY["notes"],
    ),
)
# Of either side.
_SIDE = {
    "mean": "Mean",
    "sd": "SD",
    "n": "n",
    "m": "m",
    "ci_low": "Mean, 95 % low,",
    "ci_high": "Mean, 95 % high,",
    "ci_method": "Method",
}
_SIDES = {
    f"{side}_{key}": BY_KEY[key].under(f"{side}_{key}", f"{heading} {side}")
    for side in ("without", "with")
    for key, heading in _SIDE.items()
}
SIDES = Table(
    "excluded",
    "Without and with excluded annotators",
    "Cells that hold excluded annotators, side by side.",
    (
        *WHERE,
        *(column for key, column in _SIDES.items() if not key.endswith("method")),
        *(column for key, column in _SIDES.items() if key.endswith("method")),
        BY_KEY["estimand"],
        *SCORED_UNDER,
    ),
)


def excluded_record(without: Row | None, including: Row) -> Record:
    """Of a cell with and without its excluded annotators; without, nobody may be left."""
    return {
        **values_of((*WHERE, BY_KEY["estimand"], *SCORED_UNDER), including),
        "simulated": including.kind == RowKind.SIMULATED,
        **{f"without_{key}": getattr(without, key, None) for key in _SIDE},
        **{f"with_{key}": getattr(including, key) for key in _SIDE},
    }


ALL = (TESTS, SYSTEMS, CHANGES, CELLS, TOGETHER, CURVES, AVERAGES, AVERAGE_TESTS, SIDES)
TABLES = {table.name: table for table in ALL}
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
            "interim",
            "Interim",
            "The studies with answers that are not closed: their figures may still change.",
        ),
    ),
)


def with_names(table: Table, names: Mapping[str, str], titles: Mapping[str, str]) -> Table:
    """Of tasks and studies, as it is read; the bare values stay slugs."""
    lists = {str(record["tasks"]) for record in table.records if record.get("tasks")}
    of_lists = {
        tasks: ", ".join(names.get(task, task) for task in tasks.split(", ")) for tasks in lists
    }
    return table.with_names("task", names).with_names("tasks", of_lists).with_names("study", titles)
