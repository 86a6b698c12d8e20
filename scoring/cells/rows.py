"""The figures of a comparison: its rows, each field with its column as exported and who may see it;
what they are read against, and under which policies they stand."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any

from annotation.models import ReferencePolicy
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.normalisation import NONE
from scoring.tables.table import HIDDEN, OPEN, REQUIRED, ROUNDED, Column, columns_of, described

PEOPLE = "Human"
SIMULATED = "SIMULATED PEOPLE"
CONSENSUS = "Consensus"
SIMULATED_CONSENSUS = "Consensus of SIMULATED PEOPLE"
EPISODE_BOOTSTRAP = "episode-bootstrap"
CEILING = "ceiling"
# The blocks of a table below the systems that a study is compared with; the second has every
# published figure too, the third figures of groups of items.
LATER, OTHER, GROUPED = "later", "other", "grouped"
BLOCKS = {
    "": "",
    LATER: "Supplement: came later, or not named before the start; adjusted separately",
    OTHER: "On other shot sets or items: exploratory",
    GROUPED: "By group of items: exploratory",
}


class RowKind(StrEnum):
    HUMAN = "human"
    ANNOTATOR = "annotator"
    RUN = "run"
    REPORTED = "reported"
    SIMULATED = "simulated"
    CONSENSUS = "consensus"
    # What no skill earns, on a leaderboard.
    BOUND = "bound"


def _column(
    without_gold: str, heading: str, meaning: str, digits: int | None = None, **how: Any
) -> Any:
    """A field that is exported, and what readers without the gold see of it."""
    return described(heading, meaning, digits=digits, without_gold=without_gold, **how)


def _words(without_gold: str, heading: str, meaning: str, **how: Any) -> Any:
    return _column(without_gold, heading, meaning, is_number=False, **how)


def _beside(without_gold: str, default: Any = None) -> Any:
    """A field that tables show beside the exported ones, or that they follow from."""
    return field(default=default, metadata={"column": Column("", "", without_gold=without_gold)})


@dataclass(frozen=True)
class Row:
    """The exported columns in order, headed as in the table of annotators; then the rest."""

    kind: RowKind = _words(  # noqa: RUF009 as below
        OPEN,
        "Kind",
        "human: a cell of a study (task × shots); annotator: one person in it; run: a system "
        "over its runs; reported: a figure known only as published; simulated: a cell of "
        "simulated annotators, or one of them by pseudonym; consensus (on a sheet of its own): "
        "what more than half of a cell's annotators chose, scored like one answer.",
        default=REQUIRED,
    )
    study: str | None = _words(
        OPEN,
        "Study",
        "The study's title; its slug in CSV, JSON and the sheets of every row; empty for runs and "
        "published figures.",
    )
    system: str | None = _words(
        OPEN,
        "Annotator",
        "The system's name; for an annotator the pseudonym; for people Human.",
        is_name=True,
    )
    method: str | None = _words(
        OPEN, "Method", "FT, PT, ICL or another way of adapting a system; empty for people."
    )
    task: str = _words(
        OPEN,
        "Task",
        "The task's name; its slug in CSV, JSON and the sheets of every row.",
        default="",
    )
    shots: int | str | None = _column(
        OPEN,
        "Shots",
        "Number of training examples; 0 is zero-shot, all is fully supervised; few: episodes "
        "that have any.",
    )
    split: int | None = _column(
        OPEN, "Split", "The training split of one annotator; empty for a figure over splits."
    )
    mean: float | None = _column(
        ROUNDED,
        "Mean S1, %",
        "Mean S1 in percent, every item counting equally; for a cell, the mean over its "
        "annotators.",
        1,
    )
    sd: float | None = _column(
        ROUNDED,
        "SD over items",
        "Sample SD (ddof 1) in percent points: over annotators (human), over runs (run), "
        "over items (annotator); as published (reported). For episodes, the SD (ddof 0) over "
        "them.",
        1,
    )
    n: int | None = _column(
        OPEN,
        "Items",
        "Annotators (human), runs (run), items with an answer (annotator), as published "
        "(reported).",
    )
    m: int | None = _column(
        OPEN,
        "m",
        "Item clusters that it rests on: items that share a context count as one. For episodes, "
        "their number.",
    )
    ci_low: float | None = _column(
        ROUNDED, "95 % low", "Lower limit of the 95 % interval, in percent.", 1
    )
    ci_high: float | None = _column(
        ROUNDED, "95 % high", "Upper limit of the 95 % interval, in percent.", 1
    )
    ci_method: str | None = _words(ROUNDED, "Method", "How the interval was computed.")
    estimand: str | None = _words(
        ROUNDED,
        "Interval for",
        "new_items: how other people would do on other items like these; these_items: on "
        "exactly this test set.",
    )
    references: str | None = _words(
        OPEN,
        "References",
        "How several reference answers count: set (their union), any (the best one), unknown "
        "(a published figure that does not say).",
    )
    gold_version: int | None = _column(
        OPEN,
        "Gold version",
        "The version of the task's reference answers that was scored against.",
    )
    coverage: float | None = _column(
        OPEN,
        "Coverage",
        "Share of the items that have an answer, in [0, 1]; the mean is over these only.",
        3,
    )
    median_item_s: float | None = _column(
        OPEN,
        "Median time",
        "For people (human, annotator, simulated), the median over their test answers of the "
        "seconds from showing the item to storing the answer, by the server's clock and "
        "without the cap on pay: a cap would hide slow items, and a median tolerates a long "
        "pause.",
        1,
        unit="s per item",
    )
    # None for a published figure, which does not say.
    normalisation: str | None = _words(
        OPEN,
        "Normalisation",
        "What answers and references are stripped of before they are compared: none, or squad "
        "(case, punctuation, articles and extra spaces, as SQuAD's script does); empty for a "
        "published figure.",
    )
    shot_sets: str | None = _words(
        OPEN,
        "Shot sets",
        "For people of several splits: these, where the interval holds for the shot sets that "
        "were used; new, where it is for other shot sets as well, with the split as the unit.",
    )
    # How much hangs on one of a cell's annotators. Beside its mean they tell one person's score.
    without_low: float | None = _column(
        HIDDEN,
        "Without one, low",
        "The lowest mean of the cell when any one annotator is left out, in percent.",
        1,
    )
    without_high: float | None = _column(
        HIDDEN,
        "Without one, high",
        "The highest mean of the cell when any one annotator is left out, in percent.",
        1,
    )
    flagged: int | None = _column(
        HIDDEN,
        "Flagged",
        "How many annotators (of one: 1) differ from the others of the cell by 20 points or "
        "more, beyond item noise: a description, not a test. Two who differ that much from "
        "each other are both flagged.",
    )
    notes: str | None = _words(
        ROUNDED, "Notes", "Why there is no interval, or what limits it, in words."
    )
    # Of people by pools, and of items by groups.
    pool: str | None = _words(OPEN, "Pool", "The group of the study's people; empty for all.")
    group: str | None = _words(OPEN, "Group", "The group of items; empty for all.")
    matched: bool | None = _words(
        OPEN,
        "Matched",
        "Whether it rests on the items that the study's people answered, and on their shot sets.",
    )

    parameters: str = _beside(OPEN, "")
    source: str = _beside(OPEN, "")
    # One person, not a cell.
    single: bool = _beside(OPEN, default=False)
    # Where a table has it: with the study's systems (""), or in one of the blocks below.
    block: str = _beside(OPEN, "")
    # Of a system, in place of its own fields: all that may be shown to whoever may not see the
    # gold. Empty unless each of its runs is whole and well-formed.
    released: dict[str, Any] | None = _beside(OPEN)  # noqa: RUF009 as above
    # How many splits the people are from.
    splits: int = _beside(OPEN, 1)
    # Of the interval, as the average over tasks takes them.
    se: float | None = _beside(HIDDEN)
    df: float | None = _beside(HIDDEN)
    is_of_episodes: bool = _beside(OPEN, default=False)
    # Of people who were checked on the task itself: such as “0 shots after 10 checks”.
    after_checks: str = _beside(OPEN, "")
    # Of people and their consensus, how many items anybody answered.
    items: int | None = _beside(HIDDEN)
    # Of one item, how many people answered it: the fewest and the most.
    answers_an_item: tuple[int, ...] = _beside(HIDDEN, ())

    @cached_property
    def is_cell_of_people(self) -> bool:
        """Measured here, as a group."""
        is_cell = not self.single and self.block != GROUPED
        return is_cell and self.kind in (RowKind.HUMAN, RowKind.SIMULATED)

    @property
    def is_on_curve(self) -> bool:
        """Whether the figure of scores against shots shows it."""
        is_drawn = not self.single and not self.block and self.mean is not None
        return is_drawn and isinstance(self.shots, int)

    @cached_property
    def is_of_people(self) -> bool:
        """Rather than of a system: measured, published, or what most of them said."""
        if self.kind == RowKind.REPORTED:
            return not self.method
        return self.kind in (RowKind.HUMAN, RowKind.SIMULATED, RowKind.CONSENSUS)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.ci_low, self.ci_high

    @property
    def scored_under(self) -> str:
        """The reference policy, and the normalisation where there is any."""
        return scored_under(self.references, self.normalisation)

    @cached_property
    def is_exploratory(self) -> bool:
        """Too few people for a claim of better or worse."""
        return self.is_of_people and self.n is not None and self.n < EXPLORATORY_BELOW


# Of a row, or of an average over its task and others: which people or system, with as many shots,
# and on which items.
WHOSE = ("kind", "study", "pool", "system", "method", "parameters", "shots", "block", "group")
whose = attrgetter(*WHOSE)
# Of a row or a test: which system.
system_of = attrgetter("system", "method", "parameters")


def scored_under(references: str | None, normalisation: str | None) -> str:
    """Such as “any” or “any, squad-normalised”."""
    named = f"{normalisation}-normalised" if normalisation not in (None, NONE) else ""
    return ", ".join(filter(None, [references, named]))


_SHOWN = columns_of(Row)
BY_KEY = {key: column for key, column in _SHOWN.items() if column.heading}
COLUMNS = tuple(BY_KEY.values())
# What people fill beside their scores: behind them on a page, in a document in a table of its own.
BESIDE_SCORES = (BY_KEY["median_item_s"],)


def released(figure: float) -> float:
    """A figure in percent for whoever may not see the gold: all its digits could be a sum that only
    one set of golds gives; so rounded, of a whole run, it takes 1,001 values: ten bits."""
    return round(figure, 1)


def withheld_row(row: Row, *, is_interim: bool = False) -> Row:
    """As whoever may not see the gold is shown it: only what its columns say, of a single person a
    mean alone, and of a running study no score at all."""
    if row.kind == RowKind.REPORTED:
        return row
    is_group = row.is_cell_of_people and row.n != 1 and not is_interim
    shown: dict[str, Any] = {}
    for key, column in _SHOWN.items():
        value, how = getattr(row, key), column.without_gold
        if how == OPEN:
            shown[key] = value
        elif how == ROUNDED and (is_group or (key == "mean" and not is_interim)):
            shown[key] = released(value) if isinstance(value, float) else value
    if row.kind == RowKind.RUN:
        shown |= {"mean": None, "sd": None, **(row.released or {})}
        if row.matched and not shown["matched"]:
            shown["block"] = OTHER
    return Row(**shown)


@dataclass(frozen=True)
class Bound:
    """One figure of a task that a score must be read against, in percent."""

    task: str
    rule: str
    score: float
    references: str
    gold_version: int
    normalisation: str = NONE
    label: str = "Ceiling"
    in_words: str = ""
    # Whether an allowed answer earns it without a look at the question.
    is_floor: bool = False
    # In the order that a table shows them.
    place: int = 0


def no_skill(all_bounds: list[Bound]) -> dict[str, float]:
    """By task, the most that an allowed answer earns without a look at the question."""
    best: dict[str, float] = {}
    for bound in all_bounds:
        if bound.is_floor:
            best[bound.task] = max(best.get(bound.task, 0.0), bound.score)
    return best


def first_policies(rows: Collection[Row], bounds: Iterable[Bound] = ()) -> dict[str, str]:
    """By task, the policy of its first column: that of the figures scored here, else that of its
    floors, else that of the published figures; "" if none is known."""
    scored = [row for row in rows if row.kind != RowKind.REPORTED]
    first = {row.task: "" for row in rows}
    figures: list[Row | Bound] = [*scored, *bounds, *rows]
    for figure in figures:
        if figure.references in ReferencePolicy.values and not first.get(figure.task):
            first[figure.task] = figure.references
    return first


def policy_of(row: Row, first: Mapping[str, str]) -> str:
    """The policy whose column a figure goes in; the first if its policy is unknown."""
    return row.references if row.references in ReferencePolicy.values else first.get(row.task, "")
