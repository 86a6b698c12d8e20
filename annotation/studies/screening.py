"""Whom a study's screening lets in: simulated before the start, kept from then on, and whether a
batch has a floor by it, without which no verdict on it is sure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.kinds import answer_kind
from annotation.kinds.base import asked
from annotation.kinds.gold import gold_in_force
from annotation.models import Batch, DropUnit, ItemSet, Study
from annotation.models.batch import sizes_of
from scoring.core.normalisation import normalised_golds
from scoring.core.screening import (
    ADVISED_GUESSERS,
    CAREFUL_MEAN,
    CAREFUL_SD,
    FEWEST_ITEMS,
    FILLINGS,
    GUESSING,
    ITEM_SD,
    MOST_GUESSERS,
    ScreeningFigures,
    ScreeningRule,
    simulate_screening,
)
from scoring.tables.words import span

# Of 100 who guess: a rule that lets in more takes the owner's word.
MOST_LET_IN = 50
NO_FLOOR = "no floor was set"
SIMULATED_AS = (
    f"Simulated {FILLINGS:,} times with a fixed seed. One arrival in {1 / GUESSING:.0f} guesses. "
    f"The careful are right on {100 * CAREFUL_MEAN:.0f} % of all items on average; on the logit "
    f"scale people differ by {CAREFUL_SD} SD and items by {ITEM_SD}. The rule judges everybody in "
    "the order of arrival, until the places are full."
)


@dataclass(frozen=True)
class Screening:
    """A rule that decides on people by their answers, and whom it lets in."""

    rule: ScreeningRule
    figures: ScreeningFigures

    @property
    def is_floor(self) -> bool:
        return (
            self.rule.floor is not None
            and self.rule.items >= FEWEST_ITEMS
            and 100 * self.figures.guessers_past_floor <= MOST_GUESSERS
        )

    @property
    def sentence(self) -> str:
        return let_in([self])

    @property
    def setting(self) -> str:
        rule = self.rule
        share = f"right on {100 * rule.no_skill:.0f} % of them, as the best blind rule is"
        guess = f"one of {rule.labels} labels" if rule.labels else share
        return f"That is for {rule.places} places and {rule.items} items; a guess is {guess}."

    @property
    def advice(self) -> str:
        """What would make a floor of it; empty where it is one."""
        if self.is_floor:
            return ""
        if self.rule.items < FEWEST_ITEMS:
            return f"A floor needs at least {FEWEST_ITEMS} items, and there are {self.rule.items}."
        lowest = self.figures.lowest_floor
        if lowest is None:
            return "No floor on these items keeps guessers out."
        return (
            f"The lowest floor, in steps of 10 points, that lets in at most {ADVISED_GUESSERS} of "
            f"100 who guess is {lowest} %."
        )


def let_in(screenings: Sequence[Screening]) -> str:
    """A sentence, from the strictest rule to the laxest."""
    guessers = span([round(100 * screening.figures.guessers_in) for screening in screenings])
    careful = span([round(100 * screening.figures.careful_out) for screening in screenings])
    return (
        f"Of 100 people who only guess, about {guessers} get in; of 100 careful ones, about "
        f"{careful} are turned away."
    )


def unsure_verdicts(study: Study) -> Iterator[str]:
    """Told before money is spent: afterwards the rules are frozen."""
    cells = defaultdict[str, dict[str, None]](dict)
    for batch, rules in _rules(study).items():
        if reason := why_no_floor(_simulated(rules.values())):
            cells[reason][f"{batch.task} with {batch.condition}"] = None
    for reason, names in cells.items():
        yield f"No verdict on {', '.join(names)} can be sure: {reason}."


def why_no_floor(screenings: Sequence[Screening]) -> str:
    """Why none of a batch's screenings is a floor; empty where one is."""
    if any(screening.is_floor for screening in screenings):
        return ""
    floors = [screening for screening in screenings if screening.rule.floor is not None]
    if not floors:
        return NO_FLOOR
    large = [screening for screening in floors if screening.rule.items >= FEWEST_ITEMS]
    if not large:
        return f"its floor rests on fewer than {FEWEST_ITEMS} items"
    return f"its floor lets in more than {MOST_GUESSERS:.0f} of 100 people who only guess"


def weak_rules(study: Study) -> Iterator[str]:
    """Tells where a rule lets most guessers in, without the owner's word why it stays."""
    if study.screening_reason.strip():
        return
    weak = defaultdict[Screening, dict[str, None]](dict)
    for batch, rules in _rules(study).items():
        screenings = _simulated(rules.values())
        best = min(screenings, key=lambda screening: screening.figures.guessers_in, default=None)
        if best and 100 * best.figures.guessers_in > MOST_LET_IN:
            weak[best][f"{batch.task} with {batch.condition}"] = None
    for one, cells in weak.items():
        yield (
            f"The rule for {', '.join(cells)} hardly screens. {one.sentence} {one.advice} Change "
            "the rule or drop it, or write in the settings why it stays."
        )


