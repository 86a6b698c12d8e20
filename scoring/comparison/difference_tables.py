"""The tests of an analysis as tables: people against systems, systems against one another, more
shots against fewer, and people against systems over all tasks."""

from scoring.comparison.analysis_columns import (
    DIFFERENCE,
    OF_PEOPLE,
    SYSTEM,
    UNDER,
    VERDICT,
    WHERE,
    Plain,
    points,
    text,
    with_notes,
)
from scoring.comparison.rows import BY_KEY
from scoring.tables.table import Column, Table, lines_of, p_column


def tests_table(result: Plain) -> Table:
    return Table(
        "tests",
        "People against systems, on the same items",
        "Percent points, people less system, for other people, other runs and other items like "
        "these: Satterthwaite's t on the items that the system and somebody answered. Holm's p "
        "covers the tests of one study with five annotators or more; Benjamini and Hochberg's "
        "is for exploring. The sign-flip test over item clusters is about these people and "
        "these runs only. Non-overlapping SD bars are not a test.",
        (
            *WHERE,
            *SYSTEM,
            points("mean", "People", "People's mean S1 in percent on the compared items."),
            points(
                "other_mean",
                "System's mean",
                "The system's mean S1 in percent on the compared items.",
            ),
            *DIFFERENCE,
            *VERDICT,
            *OF_PEOPLE,
            *UNDER,
        ),
        lines_of(map(with_notes, result["tests"])),
    )


def systems_table(result: Plain) -> Table:
    return Table(
        "systems",
        "Systems against systems, on the same items",
        "Percent points, first less second, on the same items and, where both have two or more "
        "of the same, on the same splits. The p values are adjusted over this table, which is "
        "a family of its own.",
        (
            BY_KEY["task"],
            BY_KEY["shots"],
            text("first", "First", "The first system's name."),
            text("first_method", "Method", "How the first system was adapted."),
            text("first_parameters", "Parameters", "The first system's size."),
            text("system", "Second", "The second system's name."),
            text("method", "Method", "How the second system was adapted."),
            text("parameters", "Parameters", "The second system's size."),
            points("mean", "First's mean", "In percent, on the compared items."),
            points("other_mean", "Second's mean", "In percent, on the compared items."),
            *(column for column in DIFFERENCE if column.key != "sign_flip_p"),
            *VERDICT,
            *UNDER,
        ),
        lines_of(map(with_notes, result["systems"])),
    )


def changes_table(result: Plain) -> Table:
    return Table(
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
            points(
                "other_mean",
                "Fewer",
                "With fewer shots, in percent, on the compared items.",
            ),
            *DIFFERENCE,
            *UNDER,
        ),
        lines_of(map(with_notes, result["changes"])),
    )


def average_tests_table(result: Plain) -> Table:
    return Table(
        "average-tests",
        "People against systems, over all tasks",
        "The mean of the tasks' differences, people less system, in percent points. Those of "
        "one study's people are a family of their own. Where tasks share people there is no "
        "interval.",
        (
            BY_KEY["study"],
            text("simulated", "Simulated", "Whether the annotators are simulated."),
            BY_KEY["shots"],
            *SYSTEM,
            points("difference", "Difference", "The mean of the tasks' differences."),
            points("low", "95 % low", "Lower limit of its 95 % interval."),
            points("high", "95 % high", "Upper limit of its 95 % interval."),
            *(column for column in VERDICT if column.key != "p_direction"),
            p_column("p", "p of the direction", "Its p value, with the margin; raw."),
            *(column for column in DIFFERENCE if column.key == "p_holm"),
            *(column for column in OF_PEOPLE if column.key == "detectable"),
            text("tasks", "Tasks", "The tasks that the mean is over."),
            BY_KEY["notes"],
        ),
        lines_of(
            {**with_notes(row), "tasks": ", ".join(row["tasks"])} for row in result["averages"]
        ),
    )
