"""The figures of a comparison: its rows, what they are read against, and under which policies they
stand."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Any

from annotation.models import ReferencePolicy
from scoring.core.intervals import EXPLORATORY_BELOW
from scoring.core.normalisation import NONE
from scoring.tables.table import OPEN, ROUNDED, columns_in

PEOPLE = "Human"
SIMULATED = "SIMULATED PEOPLE"
ELSEWHERE = "Human, from elsewhere"
CONSENSUS = "Consensus"
SIMULATED_CONSENSUS = "Consensus of SIMULATED PEOPLE"
EPISODE_BOOTSTRAP = "episode-bootstrap"
CEILING = "ceiling"
# The blocks of a table below the systems that a study is compared with; the second has every
# published figure too, the last figures of groups of items.
LATER, OTHER, INCOMPLETE, GROUPED = "later", "other", "incomplete", "grouped"
BLOCKS = {
    "": "",
    LATER: "Supplement: added later, or not named before the start; corrected separately",
    OTHER: "On other shot sets or items: exploratory",
    INCOMPLETE: "Partial: not every item has an answer, so these are compared with nobody",
    GROUPED: "By group of items: exploratory",
}


class RowKind(StrEnum):
    HUMAN = "human"
    ANNOTATOR = "annotator"
    RUN = "run"
    REPORTED = "reported"
    SIMULATED = "simulated"
    # Of people whom others asked: a cell or one person.
    ELSEWHERE = "elsewhere"
    CONSENSUS = "consensus"
    # What no skill earns, on a leaderboard.
    BOUND = "bound"


# Of cells of people, whose names in tables are these.
MEASURED = {
    RowKind.HUMAN: PEOPLE,
    RowKind.ELSEWHERE: ELSEWHERE,
    RowKind.SIMULATED: SIMULATED,
}


@dataclass(frozen=True)
class Row:
    """The exported columns in order, then the rest. What each means, how it is shown, and what of
    it readers see who may not see the gold: rows.toml."""

    kind: RowKind
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
    shot_sets: str | None = None
    # How much hangs on one of a cell's annotators. Beside its mean they tell one person's score.
    without_low: float | None = None
    without_high: float | None = None
    flagged: int | None = None
    notes: str | None = None
    # Of people by pools, and of items by groups.
    pool: str | None = None
    group: str | None = None
    matched: bool | None = None

    parameters: str = ""
    source: str = ""
    # Of a system: whether the answers of a run show no skill by themselves, and whether it was told
    # to think first, which people are not.
    shows_no_skill: bool = False
    was_to_reason: bool = False
    # One person, not a cell.
    single: bool = False
    # Where a table has it: with the study's systems (""), or in one of the blocks below.
    block: str = ""
    # Of a system, in place of its own fields: all that may be shown to whoever may not see the
    # gold. Empty unless each of its runs is whole and well-formed.
    released: dict[str, Any] | None = None
    # How many splits the people are from.
    splits: int = 1
    # Of the interval, as the average over tasks takes them.
    se: float | None = None
    df: float | None = None
    is_of_episodes: bool = False
    # Of people who were checked on the task itself: such as “0 shots after 10 checks”.
    after_checks: str = ""
    # Of people and their consensus, how many items anybody answered.
    items: int | None = None
    # Of one item, how many people answered it: the fewest and the most.
    answers_an_item: tuple[int, ...] = ()

    @cached_property
    def is_cell_of_people(self) -> bool:
        """Measured here, as a group."""
        is_cell = not self.single and self.block != GROUPED
        return is_cell and self.kind in MEASURED

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
        return self.kind in (*MEASURED, RowKind.CONSENSUS)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.ci_low, self.ci_high

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
    """The policy, and the normalisation where there is any: such as “any, squad-normalised”."""
    named = f"{normalisation}-normalised" if normalisation not in (None, NONE) else ""
    return ", ".join(filter(None, [references, named]))


_SHOWN = columns_in(__file__, "row")
BY_KEY = {key: column for key, column in _SHOWN.items() if column.heading}
COLUMNS = tuple(BY_KEY.values())
# What people fill beside their scores: behind them on a page, in a document in a table of its own.
BESIDE_SCORES = (BY_KEY["median_item_s"],)


def released(figure: float) -> float:
    """A figure in percent for whoever may not see the gold: all its digits could be a sum that only
    one set of golds gives; so rounded, of a whole run, it takes 1,001 values: ten bits."""
    return round(figure, 1)


def withheld_row(row: Row, *, is_interim: bool = False) -> Row:
    """The row as whoever may not see the gold is shown it: only what its columns say, of a single
    person a mean alone, and of a running study no score at all."""
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


def no_skill(all_bounds: list[Bound]) -> dict[str, float]:
    """The most that an allowed answer earns without a look at the question, by task."""
    best: dict[str, float] = {}
    for bound in all_bounds:
        if bound.is_floor:
            best[bound.task] = max(best.get(bound.task, 0.0), bound.score)
    return best


def first_policies(rows: Collection[Row], bounds: Iterable[Bound] = ()) -> dict[str, str]:
    """The policy of each task's first column: that of the figures scored here, else that of its
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