def screenings_in(study: Study) -> dict[int, list[Screening]]:
    """The screenings by batch, of its checks and of its training, where a rule looks at them: as
    the start kept them, or of a draft simulated."""
    batches = study.frozen.get("batches", [])
    stored = {
        kept["batch"]: [
            Screening(ScreeningRule(**screening["rule"]), ScreeningFigures(**screening["figures"]))
            for screening in kept["screenings"]
        ]
        for kept in batches
        if "screenings" in kept
    }
    if stored.keys() >= set(study.batches.order_by().values_list("pk", flat=True)):
        return stored
    rules = _rules(study).items()
    return {batch.pk: _simulated(of_batch.values()) for batch, of_batch in rules} | stored


def screening_records(study: Study, batches: list[Batch]) -> dict[int, list[dict[str, Any]]]:
    """What the start keeps, by batch."""
    return {
        batch.pk: [asdict(screening) for screening in _simulated(rules.values())]
        for batch, rules in _rules(study, batches).items()
    }


def screening_facts(study: Study) -> dict[str, Any]:
    """What a page tells of whom the rules let in, all and each with its cells."""
    screenings = screenings_by_cell(study)
    rules = [screening for screening, _ in screenings]
    return {
        "screenings": screenings,
        "let_in": let_in(rules) if rules else "",
        "simulated_as": SIMULATED_AS,
    }


def screenings_by_cell(study: Study) -> list[tuple[Screening, list[str]]]:
    """What each rule, and a training without one, comes to, and the cells to which it applies."""
    cells = defaultdict[ScreeningRule, dict[str, None]](dict)
    for batch, rules in _rules(study).items():
        for part, rule in rules.items():
            which = f"{part} of " if len(rules) > 1 else ""
            cells[rule][f"{which}{batch.task} with {batch.condition}"] = None
    return [
        (Screening(rule, simulate_screening(rule)), list(names)) for rule, names in cells.items()
    ]


def _simulated(rules: Iterable[ScreeningRule]) -> list[Screening]:
    return [
        Screening(rule, simulate_screening(rule))
        for rule in rules
        if (rule.floor, rule.max_drop) != (None, None)
    ]


def _rules(
    study: Study, batches: Collection[Batch] | None = None
) -> dict[Batch, dict[str, ScreeningRule]]:
    """Rules by batch (all of the study), of its checks and of its training; group and places are
    the cell's."""
    if batches is None:
        batches = study.batches.select_related(
            "task", "training_set__task", "check_set__task", "pool"
        )
    sizes = sizes_of(batches)
    guessing = {
        item_set.pk: _guessing(item_set)
        for batch in batches
        for item_set in (batch.check_set, batch.training_set)
        if item_set and item_set.pk in sizes
    }
    places = Counter[tuple[int, int, int | None]]()
    for batch in batches:
        places[batch.task_id, batch.shots, batch.pool_id] += batch.wanted

    def rule_on(item_set: ItemSet, batch: Batch, **rule: Any) -> ScreeningRule:
        return ScreeningRule(
            items=sizes[item_set.pk],
            places=places[batch.task_id, batch.shots, batch.pool_id],
            **guessing[item_set.pk],
            **rule,
        )

    of_training = {
        "floor": study.min_training_score,
        "max_drop": study.max_drop,
        "drop_in_sds": study.drop_unit == DropUnit.SDS,
        "group_size": study.drop_group_size,
    }
    return {
        batch: {
            part: rule_on(item_set, batch, **rule)
            for part, item_set, rule in (
                ("checks", batch.check_set, {"floor": batch.least_check_score}),
                ("training", batch.training_set, of_training),
            )
            if item_set and item_set.pk in sizes
        }
        for batch in batches
    }


def _guessing(item_set: ItemSet) -> dict[str, Any]:
    """What a guess is worth: one of the set's labels, else the best of its kind's floors."""
    task, kind = item_set.task, answer_kind(item_set.task.kind)
    if item_set.choices and kind.takes_one_label:
        return {"labels": len(item_set.choices)}
    examples = list(item_set.examples.all())
    version = task.latest_gold_version().number
    in_force = gold_in_force([example.pk for example in examples], task.pk, version)
    golds = [
        normalised_golds(in_force[example.pk].alternative_texts(), task.normalisation)
        for example in examples
    ]
    offered = [asked(example, item_set.choices) for example in examples]
    sizes = {len(kind.options(example)) for example in offered}
    if kind.takes_one_label and len(sizes) == 1:
        return {"labels": sizes.pop()}
    floors = (floor for floor in kind.floors if floor.is_allowed)
    return {"no_skill": max(floor.score(offered, golds, task.reference_policy) for floor in floors)}
