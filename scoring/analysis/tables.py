"""All tables of an analysis: what each says, and its own columns, stand in tables.toml."""

from collections.abc import Mapping

from scoring.cells.rows import BY_KEY, Row, RowKind
from scoring.contrasts.averages import OF_AVERAGES
from scoring.contrasts.difference import COLUMNS as OF_TESTS
from scoring.tables.table import Column, Table, Value, columns_in, picked, table_in, values_of

# What every score names.
TERMS = ("references", "normalisation", "gold_version")
SCORED_UNDER = tuple(BY_KEY[key] for key in TERMS)
WHERE = picked(OF_TESTS, "study pool simulated task shots")
SYSTEM = picked(OF_TESTS, "system method parameters")
VERDICT = picked(
    OF_TESTS, "outcome certainty reasons exploratory supplement family margin fragile disputed"
)
DIFFERENCE = picked(OF_TESTS, "difference low high se df p p_holm m left_out notes")


def _table(name: str, *columns: Column) -> Table:
    return table_in(__file__, name, columns)


def _further(name: str, keys: str = "") -> tuple[Column, ...]:
    """All that the table has beside those of rows and tests; or these, with some of rows."""
    columns = columns_in(__file__, name)
    return picked({**BY_KEY, **columns}, keys) if keys else tuple(columns.values())


TESTS = _table(
    "tests",
    *(*WHERE, *SYSTEM, *picked(OF_TESTS, "mean other_mean"), *DIFFERENCE),
    *picked(OF_TESTS, "n runs runs_left_out above"),
    *(*VERDICT, *SCORED_UNDER),
)
SYSTEMS = _table(
    "systems",
    *_further("systems", "task shots system method parameters"),
    *picked(OF_TESTS, "other_system other_method other_parameters"),
    *(*_further("systems", "mean other_mean"), *DIFFERENCE),
    *(*picked(OF_TESTS, "runs runs_left_out"), *VERDICT, *SCORED_UNDER),
)
CHANGES = _table(
    "changes",
    *(*WHERE, *picked(OF_TESTS, "other_shots"), *_further("changes"), *DIFFERENCE),
    *(*picked(OF_TESTS, "n other_n"), *VERDICT, *SCORED_UNDER),
)
CELLS = _table(
    "uncertainty",
    *WHERE,
    *_further(
        "uncertainty",
        "mean sd sd_ddof0 n m new_items_low new_items_high new_items_df new_items_method "
        "guard_low guard_high these_items_low these_items_high these_items_method annotator_var "
        "item_var residual_var without_low without_high flagged splits shot_sets split_var "
        "within_split_var notes",
    ),
    *SCORED_UNDER,
)
TOGETHER = _table("agreement", *WHERE, *_further("agreement"), *SCORED_UNDER)
# Drawn, not read: its file alone has the points.
CURVES = _table("curves", *WHERE, *_further("curves"), *SCORED_UNDER)
AVERAGES = _table("aggregates", *OF_AVERAGES)
AVERAGE_TESTS = _table(
    "average-tests",
    *(*picked(OF_TESTS, "study pool simulated shots"), *SYSTEM, *_further("average-tests")),
    *(*picked(OF_TESTS, "low high p p_holm"), *VERDICT, *picked(OF_TESTS, "n runs tasks")),
    BY_KEY["notes"],
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
SIDES = _table(
    "excluded",
    *WHERE,
    *sorted(_SIDES.values(), key=lambda column: column.key.endswith("method")),
    *(BY_KEY["estimand"], *SCORED_UNDER),
)


def excluded_record(without: Row | None, including: Row) -> dict[str, Value]:
    """A cell's record with and without its excluded annotators; without, nobody may be left."""
    return {
        **values_of((*WHERE, BY_KEY["estimand"], *SCORED_UNDER), including),
        "simulated": including.kind == RowKind.SIMULATED,
        **{f"without_{key}": getattr(without, key, None) for key in _SIDE},
        **{f"with_{key}": getattr(including, key) for key in _SIDE},
    }


ALL = (TESTS, SYSTEMS, CHANGES, CELLS, TOGETHER, AVERAGES, AVERAGE_TESTS, SIDES)
TABLES = {table.name: table for table in (*ALL, CURVES)}
PROVENANCE = _table(
    "provenance",
    *_further("provenance", "inputs computed_at stale seed scorer_version"),
    *_further("provenance", "references estimand interim"),
)


def with_names(table: Table, names: Mapping[str, str], titles: Mapping[str, str]) -> Table:
    """Name tasks and studies as they are read; the bare values stay slugs."""
    lists = {str(record["tasks"]) for record in table.records if record.get("tasks")}
    of_lists = {
        tasks: ", ".join(names.get(task, task) for task in tasks.split(", ")) for tasks in lists
    }
    return table.with_names("task", names).with_names("tasks", of_lists).with_names("study", titles)
