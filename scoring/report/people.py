"""Who took part in a study, who was screened out, and who was excluded. Only people, beside whom
simulated annotators are counted and enter no other figure; of a rehearsal, these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, stdev

from annotation.models import Assignment, JoinAnswer, Outcome, Study
from annotation.work.joining import join_answers


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
    # Of those who gave consent, who ended without completing, by outcome.
    unfinished: dict[str, int]
    # Of the completed assignments, those that a researcher excluded, and why.
    excluded: Rate
    # Of these, those that were excluded once their score could be seen.
    excluded_after: int
    reasons: dict[str, int]
    # Excluded though they did not count in any figure anyway.
    excluded_unfinished: int
    # People with an assignment that counts.
    counted_persons: int
    simulated: int
    # Joins that were answered without an assignment.
    declined: int
    found_full: int
    # Assignments whose personal link a researcher replaced.
    renewed: int

    @property
    def completed(self) -> Rate:
        """Of those who gave consent."""
        return Rate(self.outcomes[Outcome.COMPLETED], self.consented)

    @property
    def did_not_finish(self) -> Rate:
        """Of those who gave consent; who is still at work may yet finish."""
        return Rate(sum(self.unfinished.values()), self.consented)

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


def is_rehearsal(study: Study) -> bool:
    """Whether simulated annotators have finished it and no person has begun it."""
    assignments = Assignment.objects.filter(study=study)
    return assignments.simulated().completed().exists() and not assignments.of_people().exists()


def people_of(study: Study, *, simulated: bool = False) -> list[Assignment]:
    """Every assignment of a person, with what the facts need; declined ones, from before the
    consent made the assignment, count as the joins that they were."""
    assignments = Assignment.objects.filter(study=study)
    wanted = assignments.simulated() if simulated else assignments.of_people()
    return list(
        wanted.exclude(outcome=JoinAnswer.DECLINED)
        .select_related("exclusion", "batch__training_set")
        .order_by("pk")
    )


def taking_part(study: Study, people: Sequence[Assignment]) -> TakingPart:
    outcomes = Counter(person.outcome for person in people)
    completed = [person for person in people if person.outcome == Outcome.COMPLETED]
    excluded = [person for person in people if hasattr(person, "exclusion")]
    out = [person for person in completed if person in excluded]
    unfinished = Counter(
        person.outcome
        for person in people
        if person.consented_at and person.outcome not in ("", Outcome.COMPLETED)
    )
    answers = join_answers(study)
    ends = [person.finished_at for person in people if person.finished_at]
    return TakingPart(
        joined=len(people),
        persons=len({person.annotator_id for person in people}),
        consented=sum(person.consented_at is not None for person in people),
        at_work=outcomes[""],
        outcomes={outcome: outcomes[outcome] for outcome in Outcome.values},
        first=min((person.joined_at for person in people), default=None),
        last=max(ends, default=None),
        unfinished=dict(unfinished),
        excluded=Rate(len(out), len(completed)),
        excluded_after=sum(
            person.exclusion.created_at >= person.finished_at
            for person in out
            if person.finished_at
        ),
        reasons=dict(Counter(person.exclusion.reason for person in out)),
        excluded_unfinished=sum(person not in completed for person in excluded),
        counted_persons=len(
            {person.annotator_id for person in completed if person not in excluded}
        ),
        simulated=Assignment.objects.filter(study=study).simulated().completed().count(),
        declined=answers[JoinAnswer.DECLINED],
        found_full=answers[JoinAnswer.FULL],
        renewed=sum(person.resume_renewed_at is not None for person in people),
    )


def training(people: Sequence[Assignment]) -> Training:
    finished = [person for person in people if person.training_score is not None]
    scores = [person.training_score for person in people if person.training_score is not None]
    out = [person for person in finished if person.outcome == Outcome.SCREENED_OUT]
    return Training(
        finished=len(finished),
        mean=fmean(scores) if scores else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        screened_out=Rate(len(out), len(finished)),
        reasons=dict(Counter(person.screening.get("reason", "") for person in out)),
    )
