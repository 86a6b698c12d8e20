"""What a study's own rows say about how it was done: the facts behind its report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from statistics import fmean, median, stdev

from annotation.benchmarks.findings import WARNING
from annotation.kinds import answer_kind
from annotation.models import (
    Assignment,
    Batch,
    GoldVersion,
    Item,
    JoinAnswer,
    Outcome,
    OutcomeRule,
    Study,
    Task,
)
from annotation.models.benchmark import names_of
from annotation.work.joining import join_answers
from annotation.work.paying import HOUR_MS, elapsed_hours
from scoring.core.s1 import SCORER_VERSION
from scoring.report.results import Results, results
from scoring.report.words import between

NORMALISED = {
    "squad": "without case, punctuation, the articles a, an and the, and superfluous space, as the "
    "official script of SQuAD does (normalisation squad)",
}


@dataclass(frozen=True)
class TaskFacts:
    task: Task
    # What it is called in the text.
    name: str
    # Of the test sets together: items, and contexts that items share.
    items: int
    contexts: int
    shots: tuple[int, ...]
    splits: int
    # The description as annotators saw it; empty before the start.
    description: str
    # What they were shown and screened by; None before the start.
    shown_gold: int | None
    scored_gold: int
    corrections: tuple[GoldVersion, ...]
    # What the audit of the data warns of.
    warnings: tuple[str, ...]

    @property
    def answered(self) -> str:
        return str(answer_kind(self.task.kind).in_words)


@dataclass(frozen=True)
class Design:
    tasks: tuple[TaskFacts, ...]
    batches: int
    wanted: int
    # Numbers of training items, least to most; zero-shot is 0.
    training_items: tuple[int, ...]
    # Numbers of test items of one assignment.
    test_items: tuple[int, ...]

    @cached_property
    def shots(self) -> list[int]:
        return sorted({shots for facts in self.tasks for shots in facts.shots})

    @property
    def sizes(self) -> list[int]:
        """Shots where there are any."""
        return [shots for shots in self.shots if shots]

    @property
    def sizes_of_training(self) -> list[int]:
        return [items for items in self.training_items if items]

    @property
    def compares_shots(self) -> bool:
        return any(len(task.shots) > 1 for task in self.tasks)

    @property
    def shares_contexts(self) -> bool:
        return any(task.contexts < task.items for task in self.tasks)

    @property
    def with_splits(self) -> list[TaskFacts]:
        return [task for task in self.tasks if task.splits]

    @property
    def items(self) -> int:
        return sum(task.items for task in self.tasks)

    @property
    def ways_to_answer(self) -> list[str]:
        return list(dict.fromkeys(task.answered for task in self.tasks))

    @property
    def policies(self) -> list[str]:
        return sorted({task.task.reference_policy for task in self.tasks})

    @property
    def normalised(self) -> Iterator[tuple[list[Task], str]]:
        """The tasks of each normalisation, and its words."""
        for name, words in NORMALISED.items():
            tasks = [task.task for task in self.tasks if task.task.normalisation == name]
            if tasks:
                yield tasks, words


def design_of(study: Study) -> Design:
    batches = list(study.batches.select_related("task", "training_set", "test_set", "gold_version"))
    by_task: dict[Task, list[Batch]] = {}
    for batch in batches:
        by_task.setdefault(batch.task, []).append(batch)
    names = names_of(by_task)
    training = {batch.training_set.items.count() if batch.training_set else 0 for batch in batches}
    return Design(
        tasks=tuple(_task_facts(task, names[task.slug], those) for task, those in by_task.items()),
        batches=len(batches),
        wanted=sum(batch.wanted for batch in batches),
        training_items=tuple(sorted(training)),
        test_items=tuple(sorted({batch.test_set.items.count() for batch in batches})),
    )


def _task_facts(task: Task, name: str, batches: Sequence[Batch]) -> TaskFacts:
    test_sets = {batch.test_set_id for batch in batches}
    items = Item.objects.filter(item_set__in=test_sets)
    shown = {batch.gold_version.number for batch in batches if batch.gold_version}
    latest = task.latest_gold_version().number
    return TaskFacts(
        task=task,
        name=name,
        # A part of a test set holds items of the whole one.
        items=items.order_by().values("example").distinct().count(),
        contexts=items.order_by().values("example__context_hash").distinct().count(),
        shots=tuple(sorted({batch.shots for batch in batches})),
        splits=len({batch.split for batch in batches if batch.split is not None}),
        description=batches[0].description,
        shown_gold=max(shown, default=None),
        scored_gold=latest,
        corrections=tuple(task.gold_versions.filter(number__gt=min(shown, default=latest))),
        warnings=tuple(
            finding["message"] for finding in task.audit if finding["severity"] == WARNING
        ),
    )


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
    def when(self) -> str:
        return f" {between(self.first, self.last or self.first)}" if self.first else ""

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


def training_of(people: Sequence[Assignment]) -> Training:
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


@dataclass(frozen=True)
class Pay:
    """Amounts in the study's currency. Elapsed time runs from consent to the end, breaks
    included; paid time is capped for each page."""

    # Of assignments that ended, whatever their outcome.
    assignments: int
    total: Decimal
    paid_hours: float
    # Of completed assignments; None where nobody completed.
    amount: Decimal | None
    minutes: float | None
    # What an hour of elapsed time was worth: the median, and the lowest.
    hourly: float | None
    lowest_hourly: float | None
    # What an hour of paid time was worth, over all completed ones together.
    hourly_paid: float | None
    # Assignments that ended and were due nothing, by outcome.
    unpaid: dict[str, int]

    @property
    def paid_minutes(self) -> float:
        return 60 * self.paid_hours


def pay_of(people: Sequence[Assignment]) -> Pay:
    # Each with what it was due.
    ended = [
        (person, person.amount) for person in people if person.outcome and person.amount is not None
    ]
    done = [(person, amount) for person, amount in ended if person.outcome == Outcome.COMPLETED]
    due = [amount for _, amount in done]
    timed = [(amount, elapsed_hours(person)) for person, amount in done]
    rates = [float(amount) / hours for amount, hours in timed if hours > 0]
    paid_ms = sum(person.paid_ms for person, _ in done)
    return Pay(
        assignments=len(ended),
        total=sum((amount for _, amount in ended), Decimal(0)),
        paid_hours=sum(person.paid_ms for person, _ in ended) / HOUR_MS,
        amount=median(due) if due else None,
        minutes=median(60 * hours for _, hours in timed) if timed else None,
        hourly=median(rates) if rates else None,
        lowest_hourly=min(rates, default=None),
        hourly_paid=float(sum(due)) * HOUR_MS / paid_ms if paid_ms else None,
        unpaid={
            outcome: count
            for outcome in Outcome.values
            if (count := sum(person.outcome == outcome and not amount for person, amount in ended))
        },
    )


@dataclass(frozen=True)
class Facts:
    study: Study
    design: Design
    people: TakingPart
    training: Training
    pay: Pay
    rules: tuple[OutcomeRule, ...]
    results: Results
    # Every figure is of simulated annotators, since no person has begun the study.
    is_rehearsal: bool = False
    scorer_version: int = SCORER_VERSION

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
        return has_rule and bool(self.design.sizes)

    @property
    def has_people(self) -> bool:
        """Whether the answers of anybody count; in a rehearsal, of a simulated annotator."""
        return self.people.counted > 0

    @property
    def floors(self) -> list[OutcomeRule]:
        return [rule for rule in self.rules if rule.minimum]

    @property
    def total_with_fee(self) -> Decimal:
        return self.pay.total * (1 + (self.study.platform_fee or Decimal(0)) / 100)


def gather(study: Study, *, with_agreement: bool = False) -> Facts:
    """`with_agreement`: computed where it is not kept, which takes a while."""
    rehearsal = is_rehearsal(study)
    people = people_of(study, simulated=rehearsal)
    return Facts(
        study=study,
        design=design_of(study),
        people=taking_part(study, people),
        training=training_of(people),
        pay=pay_of(people),
        rules=tuple(study.outcome_rules.filter(outcome__in=Outcome.values).order_by("outcome")),
        results=results(study, simulated=rehearsal, with_agreement=with_agreement),
        is_rehearsal=rehearsal,
    )
