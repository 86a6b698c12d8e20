"""One row of a comparison, what its columns mean, and how it is exported."""

from dataclasses import dataclass
from math import isnan
from typing import Any

from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.normalisation import NONE
from scoring.tables.table import Column

PEOPLE = "Human"
SIMULATED = "Simulated annotators"
CONSENSUS = "Consensus"
SIMULATED_CONSENSUS = "Consensus, simulated"
EPISODE_BOOTSTRAP = "episode-bootstrap"


@dataclass(frozen=True)
class Row:
    """The exported columns in order, None where something does not apply; then what the tables show
    beside them."""

    kind: str
    study: str | None = None
    system: str | None = None
    method: str | None = None
    task: str = ""
    shots: int | str | None = None
    split: int | None = None
    mean: float | None = None
    sd: float | None = None
    n: int | None = None
    m: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: str | None = None
    estimand: str | None = None
    references: str | None = None
    gold_version: int | None = None
    coverage: float | None = None
    median_item_s: float | None = None
    # None for a published figure, which does not say.
    normalisation: str | None = None
    # Of a cell of people with several splits.
    shot_sets: str | None = None
    # How much hangs on one of a cell's annotators.
    without_low: float | None = None
    without_high: float | None = None
    flagged: int | None = None
    notes: str | None = None
    # Beside the interval of a small group, which it holds.
    guard_low: float | None = None
    guard_high: float | None = None
    parameters: str = ""
    source: str = ""
    single: bool = False  # one person, not a cell
    # What the interval is over: annotators, a system's splits, episodes.
    units: int | None = None
    # Of a system, from the rounded means of its runs alone; None unless each of them is whole and
    # well-formed. All that may be shown to whoever may not see the gold.
    released_mean: float | None = None
    released_sd: float | None = None
    # How many splits the people are from.
    splits: int = 1
    # Of the interval, as the average over tasks takes them.
    se: float | None = None
    df: float | None = None

    @property
    def scored_under(self) -> str:
        """The reference policy, and the normalisation where there is any."""
        return scored_under(self.references, self.normalisation)

    @property
    def is_exploratory(self) -> bool:
        """For people: too few for a claim of better or worse, by the unit of their interval."""
        units = self.units or self.n
        return units is not None and 1 < units < EXPLORATORY_BELOW


def scored_under(references: str | None, normalisation: str | None) -> str:
    """Such as “any” or “any, squad-normalised”."""
    named = f"{normalisation}-normalised" if normalisation not in (None, NONE) else ""
    return ", ".join(filter(None, [references, named]))


