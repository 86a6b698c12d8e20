"""The columns that several tables of an analysis have."""

from collections.abc import Iterator
from typing import Any

from scoring.comparison.rows import BY_KEY
from scoring.tables.table import Column, Text, p_column

Plain = dict[str, Any]


def text(key: str, heading: Text, meaning: Text) -> Column:
    return Column(key, heading, meaning, is_number=False)


def points(key: str, heading: Text, meaning: Text) -> Column:
    return Column(key, heading, meaning, digits=1)


def limits(name: str, headings: tuple[Text, Text], meaning: Text) -> Iterator[Column]:
    for end, heading in zip(("low", "high"), headings, strict=True):
        yield points(f"{name}_{end}", heading, meaning)


WHERE = (
    BY_KEY["study"],
    text("simulated", "Simulated", "Whether the annotators are simulated."),
    BY_KEY["task"],
    BY_KEY["shots"],
)
SYSTEM = (
    text("system", "System", "The system's name."),
    BY_KEY["method"],
    text("parameters", "Parameters", "The system's size, as its submitter states it."),
)
UNDER_KEYS = ("references", "normalisation", "gold_version")
UNDER = tuple(BY_KEY[key] for key in UNDER_KEYS)
ANNOTATORS = Column("n", "n", "Annotators in the cell.")
DIFFERENCE = (
    points(
        "difference",
        "Difference",
        "The first side less the second, in percent points, on the items that the system and "
        "somebody answered; the two means are over these items, so that they subtract.",
    ),
    points("low", "95 % low", "Lower limit of the difference's 95 % interval."),
    points("high", "95 % high", "Upper limit of the difference's 95 % interval."),
    points("se", "SE", "Standard error of the difference, in percent points."),
    Column("df", "df", "Satterthwaite's degrees of freedom.", digits=1),
    p_column("p", "p", "Two-sided p value of the difference, not adjusted."),
    p_column(
        "p_holm",
        "p, Holm",
        "The p value adjusted by Holm's method over the tests of one study's people that allow "
        "a claim (five annotators or more); simulated annotators by themselves.",
    ),
    p_column(
        "p_bh",
        "p, BH",
        "The p value adjusted over the same tests by Benjamini and Hochberg; for exploring.",
    ),
    p_column(
        "sign_flip_p",
        "p, sign flips",
        "Two-sided p value from flipping the signs of the item clusters' differences: about "
        "these people and these runs only.",
    ),
    Column("n", "n", "Annotators of the first side that were compared."),
    Column("r", "r", "Annotators of the second side, or a system's splits."),
    Column("m", "m", "Item clusters of the test: items that share a context count as one."),
    Column("left_out", "Items left out", "Items that one side did not answer."),
    Column(
        "people_left_out",
        "People left out",
        "Annotators of splits that the system does not have, or without a compared item.",
    ),
    Column("runs_left_out", "Runs left out", "Runs of splits that people do not have."),
    text("notes", "Notes", "What limits the test, in words."),
)
VERDICT = (
    text(
        "outcome",
        "Outcome",
        "What may be said of the first side, with the margin and after Holm: ahead, behind, "
        "same (as good within the margin), undecided; exploratory below five annotators; "
        "untested where nothing could be computed.",
    ),
    text("direction", "Direction", "What the data speak for, before p is adjusted."),
    p_column("p_direction", "p of the direction", "Its p value, with the margin; raw."),
    Column("family", "Family", "How many tests Holm's p is adjusted over."),
    Column("margin", "Margin", "The margin, in points, set before the start.", digits=1),
)
OF_PEOPLE = (
    Column("above", "Above", "How many of the n annotators score higher than the system."),
    points(
        "detectable",
        "Detectable",
        "Where nothing was decided: the smallest true difference, in points, that a comparison "
        "like this one finds to exceed the margin, by itself, four times out of five.",
    ),
    text("falls", "Falls", "Whether it is another verdict without some one annotator."),
)


def with_notes(row: Plain) -> Plain:
    return {**row, "notes": " ".join(row["notes"])}


def cell_columns(cell: Plain) -> Plain:
    keys = ("study", "simulated", "task", "shots", *UNDER_KEYS)
    # An analysis of an older program does not tell them all.
    return {key: cell.get(key) for key in keys}
