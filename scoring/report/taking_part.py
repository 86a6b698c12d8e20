"""Who took part in a study and how it ended for them, how they were screened, and what they were
paid."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean, median

from annotation.models import Assignment, ChangeAction, JoinAnswer, Outcome, Study
from annotation.payments.ledger import dues
from annotation.work.finishing import HOUR_MS, elapsed_hours
from annotation.work.joining import join_answers
from scoring.report.words import CLOSED, OUTCOMES, between


@dataclass(frozen=True)
class Rate:
    """A part of a whole, such as the annotators who were excluded."""

    count: int
    total: int

    @property
    def percent(self) -> float | None:
        return 100 * self.count / self.total if self.total else None


class TakingPart:
    def __init__(self, study: Study, people: Sequence[Assignment]) -> None:
        self.joined = len(people)
        self.persons = len({person.annotator_id for person in people})
        self.first = min((person.joined_at for person in people), default=None)
        ends = [person.finished_at for person in people if person.finished_at]
        self.last = max(ends, default=None)
        # By outcome, in their order; zeros included.
        outcomes = Counter(map(_ended_how, people))
        self.outcomes = {outcome: outcomes[outcome] for outcome in OUTCOMES}
        self.at_work = outcomes[""]
        self.simulated = Assignment.objects.filter(study=study).simulated().completed().count()
        # Joins that were answered without an assignment.
        answers = join_answers(study)
        self.declined = answers[JoinAnswer.DECLINED]
        self.found_full = answers[JoinAnswer.FULL]
        # Assignments whose personal link a researcher replaced.
        self.renewed = sum(person.resume_renewed_at is not None for person in people)
        self._ended([person for person in people if person.consented_at])
        self._counted(study, people)

    def _ended(self, consented: Sequence[Assignment]) -> None:
        """Count how those ended who gave consent; who is still at work may yet finish."""
        ended = Counter(_ended_how(person) for person in consented if person.outcome)
        self.unfinished = {
            name: count for name, count in ended.items() if name != Outcome.COMPLETED
        }
        self.did_not_finish = Rate(sum(self.unfinished.values()), len(consented))

    def _counted(self, study: Study, people: Sequence[Assignment]) -> None:
        """Count, of the completed assignments, those that a researcher excluded, and the others."""
        completed = [person for person in people if person.outcome == Outcome.COMPLETED]
        out = [person for person in completed if hasattr(person, "exclusion")]
        counted = [person for person in completed if not hasattr(person, "exclusion")]
        self.excluded = Rate(len(out), len(completed))
        self.reasons = dict(Counter(person.exclusion.reason for person in out))
        self.reasons_in_words = [
            f"“{reason}”" + (f" ({count})" if len(self.reasons) > 1 else "")
            for reason, count in self.reasons.items()
        ]
        # Those that were excluded once their score could be seen.
        self.excluded_after = sum(
            person.exclusion.created_at >= person.finished_at
            for person in out
            if person.finished_at
        )
        self.lifted = _lifted(study, completed)
        self.counted = len(counted)
        self.counted_persons = len({person.annotator_id for person in counted})

    @property
    def when(self) -> str:
        return f" {between(self.first, self.last or self.first)}" if self.first else ""


def _ended_how(person: Assignment) -> str:
    return CLOSED if person.ended_by_closing else person.outcome


def _lifted(study: Study, people: Iterable[Assignment]) -> int:
    """How often an exclusion of one of them was lifted, by the log."""
    logged = study.changes.filter(action=ChangeAction.EXCLUSION_LIFTED)
    theirs = {str(person.pk) for person in people}
    return sum(who.split()[-1] in theirs for change in logged for who in change.before)


class Screened:
    """Tells of those who finished checks or a training: scores in percent at their first answers,
    and how many were sent away. Those who were not score more by this very choice."""

    def __init__(self, scores: Sequence[float], out: int) -> None:
        self.finished = len(scores)
        self.mean = fmean(scores) if scores else None
        self.screened_out = Rate(out, len(scores))


class Training(Screened):
    def __init__(self, people: Sequence[Assignment]) -> None:
        finished = [person for person in people if person.training_score is not None]
        out = [person for person in finished if person.outcome == Outcome.SCREENED_OUT]
        super().__init__([person.training_score or 0.0 for person in finished], len(out))
        # By the part of the rule: floor or drop.
        self.reasons = dict(Counter(person.screening.get("reason", "") for person in out))


def checked(people: Iterable[Assignment]) -> Screened:
    screened = [person.check_screening for person in people if person.check_screening]
    return Screened([one["score"] for one in screened], sum(not one["passed"] for one in screened))


class Pay:
    """Amounts in the study's currency. Elapsed time runs from consent to the end, breaks
    included; paid time is capped for each page."""

    def __init__(
        self, study: Study, people: Sequence[Assignment], names: Mapping[int, str]
    ) -> None:
        # With later corrections; nobody corrects what simulated annotators are due.
        due_to = {due.person.pk: due.total for due in dues(study)}
        # Each that ended, whatever its outcome, with what it was due.
        ended = [
            (person, due_to.get(person.pk, person.amount))
            for person in people
            if person.outcome and person.amount is not None
        ]
        done = [(person, amount) for person, amount in ended if person.outcome == Outcome.COMPLETED]
        due = [amount for _, amount in done]
        timed = [(amount, elapsed_hours(a.consented_at, a.finished_at)) for a, amount in done]
        by_task: dict[str, list[tuple[Decimal, float]]] = defaultdict(list)
        for (person, _), pair in zip(done, timed, strict=True):
            by_task[names[person.batch.task_id]].append(pair)
        # What an hour of elapsed time was worth.
        rates = [float(amount) / hours for amount, hours in timed if hours > 0]
        paid_ms = sum(person.paid_ms for person, _ in done)
        self.assignments = len(ended)
        self.total = sum((amount for _, amount in ended), Decimal(0))
        self.paid_hours = sum(person.paid_ms for person, _ in ended) / HOUR_MS
        self.paid_minutes = 60 * self.paid_hours
        # Of the completed assignments of a task, by its name: minutes and amount.
        self.medians = {
            task: (
                median(60 * hours for _, hours in each),
                median(amount for amount, _ in each),
            )
            for task, each in by_task.items()
        }
        self.hourly = median(rates) if rates else None
        self.lowest_hourly = min(rates, default=None)
        # What an hour of paid time was worth, over all completed ones together.
        self.hourly_paid = float(sum(due)) * HOUR_MS / paid_ms if paid_ms else None
        # Assignments that ended and were due nothing, by outcome.
        self.unpaid = dict(Counter(_ended_how(person) for person, amount in ended if not amount))
