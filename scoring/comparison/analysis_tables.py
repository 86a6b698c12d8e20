"""All tables of an analysis: how each is read on a page, and exported."""

from collections.abc import Callable, Mapping

from scoring.comparison.analysis_columns import Plain, text
from scoring.comparison.cell_tables import (
    aggregates_table,
    agreement_table,
    excluded_table,
    uncertainty_table,
)
from scoring.comparison.difference_tables import (
    average_tests_table,
    changes_table,
    systems_table,
    tests_table,
)
from scoring.comparison.learning_tables import (
    PERSONS,
    annotator_curves_table,
    curves_table,
    gains_table,
)
from scoring.comparison.pooled_tables import pooled_annotators_table, pooled_items_table
from scoring.comparison.rows import BY_KEY
from scoring.tables.table import Column, Table, lines_of

TABLES: dict[str, Callable[[Plain], Table]] = {
    "tests": tests_table,
    "systems": systems_table,
    "changes": changes_table,
    "uncertainty": uncertainty_table,
    "agreement": agreement_table,
    "curves": curves_table,
    "gains": gains_table,
    PERSONS: annotator_curves_table,
    "aggregates": aggregates_table,
    "average-tests": average_tests_table,
    "excluded": excluded_table,
    "pooled-annotators": pooled_annotators_table,
    "pooled-items": pooled_items_table,
}

# The column that lists several.
TASKS = "tasks"


def analysis_tables(result: Plain) -> list[Table]:
    """Every table of a kept analysis; those without rows are left out."""
    tables = [make_table(result) for make_table in TABLES.values()]
    return [table for table in tables if table.lines]


def with_task_names(table: Table, names: Mapping[str, str]) -> Table:
    """As it is read; the bare values stay slugs."""
    lists = {str(record[TASKS]) for record in table.records if record.get(TASKS)}
    of_lists = {
        tasks: ", ".join(names.get(task, task) for task in tasks.split(", ")) for tasks in lists
    }
    return table.with_names("task", names).with_names(TASKS, of_lists)


def provenance_table(facts: Plain) -> Table:
    """What the other tables of a document rest on; it goes with them."""
    return Table(
        "provenance",
        "What these figures rest on",
        "Stale: answers, runs, gold or figures have changed since this was computed, so it no "
        "longer matches the data.",
        (
            text(
                "inputs",
                "Fingerprint of the inputs",
                "The first 12 digits of a checksum of all answers, runs, gold and choices.",
            ),
            text("computed_at", "Computed at", "Date and time, with the time zone."),
            text("stale", "Stale", "Whether the inputs have changed since."),
            Column("seed", "Seed", "Where all random draws start."),
            Column("scorer_version", "Scorer version", "The version of the scoring rules."),
            BY_KEY["references"],
            BY_KEY["estimand"],
            text(
                "interim",
                "Interim",
                "The studies that are not closed, whose figures may still change.",
            ),
        ),
        lines_of([facts]),
    )
