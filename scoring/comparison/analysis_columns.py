"""The columns that several tables of an analysis have."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_lazy as _

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
    text("simulated", _("Simulated"), _("Whether the annotators are simulated.")),
    BY_KEY["task"],
    BY_KEY["shots"],
)
SYSTEM = (
    text("system", _("System"), _("The system's name.")),
    BY_KEY["method"],
    text("parameters", _("Parameters"), _("The system's size, as its submitter states it.")),
)
UNDER_KEYS = ("references", "normalisation", "gold_version")
UNDER = tuple(BY_KEY[key] for key in UNDER_KEYS)
ANNOTATORS = Column("n", "n", _("Annotators in the cell."))
DIFFERENCE = (
    points(
        "difference",
        _("Difference"),
        _(
            "The first side less the second, in percent points, on the items that the system and "
            "somebody answered; the two means are over these items, so that they subtract."
        ),
    ),
    points("low", _("95 % low"), _("Lower limit of the difference's 95 % interval.")),
    points("high", _("95 % high"), _("Upper limit of the difference's 95 % interval.")),
    points("se", "SE", _("Standard error of the difference, in percent points.")),
    Column("df", "df", _("Satterthwaite's degrees of freedom."), digits=1),
    p_column("p", "p", _("Two-sided p value of the difference, not adjusted.")),
    p_column(
        "p_holm",
        _("p, Holm"),
        _(
            "The p value adjusted by Holm's method over the tests of one study's people that allow "
            "a claim (five annotators or more); simulated annotators by themselves."
        ),
    ),
    p_column(
        "p_bh",
        _("p, BH"),
        _("The p value adjusted over the same tests by Benjamini and Hochberg; for exploring."),
    ),
    p_column(
        "sign_flip_p",
        _("p, sign flips"),
        _(
            "Two-sided p value from flipping the signs of the item clusters' differences: about "
            "these people and these runs only."
        ),
    ),
    Column("n", "n", _("Annotators of the first side that were compared.")),
    Column("r", "r", _("Annotators of the second side, or a system's splits.")),
    Column("m", "m", _("Item clusters of the test: items that share a context count as one.")),
    Column("left_out", _("Items left out"), _("Items that one side did not answer.")),
    Column(
        "people_left_out",
        _("People left out"),
        _("Annotators of splits that the system does not have, or without a compared item."),
    ),
    Column("runs_left_out", _("Runs left out"), _("Runs of splits that people do not have.")),
    text("notes", _("Notes"), _("What limits the test, in words.")),
)
VERDICT = (
    text(
        "outcome",
        _("Outcome"),
        _(
            "What may be said of the first side, with the margin and after Holm: ahead, behind, "
            "same (as good within the margin), undecided; exploratory below five annotators; "
            "untested where nothing could be computed."
        ),
    ),
    text("direction", _("Direction"), _("What the data speak for, before p is adjusted.")),
    p_column("p_direction", _("p of the direction"), _("Its p value, with the margin; raw.")),
    Column("family", _("Family"), _("How many tests Holm's p is adjusted over.")),
    Column("margin", _("Margin"), _("The margin, in points, set before the start."), digits=1),
)
OF_PEOPLE = (
    Column("above", _("Above"), _("How many of the n annotators score higher than the system.")),
    points(
        "detectable",
        _("Detectable"),
        _(
            "Where nothing was decided: the smallest true difference, in points, that a comparison "
            "like this one finds to exceed the margin, by itself, four times out of five."
        ),
    ),
    text("falls", _("Falls"), _("Whether it is another verdict without some one annotator.")),
)


def with_notes(row: Plain) -> Plain:
    return {**row, "notes": " ".join(row["notes"])}


def cell_columns(cell: Plain) -> Plain:
    keys = ("study", "simulated", "task", "shots", *UNDER_KEYS)
    # An analysis of an older program does not tell them all.
    return {key: cell.get(key) for key in keys}
