"""The columns of a difference, as tables and exports have them."""

from functools import partial

from scoring.cells.rows import BY_KEY
from scoring.tables.table import Column, p_column

words = partial(Column, is_number=False)
points = partial(Column, digits=1)

SIMULATED = words("simulated", "Simulated", "Whether the annotators are simulated.")
WHERE = (BY_KEY["study"], SIMULATED, BY_KEY["task"], BY_KEY["shots"])
SYSTEM = (
    words("system", "System", "The system's name."),
    BY_KEY["method"],
    words("parameters", "Parameters", "The system's size, as its submitter states it."),
)
P_HOLM = p_column(
    "p_holm",
    "p, Holm",
    "The p value adjusted by Holm's method over the tests of one study's people that allow "
    "a claim (five annotators or more); simulated annotators by themselves.",
)
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
    points("df", "df", "Satterthwaite's degrees of freedom."),
    p_column("p", "p", "Two-sided p value of the difference, not adjusted."),
    P_HOLM,
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
    words("notes", "Notes", "What limits the test, in words."),
)
VERDICT = (
    words(
        "outcome",
        "Outcome",
        "What may be said of the first side, with the margin and after Holm: ahead, behind, "
        "same (as good within the margin), undecided; exploratory below five annotators; "
        "untested where nothing could be computed.",
    ),
    words("direction", "Direction", "What the data speak for, before p is adjusted."),
    p_column("p_direction", "p of the direction", "Its p value, with the margin; raw."),
    Column("family", "Family", "How many tests Holm's p is adjusted over."),
    points("margin", "Margin", "The margin, in points, set before the start."),
)
OF_PEOPLE = (
    Column("above", "Above", "How many of the n annotators score higher than the system."),
    points(
        "detectable",
        "Detectable",
        "Where nothing was decided: the smallest true difference, in points, that a comparison "
        "like this one finds to exceed the margin, by itself, four times out of five.",
    ),
    words(
        "falls",
        "Falls",
        "Whether it is another verdict without some one annotator.",
        source="fragile",
    ),
)
BY_NAME = {one.key: one for one in (*WHERE, *SYSTEM, *DIFFERENCE, *VERDICT, *OF_PEOPLE)}
