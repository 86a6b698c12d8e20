"""Labels that have a column each, or a place in a list, with a mark that says whether they fit."""

from annotation.benchmarks.formats.cells import listed, text_of
from annotation.benchmarks.formats.columns import are_options
from annotation.benchmarks.formats.content import Record
from annotation.benchmarks.formats.known_sets import as_list
from annotation.benchmarks.formats.one_table import Table, Unlabelled
from annotation.kinds.choice import MOST_LABELS
from annotation.models.errors import BadInput

# Whether a label fits, in a column of its own.
MARKS = {"0": False, "1": True, "false": False, "true": True, "False": False, "True": True}


def has_marks(table: Table, kind: str, *, as_set: bool) -> bool:
    """Whether labels have a column or a place each, with 1 where one of them fits. kind: what is
    said of it. Raises BadInput, and Unlabelled where all are the same word."""
    names = as_list(table.columns["answer"])
    marked = "options" in table.columns and all(are_marks(row, table) for row in table.rows)
    if len(names) < 2 or are_options(table.columns):
        return marked
    cells = [str(text_of(cell)) for row in table.rows for cell in table.cells(row, "answer")]
    values = {cell.removesuffix(".0") for cell in cells}
    marked = values <= MARKS.keys()
    these = " and ".join(f"“{name}”" for name in names)
    if not marked and len(values) == 1 and table.rows[1:]:
        raise Unlabelled(
            f"{table.file}: there are no answers in this file: {these} are “{min(values)}” in "
            "every row.",
            table.names,
        )
    if marked and not kind:
        table.ask(
            f"{these} hold 0 and 1.",
            ("kind", "labels", "labels; 1 says that one fits"),
            ("kind", "choice", "labels, one of which fits each row"),
        )
    if not marked and as_set and all(value.isdecimal() for value in values):
        raise BadInput(
            f"{table.file}: {these} hold numbers ({', '.join(sorted(values)[:4])}): write 1 "
            "where the label fits, and 0 where it does not."
        )
    if not marked and len(values) * 2 <= len(table.rows) and len(values) <= MOST_LABELS:
        raise BadInput(
            f"{table.file}: {these} each hold labels ({', '.join(sorted(values)[:4])}), and a "
            "task asks for one of them: choose one column, and import the others as tasks of "
            "their own."
        )
    return marked


def are_marks(row: Record, table: Table) -> bool:
    """Whether its answer is 0 or 1 for each of its options."""
    cell, options = table.cells(row, "answer")[0], table.cells(row, "options")
    answer = listed(row, cell) if isinstance(cell, str) else cell
    offered = options[0] if len(options) == 1 else options
    is_list = isinstance(answer, list) and isinstance(offered, list)
    return is_list and len(answer) == len(offered) > 1 and {*map(str, answer)} <= MARKS.keys()
