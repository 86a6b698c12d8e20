"""What a study's own rows say about how it was done: the facts behind its methods section."""

from dataclasses import dataclass

from annotation.models import Outcome, OutcomeRule, Study
from scoring.core.s1 import SCORER_VERSION
from scoring.report.design import Design, design
from scoring.report.pay import Pay, pay
from scoring.report.people import TakingPart, Training, people_of, taking_part, training
from scoring.report.results import Results, results


@dataclass(frozen=True)
class Facts:
    study: Study
    design: Design
    people: TakingPart
    training: Training
    pay: Pay
    rules: tuple[OutcomeRule, ...]
    results: Results
    scorer_version: int

    @property
    def has_people(self) -> bool:
        """Whether the answers of any person count."""
        return self.people.counted > 0


def gather(study: Study) -> Facts:
    people = people_of(study)
    return Facts(
        study=study,
        design=design(study),
        people=taking_part(study, people),
        training=training(people),
        pay=pay(people),
        rules=tuple(study.outcome_rules.filter(outcome__in=Outcome.values).order_by("outcome")),
        results=results(study),
        scorer_version=SCORER_VERSION,
    )
