"""Who took part in a study, who was screened out, and who was excluded. Only people: simulated
annotators are counted, and enter no other figure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, stdev

from annotation.models import Assignment, Outcome, Study


@dataclass(frozen=True)
class Rate:
    """A part of a whole, such as the annotators who were excluded."""

    count: int
    total: int

    @property
    def percent(self) -> float | None:
        return 100 * self.count / self.total if self.total else None


@dataclass(frozen=True)
class TakingPart:
    joined: int
    persons: int
    consented: int
    at_work: int
    # By outcome, in the order of Outcome; zeros included.
    outcomes: dict[str, int]
    first: datetime | None
    last: datetime | None
    # Of the completed assignments, those that a researcher excluded, and why.
    excluded: Rate
    reasons: dict[str, int]
    # Excluded though they did not count in any figure anyway.
    excluded_unfinished: int
    simulated: int

    @property
    def completed(self) -> Rate:
        """Of those who gave consent."""
        return Rate(self.outcomes[Outcome.COMPLETED], self.consented)

    @property
    def counted(self) -> int:
        return self.excluded.total - self.excluded.count


@dataclass(frozen=True)
class Training:
    """Of those who finished a training; scores in percent, at their first answers."""

    finished: int
    mean: float | None
    sd: float | None
    screened_out: Rate
    # By the part of the rule: floor or drop.
    reasons: dict[str, int]


def people_of(study: Study) -> list[Assignment]:
    """Every assignment of a person, with what the facts need."""
    return list(
        Assignment.objects.filter(study=study)
        .of_people()
        .select_related("exclusion", "batch__training_set")
        .order_by("pk")
    )


def taking_part(study: Study, people: Sequence[Assignment]) -> TakingPart:
    outcomes = Counter(person.outcome for person in people)
    completed = [person for person in people if person.outcome == Outcome.COMPLETED]
    excluded = [person for person in people if hasattr(person, "exclusion")]
    ends = [person.finished_at for person in people if person.finished_at]
    return TakingPart(
        joined=len(people),
        persons=len({person.annotator_id for person in people}),
        consented=sum(person.consented_at is not None for person in people),
        at_work=outcomes[""],
        outcomes={outcome: outcomes[outcome] for outcome in Outcome.values},
        first=min((person.joined_at for person in people), default=None),
        last=max(ends, default=None),
        excluded=Rate(sum(each in excluded for each in completed), len(completed)),
        reasons=dict(Counter(e.exclusion.reason for e in excluded if e in completed)),
        excluded_unfinished=sum(each not in completed for each in excluded),
        simulated=Assignment.objects.filter(study=study).simulated().completed().count(),
    )


def training(people: Sequence[Assignment]) -> Training:
    finished = [person for person in people if person.training_score is not None]
    scores = [person.training_score for person in people if person.training_score is not None]
    out = [each for each in finished if each.outcome == Outcome.SCREENED_OUT]
    return Training(
        finished=len(finished),
        mean=fmean(scores) if scores else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        screened_out=Rate(len(out), len(finished)),
        reasons=dict(Counter(each.screening.get("reason", "") for each in out)),
    )
