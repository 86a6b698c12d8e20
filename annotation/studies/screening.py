"""Whom a study's screening lets in: simulated before the start, kept from then on, and whether a
batch has a floor by it, without which no verdict on it is sure."""

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count

from annotation.models import Batch, DropUnit, Study
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

NO_FLOOR = "no floor was set"


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
        return (
            f"Of 100 people who only guess, about {100 * self.figures.guessers_in:.0f} get in; of "
            f"100 careful ones, about {100 * self.figures.careful_out:.0f} are turned away."
        )

    @property
    def assumptions(self) -> str:
        rule = self.rule
        guess = f"one of {rule.labels} labels" if rule.labels else "right every other time"
        return (
            f"Simulated {FILLINGS:,} times with a fixed seed: {rule.places} places, {rule.items} "
            f"items. One arrival in {1 / GUESSING:.0f} guesses, {guess}. The careful are right on "
            f"{100 * CAREFUL_MEAN:.0f} % of all items on average; on the logit scale people differ "
            f"by {CAREFUL_SD} SD and items by {ITEM_SD}. The rule judges everybody in the order of "
            "arrival, until the places are full."
        )

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


def has_floor(batch: Batch) -> bool:
    """Whether a least share of right answers was set, on enough items that are no test items, by
    which few guessers get in; or its people are known. Of a study that has started, as it was
    found then."""
    return not why_no_floor(batch)


def why_no_floor(batch: Batch) -> str:
    """Empty where the batch has one."""
    screening = screening_of(batch)
    if batch.study.known_people or (screening and screening.is_floor):
        return ""
    if screening is None or screening.rule.floor is None:
        return NO_FLOOR
    if screening.rule.items < FEWEST_ITEMS:
        return f"its floor rests on fewer than {FEWEST_ITEMS} items"
    share = 100 * screening.figures.guessers_past_floor
    return f"its floor lets in about {share:.0f} of 100 people who only guess"


def screening_of(batch: Batch) -> Screening | None:
    """None where nothing is answered before the test, or no rule looks at it."""
    for kept in batch.study.frozen.get("batches", []):
        if kept["batch"] == batch.pk and "screening" in kept:
            return _as_kept(kept["screening"])
    return _simulated(_rules(batch.study).get(batch.pk))


def screening_records(study: Study) -> dict[int, dict[str, Any] | None]:
    """What the start keeps, by batch."""
    found = {pk: _simulated(rule) for pk, rule in _rules(study).items()}
    return {pk: asdict(screening) if screening else None for pk, screening in found.items()}


def screenings_of(study: Study) -> list[tuple[Screening, list[str]]]:
    """What each rule comes to, without one as well, and the cells to which it applies."""
    rules, cells = _rules(study), defaultdict[ScreeningRule, dict[str, None]](dict)
    for batch in study.batches.select_related("task", "training_set", "test_set"):
        if rule := rules.get(batch.pk):
            cells[rule][f"{batch.task} with {batch.shots} shots"] = None
    return [
        (Screening(rule, simulate_screening(rule)), list(names)) for rule, names in cells.items()
    ]


def _simulated(rule: ScreeningRule | None) -> Screening | None:
    if rule is None or (rule.floor is None and rule.max_drop is None):
        return None
    return Screening(rule, simulate_screening(rule))


def _as_kept(record: dict[str, Any] | None) -> Screening | None:
    if record is None:
        return None
    return Screening(ScreeningRule(**record["rule"]), ScreeningFigures(**record["figures"]))


def _rules(study: Study) -> dict[int, ScreeningRule]:
    """By batch the study's rule on its training; the group and the places are the cell's."""
    batches = study.batches.exclude(training_set=None).select_related("training_set")
    trained = list(batches.annotate(items=Count("training_set__items")))
    places = Counter[tuple[int, int]]()
    for batch in trained:
        places[batch.task_id, batch.shots] += batch.wanted
    return {
        batch.pk: ScreeningRule(
            items=batch.items,
            places=places[batch.task_id, batch.shots],
            labels=len(batch.training_set.choices) or None if batch.training_set else None,
            floor=study.min_training_score,
            max_drop=study.max_drop,
            drop_in_sds=study.drop_unit == DropUnit.SDS,
            group_size=study.drop_group_size,
        )
        for batch in trained
        if batch.items
    }
