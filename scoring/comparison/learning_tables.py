"""The training in an analysis as tables: curves, gains, and each annotator's own curve."""

from scoring.comparison.analysis_columns import (
    UNDER,
    WHERE,
    Plain,
    cell_columns,
    points,
    text,
)
from scoring.tables.table import Column, Table, lines_of

# The table that has a line for each person.
PERSONS = "annotator-curves"
POSITIONS = (
    Column("first", "From position", "The first training item of the block, from 1."),
    Column("last", "To position", "The last training item of the block."),
)


def curves_table(result: Plain) -> Table:
    return Table(
        "curves",
        "Learning over the training items",
        "S1 in percent by position in the shot set, over everybody who finished the training, "
        "screened out or not. Adjusted: corrected for which items happened to be there, since "
        "orders differ, and kept within 0 and 100.",
        (
            *WHERE,
            Column("annotators", "Annotators", "Those who finished the training of the cell."),
            *POSITIONS,
            Column("answers", "Answers", "Answers at these positions."),
            points("mean", "Mean", "Mean S1 of these answers in percent, not adjusted."),
            points(
                "adjusted",
                "Adjusted",
                "Mean S1 in percent, corrected for which items stood at these positions.",
            ),
            points("se", "SE of adjusted", "Standard error of that mean, in percent points."),
            *UNDER,
        ),
        lines_of(
            {**cell_columns(curve), "annotators": curve["annotators"], **point}
            for curve in result["curves"]
            for point in curve["points"]
        ),
    )


def gains_table(result: Plain) -> Table:
    return Table(
        "gains",
        "Gain over the training",
        "The slope of S1 over the positions, corrected for annotators and items, in percent "
        "points. SE and interval are robust within annotators: for other people, these items.",
        (
            *WHERE,
            Column("annotators", "Annotators", "Those who finished the training of the cell."),
            points("total", "Gain", "From the first training item to the last."),
            points("low", "95 % low", "Lower limit of the gain's 95 % interval."),
            points("high", "95 % high", "Upper limit of the gain's 95 % interval."),
            points("se", "SE", "Standard error of the gain."),
            Column("per_item", "Gain per item", "From one item to the next.", digits=2),
            *UNDER,
        ),
        lines_of(
            {**cell_columns(curve), "annotators": curve["annotators"], **curve["gain"]}
            for curve in result["curves"]
        ),
    )


def annotator_curves_table(result: Plain) -> Table:
    return Table(
        PERSONS,
        "Learning of each annotator",
        "Mean S1 in percent over the same positions, not adjusted.",
        (
            *WHERE,
            text("annotator", "Annotator", "The annotator's pseudonym."),
            *POSITIONS,
            points("mean", "Mean", "The annotator's mean S1 in percent."),
            *UNDER,
        ),
        lines_of(
            {
                **cell_columns(curve),
                "annotator": name,
                "first": point["first"],
                "last": point["last"],
                "mean": mean,
            }
            for curve in result["curves"]
            for name, means in curve["by_annotator"].items()
            for point, mean in zip(curve["points"], means, strict=True)
        ),
    )