# The headings are those of the table of annotators.
COLUMNS = (
    Column(
        "kind",
        "Kind",
        "human: a cell of a study (task × shots); annotator: one person in it; run: a system "
        "over its splits; reported: a figure known only as published; simulated: a cell of "
        "simulated annotators, or one of them by pseudonym; consensus (on a sheet of its own): "
        "what more than half of a cell's annotators chose, scored like one answer.",
        is_number=False,
    ),
    Column(
        "study",
        "Study",
        "The study's slug; empty for runs and published figures.",
        is_number=False,
    ),
    Column(
        "system",
        "Annotator",
        "The system's name; for an annotator the pseudonym; for people Human.",
        is_number=False,
        is_name=True,
    ),
    Column(
        "method",
        "Method",
        "FT, PT, ICL or another way of adapting a system; empty for people.",
        is_number=False,
    ),
    Column(
        "task",
        "Task",
        "The task's name; its slug in CSV, JSON and the sheets of every row.",
        is_number=False,
    ),
    Column(
        "shots",
        "Shots",
        "Number of training examples; 0 is zero-shot, all is fully supervised; few: episodes "
        "that have any.",
    ),
    Column(
        "split",
        "Split",
        "The training split of one annotator; empty for a figure over splits.",
    ),
    Column(
        "mean",
        "Mean S1, %",
        "Mean S1 in percent, every item counting equally; for a cell, the mean over its "
        "annotators.",
        digits=1,
    ),
    Column(
        "sd",
        "SD over items",
        "Sample SD (ddof 1) in percent points: over annotators (human), over splits (run), "
        "over items (annotator); as published (reported). For episodes, the SD (ddof 0) over "
        "them.",
        digits=1,
    ),
    Column(
        "n",
        "Items",
        "Annotators (human), splits (run), items with an answer (annotator), as published "
        "(reported).",
    ),
    Column(
        "m",
        "m",
        "Item clusters behind the interval: items that share a context count as one. For "
        "episodes, their number.",
    ),
    Column("ci_low", "95 % low", "Lower limit of the 95 % interval, in percent.", digits=1),
    Column("ci_high", "95 % high", "Upper limit of the 95 % interval, in percent.", digits=1),
    Column(
        "ci_method",
        "Method",
        "How the interval was computed.",
        is_number=False,
    ),
    Column(
        "estimand",
        "Interval for",
        "new_items: how other people would do on other items like these; these_items: on "
        "exactly this test set.",
        is_number=False,
    ),
    Column(
        "references",
        "References",
        "How several reference answers count: set (their union), any (the best one), unknown "
        "(a published figure that does not say).",
        is_number=False,
    ),
    Column(
        "gold_version",
        "Gold version",
        "The version of the task's reference answers that was scored against.",
    ),
    Column(
        "coverage",
        "Coverage",
        "Share of the items that have an answer, in [0, 1]; the mean is over these only.",
        digits=3,
    ),
    Column(
        "median_item_s",
        "Median time",
        "For people (human, annotator, simulated), the median over their test answers of the "
        "seconds from showing the item to storing the answer, by the server's clock and "
        "without the cap on pay: a cap would hide slow items, and a median tolerates a long "
        "pause.",
        unit="s per item",
        digits=1,
    ),
    Column(
        "normalisation",
        "Normalisation",
        "What answers and references are stripped of before they are compared: none, or squad "
        "(case, punctuation, articles and extra spaces, as SQuAD's script does); empty for a "
        "published figure.",
        is_number=False,
    ),
    Column(
        "shot_sets",
        "Shot sets",
        "For people of several splits: these, where the interval holds for the shot sets that "
        "were used; new, where it is for other shot sets as well, with the split as the unit.",
        is_number=False,
    ),
    Column(
        "without_low",
        "Without one, low",
        "The lowest mean of the cell when any one annotator is left out, in percent.",
        digits=1,
    ),
    Column(
        "without_high",
        "Without one, high",
        "The highest mean of the cell when any one annotator is left out, in percent.",
        digits=1,
    ),
    Column(
        "flagged",
        "Flagged",
        "How many annotators (of one: 1) differ from the others of the cell by 20 points or "
        "more, beyond item noise: a description, not a test. Two who differ that much from "
        "each other are both flagged.",
    ),
    Column(
        "notes",
        "Notes",
        "Why there is no interval, or what limits it, in words.",
        is_number=False,
    ),
    Column(
        "guard_low",
        "Guard band, low",
        "Of three or four people: lower limit of the guard band, in percent. It is read alone.",
        digits=1,
    ),
    Column(
        "guard_high",
        "Guard band, high",
        "Of three or four people: upper limit of the guard band, in percent. It is read alone.",
        digits=1,
    ),
)
BY_KEY = {column.key: column for column in COLUMNS}
KEYS = tuple(BY_KEY)
# What the people of a cell fill beside their scores: a page has it behind the score, and a document
# to read in a table of its own.
BESIDE_SCORES = (BY_KEY["median_item_s"],)


def as_plain(row: Row) -> dict[str, Any]:
    return {key: getattr(row, key) for key in KEYS}


def percent(score: float) -> float | None:
    return None if isnan(score) else 100 * float(score)


def released(figure: float) -> float:
    """A figure in percent as readers who may not see the gold get it: with all its digits it can be
    a sum that only one set of golds gives; so rounded, of a run that answers every item, it takes
    at most 1,001 values: ten bits."""
    return round(figure, 1)
