"""What a study's own rows say about how it was done: the facts behind its methods section."""

from dataclasses import dataclass

from annotation.models import Outcome, OutcomeRule, Study
from scoring.core.s1 import SCORER_VERSION
from scoring.report.design import Design, design
from scoring.report.pay import Pay, pay
from scoring.report.people import (
    TakingPart,
    Training,
    is_rehearsal,
    people_of,
    taking_part,
    training,
)
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
    # Every figure is of simulated annotators, since no person has begun the study.
    is_rehearsal: bool = False

    @property
    def has_plain_links(self) -> bool:
        """Whether anybody came by a link that names nobody."""
        channel = self.study.channel
        return not (channel.person_param or channel.invited_only)

    @property
    def has_screening(self) -> bool:
        """Whether a rule can send anybody away after the training."""
        study = self.study
        has_rule = study.min_training_score is not None or study.max_drop is not None
        return has_rule and any(self.design.shots)

    @property
    def has_people(self) -> bool:
        """Whether the answers of anybody count; in a rehearsal, of a simulated annotator."""
        return self.people.counted > 0


def gather(study: Study, *, with_agreement: bool = False) -> Facts:
    """`with_agreement`: computed where it is not kept, which takes a while."""
    rehearsal = is_rehearsal(study)
    people = people_of(study, simulated=rehearsal)
    return Facts(
        study=study,
        design=design(study),
        people=taking_part(study, people),
        training=training(people),
        pay=pay(people),
        rules=tuple(study.outcome_rules.filter(outcome__in=Outcome.values).order_by("outcome")),
        results=results(study, simulated=rehearsal, with_agreement=with_agreement),
        scorer_version=SCORER_VERSION,
        is_rehearsal=rehearsal,
    )
