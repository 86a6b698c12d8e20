"""The facts behind a report, as its templates read them: how a study was done, by its own rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from statistics import fmean, median
from typing import Any

from django.db.models import Count, Q

from annotation.benchmarks.audit import WARNING, gold_not_in_context
from annotation.benchmarks.material import Material
from annotation.benchmarks.storing import IMPORT_REASON
from annotation.kinds import answer_kind
from annotation.models import (
    Assignment,
    Batch,
    ChangeAction,
    Gold,
    Item,
    ItemSet,
    JoinAnswer,
    Judgement,
    Outcome,
    OutcomeRule,
    Pool,
    Study,
    Task,
)
from annotation.models.benchmark import LAID_OUT, PART, names_of
from annotation.models.texts import counted as count_of
from annotation.payments.ledger import dues
from annotation.studies.screening import MOST_LET_IN, screenings_of, why_no_floor
from annotation.work.finishing import HOUR_MS, elapsed_hours
from annotation.work.joining import join_answers
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.core.normalisation import NONE, TOLERANCE
from scoring.core.s1 import SCORER_VERSION
from scoring.core.screening import ScreeningFigures
from scoring.report.results import Results
from scoring.report.signs import Signs
from scoring.report.words import CLOSED, OUTCOMES, between, span

NORMALISED = {
    "squad": "without case, punctuation, the articles a, an and the, and superfluous space, as the "
    "official script of SQuAD does (normalisation squad)",
    "number": "as numbers, whatever their thousands, currency or unit (normalisation number)",
}


# The ready-made channel of a link that anybody may have.
PLAIN = "link"


class TaskFacts:
    """name: what the task is called in the text."""

    def __init__(self, task: Task, name: str, batches: Sequence[Batch]) -> None:
        self.task, self.name = task, name
        # Of the test sets together, a part of which holds items of the whole one.
        tests = {batch.test_set_id for batch in batches}
        items = Item.objects.filter(item_set__in=tests).order_by()
        self.items = items.values("example").distinct().count()
        self.has_options = items.exclude(example__options=[]).exists()
        self.contexts = items.values("example__context_hash").distinct().count()
        self.parts = list(_parts(name, batches))
        self.samples = [] if self.parts else list(_samples(task, name, batches))
        self.shots = sorted({batch.shots for batch in batches})
        self.splits = len({batch.split for batch in batches if batch.split is not None})
        # As annotators saw it; empty before the start.
        self.description = batches[0].description
        # What they were shown and screened by; None before the start.
        shown = {batch.gold_version.number for batch in batches if batch.gold_version}
        self.shown_gold = max(shown, default=None)
        # What of its gold annotators met.
        training = any(batch.training_set for batch in batches)
        checks = any(batch.check_set and batch.check_set.task_id == task.pk for batch in batches)
        screens = checks or any(map(_by_training, batches))
        met = [*["shown"] * training, *["screened by"] * screens]
        self.scored_gold = task.latest_gold_version().number
        since = min(shown, default=self.scored_gold)
        self.gold_since = since
        seen = [one for batch in batches for one in (batch.training_set, batch.check_set) if one]
        later = Gold.objects.filter(version__task=task, version__number__gt=since)
        # Where a correction is of the test alone, nothing that they met was corrected.
        self.met = met if later.filter(example__item_sets__in=seen).exists() else []
        corrected = Count(
            "golds", filter=Q(golds__example__items__item_set__in=tests), distinct=True
        )
        versions = task.gold_versions.annotate(items=corrected)
        self.corrections = list(versions.filter(number__gt=since))
        before = versions.filter(number__gt=1, number__lte=since, items__gt=0)
        self.corrected_before = list(before.exclude(reason=IMPORT_REASON))
        # What the audit of the data warns of.
        self.warnings = list(_warnings(task, batches))
        golds = Gold.objects.filter(example__items__item_set__in=tests)
        self.has_alternatives = golds.filter(alternatives__1__isnull=False).exists()
        self.answered = str(answer_kind(task.kind).in_words)


# Findings about shot sets.
OF_SHOTS = ("shots_do_not_nest", "shot_sets_without_chain")


def _warnings(task: Task, batches: Sequence[Batch]) -> Iterator[str]:
    """Of what the study uses."""
    for found in task.audit:
        if found["severity"] != WARNING:
            continue
        if found["code"] == "gold_not_in_context":
            sets = {batch.test_set for batch in batches} | {one.training_set for one in batches}
            used = Item.objects.filter(item_set__in=filter(None, sets))
            only = set(used.values_list("example", flat=True))
            if absent := gold_not_in_context(Material(task, only)):
                yield absent.message
        elif found["code"] not in OF_SHOTS or len({one.shots for one in batches if one.shots}) > 1:
            yield found["message"]


def _samples(task: Task, name: str, batches: Sequence[Batch]) -> Iterator[str]:
    """Such as “60 of 210 items of SST-2 (seed 0)”, of sets that are by name a part of another."""
    counted = Counter(batch.test_set for batch in batches)
    for test_set, count in counted.items():
        whole, _, drawn = test_set.name.rpartition(PART)
        items = Item.objects.filter(item_set__task=task, item_set__name=whole).count()
        if items:
            seed = drawn.partition("-")[2] or "0"
            which = f", in {count} of {len(batches)} batches" if count < len(batches) else ""
            yield f"{test_set.items.count()} of {items} items of {name} (seed {seed}{which})"


def _parts(name: str, batches: Sequence[Batch]) -> Iterator[str]:
    """Such as “1,319 items of GSM8K in 99 parts of 39 to 40, each in 3 of them (seed 7)”."""
    layouts: dict[tuple[str, str], set[int]] = defaultdict(set)
    for batch in batches:
        if found := LAID_OUT.search(batch.test_set.name):
            layouts[found[2], found[3] or "0"].add(batch.test_set_id)
    for (viewers, seed), sets in layouts.items():
        items = Item.objects.filter(item_set__in=sets).order_by()
        sizes = items.values("item_set").annotate(n=Count("pk")).values_list("n", flat=True)
        total = items.values("example").distinct().count()
        yield (
            f"{total:,} items of {name} in {len(sets)} parts of {span(sizes)}, each in {viewers} "
            f"of them (seed {seed})"
        )


class Design:
    def __init__(self, study: Study) -> None:
        sets = ("training_set", "test_set", "check_set__task")
        about = ("study", "task", *sets, "gold_version", "pool")
        self._study = study
        self._batches = batches = list(study.batches.select_related(*about))
        by_task: dict[Task, list[Batch]] = {}
        for batch in batches:
            by_task.setdefault(batch.task, []).append(batch)
        names = names_of(by_task)
        self.tasks = [TaskFacts(task, names[task.slug], those) for task, those in by_task.items()]
        self.samples = [sample for facts in self.tasks for sample in facts.samples]
        self.parts = [part for facts in self.tasks for part in facts.parts]
        self.wanted = sum(batch.wanted for batch in batches)
        # Numbers of training items, least to most; zero-shot is 0.
        trained = [batch.training_set for batch in batches]
        self.training_items = sorted(
            {learned.items.count() if learned else 0 for learned in trained}
        )
        checked = {batch.check_set for batch in batches if batch.check_set}
        self.checks = sorted({one.items.count() for one in checked})
        told = names_of({*by_task, *(one.task for one in checked)})
        self.checked_tasks = sorted({told[one.task.slug] for one in checked})
        # What those who answered checks of another task read before them.
        self.check_descriptions = {
            told[batch.check_set.task.slug]: (batch.check_set.task, batch.check_description)
            for batch in batches
            if batch.check_set and batch.check_set.task not in by_task and batch.check_description
        }
        # Numbers of test items of one assignment.
        self.test_items = sorted({batch.test_set.items.count() for batch in batches})
        self.shots = sorted({shots for facts in self.tasks for shots in facts.shots})
        # Shots where there are any.
        self.sizes = [shots for shots in self.shots if shots]
        self.learned = list(dict.fromkeys(_learned(one) for one in trained if one))
        # Whether a task has several cells, by its shots.
        self.has_changes = any(len(task.shots) > 1 for task in self.tasks)
        self.shares_contexts = any(task.contexts < task.items for task in self.tasks)
        self.has_options = any(task.has_options for task in self.tasks)
        self.names = [task.name for task in self.tasks]
        self.splits = sorted({task.splits for task in self.tasks if task.splits})
        self.items = sum(task.items for task in self.tasks)
        kinds = [task.kind for task in (*by_task, *(one.task for one in checked))]
        self.ways_to_answer = list(dict.fromkeys(str(answer_kind(k).in_words) for k in kinds))
        self.is_corrected = any(task.corrections for task in self.tasks)
        self.policies = sorted(
            {task.task.reference_policy for task in self.tasks if task.has_alternatives}
        )

    @property
    def least_check_scores(self) -> str:
        """In percent, of each batch's checks; empty where there is no floor."""
        checked = [batch for batch in self._batches if batch.check_set]
        floors = {one.least_check_score for one in checked if one.least_check_score is not None}
        return " or ".join(f"{floor:g} %" for floor in sorted(floors))

    @property
    def pools(self) -> list[str]:
        """Each with who is in it, and how many were wanted."""
        wanted = Counter[Pool]()
        for batch in self._batches:
            if batch.pool:
                wanted[batch.pool] += batch.wanted
        return [
            f"{pool}{f' ({pool.about})' if pool.about else ''}, {count_of(n, 'place', 'places')}"
            for pool, n in wanted.items()
        ]

    @property
    def has_plain_links(self) -> bool:
        """Whether anybody comes by a link that names nobody."""
        channel = self._study.channel
        return not (channel.person_param or channel.invited_only)

    @property
    def channel(self) -> str:
        channel = self._study.channel
        return "an open link" if channel.slug == PLAIN else channel.name

    @property
    def averaged(self) -> list[int]:
        """The numbers of shots over which several tasks, and all of them, have an average."""
        return [
            shots
            for shots in self.shots
            if len(self.tasks) > 1 and all(shots in task.shots for task in self.tasks)
        ]

    @property
    def families(self) -> list[str]:
        """What is adjusted for together."""
        averages = ["averages over tasks"] if self.averaged else []
        changes = ["more shots against fewer"] * self.has_changes
        singles = "single tasks" if len(self.tasks) > 1 else "people less system"
        return [*averages, singles, *changes]

    @property
    def primary(self) -> str:
        """Which family is; empty where there is one."""
        if self.averaged:
            return "the average is primary"
        verb = "are" if len(self.tasks) > 1 else "is"
        first, *others = self.families
        return f"{first} {verb} primary" if others else ""

    @cached_property
    def screened(self) -> set[bool]:
        """Whether there is screening, of every batch."""
        return {_is_screened(batch) for batch in self._batches}

    def population(self, who: str) -> str:
        """Whom the figures are about."""
        if self._study.known_people:
            return f"such {who} as these"
        if True not in self.screened:
            return "whoever comes in the same way"
        where_none = " (where there is none: whoever comes)" if False in self.screened else ""
        return f"{who} whom the screening lets in{where_none}"

    @property
    def normalised(self) -> Iterator[tuple[list[Task], str]]:
        tasks = [task.task for task in self.tasks]
        for how in dict.fromkeys(task.normalisation for task in tasks):
            name, _, tolerance = how.partition(TOLERANCE)
            if name != NONE:
                near = f"; a difference of {tolerance} is none" if tolerance else ""
                yield [one for one in tasks if one.normalisation == how], NORMALISED[name] + near

    @property
    def admitted(self) -> dict[str, str]:
        """Of 100 guessers how many get in, and of 100 careful people how many do not, simulated."""
        return {
            "guessers": span([round(100 * one.guessers_in) for one in self._simulated]),
            "careful": span([round(100 * one.careful_out) for one in self._simulated]),
        }

    @property
    def lets_most_in(self) -> bool:
        """Whether a rule does, of people who guess."""
        return any(100 * one.guessers_in > MOST_LET_IN for one in self._simulated)

    @cached_property
    def _simulated(self) -> list[ScreeningFigures]:
        return [one.figures for batch in self._batches for one in screenings_of(batch)]

    @property
    def without_floor(self) -> dict[str, list[str]]:
        names = {facts.task.pk: facts.name for facts in self.tasks}
        cells: dict[str, dict[str, None]] = defaultdict(dict)
        for batch in self._batches:
            if reason := why_no_floor(batch):
                cells[reason][f"{names[batch.task_id]} with {batch.condition}"] = None
        return {reason: list(names) for reason, names in cells.items()}


def _learned(training: ItemSet) -> str:
    """A shot is a context, with all questions about it."""
    items, contexts = training.items.count(), training.items.values("example__context_hash")
    shots = contexts.order_by().distinct().count()
    examples = f"{items} labelled examples"
    return f"{shots} contexts ({examples})" if shots < items else examples


def _is_screened(batch: Batch) -> bool:
    """Whether a rule can send somebody away before the test."""
    return _by_training(batch) or (
        batch.check_set is not None and batch.least_check_score is not None
    )


def _by_training(batch: Batch) -> bool:
    has_rule = batch.study.min_training_score is not None or batch.study.max_drop is not None
    return has_rule and batch.training_set is not None


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
        """Of those who gave consent; who is still at work may yet finish."""
        ended = Counter(_ended_how(person) for person in consented if person.outcome)
        self.unfinished = {
            name: count for name, count in ended.items() if name != Outcome.COMPLETED
        }
        self.did_not_finish = Rate(sum(self.unfinished.values()), len(consented))

    def _counted(self, study: Study, people: Sequence[Assignment]) -> None:
        """Of the completed assignments, those that a researcher excluded, and the others."""
        completed = [person for person in people if person.outcome == Outcome.COMPLETED]
        out = [person for person in completed if hasattr(person, "exclusion")]
        counted = [person for person in completed if not hasattr(person, "exclusion")]
        self.excluded = Rate(len(out), len(completed))
        self.reasons = dict(Counter(person.exclusion.reason for person in out))
        self.reasons_in_words = [
            f"“{reason}”" + f" ({count})" * (len(self.reasons) > 1)
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
    """Of those who finished checks or a training: scores in percent at their first answers, and
    whether each was let in. passed_mean: of those who were."""

    def __init__(self, finished: Sequence[tuple[float, bool]]) -> None:
        scores = [score for score, _ in finished]
        passed = [score for score, is_in in finished if is_in]
        self.finished = len(scores)
        self.mean = fmean(scores) if scores else None
        self.passed_mean = fmean(passed) if passed else None
        self.screened_out = Rate(len(scores) - len(passed), len(scores))


class Training(Screened):
    def __init__(self, people: Sequence[Assignment]) -> None:
        finished = [person for person in people if person.training_score is not None]
        out = [person for person in finished if person.outcome == Outcome.SCREENED_OUT]
        super().__init__([(person.training_score or 0.0, person not in out) for person in finished])
        # By the part of the rule: floor or drop.
        self.reasons = dict(Counter(person.screening.get("reason", "") for person in out))


def checked(people: Iterable[Assignment]) -> Screened:
    found = [person.check_screening for person in people if person.check_screening]
    return Screened([(one["score"], one["passed"]) for one in found])


class Pay:
    """Amounts in the study's currency. Elapsed time runs from consent to the end, breaks
    included; paid time is capped for each page."""

    def __init__(
        self, study: Study, people: Sequence[Assignment], names: Mapping[int, str]
    ) -> None:
        # With later corrections; nobody corrects what simulated annotators are due.
        due_to = {due.assignment.pk: due.total for due in dues(study)}
        # Each that ended, whatever its outcome, with what it was due.
        ended = [
            (person, due_to.get(person.pk, person.amount))
            for person in people
            if person.outcome and person.amount is not None
        ]
        done = [(person, amount) for person, amount in ended if person.outcome == Outcome.COMPLETED]
        due = [amount for _, amount in done]
        timed = [(amount, elapsed_hours(person)) for person, amount in done]
        by_task: dict[str, list[tuple[Decimal, float]]] = defaultdict(list)
        for (person, _), one in zip(done, timed, strict=True):
            by_task[names[person.batch.task_id]].append(one)
        # What an hour of elapsed time was worth.
        rates = [float(amount) / hours for amount, hours in timed if hours > 0]
        paid_ms = sum(person.paid_ms for person, _ in done)
        self.assignments = len(ended)
        self.total = sum((amount for _, amount in ended), Decimal(0))
        self.paid_hours = sum(person.paid_ms for person, _ in ended) / HOUR_MS
        self.paid_minutes = 60 * self.paid_hours
        # Of the completed assignments of a task, by its name: minutes and amount.
        self.medians = {
            task: (median(60 * hours for _, hours in those), median(amount for amount, _ in those))
            for task, those in by_task.items()
        }
        self.hourly = median(rates) if rates else None
        self.lowest_hourly = min(rates, default=None)
        # What an hour of paid time was worth, over all completed ones together.
        self.hourly_paid = float(sum(due)) * HOUR_MS / paid_ms if paid_ms else None
        # Assignments that ended and were due nothing, by outcome.
        self.unpaid = dict(Counter(_ended_how(person) for person, amount in ended if not amount))


class Facts:
    """All of a study. with_agreement: computed where it is not kept, which takes a while."""

    scorer_version = SCORER_VERSION

    def __init__(self, study: Study, *, with_agreement: bool = False) -> None:
        assignments = Assignment.objects.filter(study=study)
        # Simulated annotators have finished it and no person has begun it: every figure is of them.
        self.is_rehearsal = (
            assignments.simulated().completed().exists() and not assignments.of_people().exists()
        )
        chosen = assignments.simulated() if self.is_rehearsal else assignments.of_people()
        # Declined ones, from before the consent made the assignment, count as joins.
        people = list(
            chosen.exclude(outcome=JoinAnswer.DECLINED)
            .select_related("exclusion", "batch__training_set")
            .order_by("pk")
        )
        self.study = study
        self.design = Design(study)
        tests = study.batches.values("test_set")
        asked = Item.objects.filter(item_set__in=tests).order_by().values("example")
        answers = Judgement.objects.filter(assignment__in=chosen.counted().values("pk"))
        answered = answers.filter(example__in=asked).order_by().values("example").distinct()
        self.unanswered = self.design.items - answered.count()
        self.people = TakingPart(study, people)
        self.training, self.checks = Training(people), checked(people)
        self.pay = Pay(study, people, {task.task.pk: task.name for task in self.design.tasks})
        self.rules: list[OutcomeRule] = list(
            study.outcome_rules.filter(outcome__in=Outcome.values).order_by("outcome")
        )
        self.results = Results(study, simulated=self.is_rehearsal, with_agreement=with_agreement)
        self.signs = Signs(study, self.results)

    @cached_property
    def moved_by_gold(self) -> list[str]:
        """The means of the cells whose gold was corrected, as it was at the start and as it is."""
        before: dict[tuple[str, Any, str], float | None] = {}
        for task in filter(attrgetter("corrections"), self.design.tasks):
            choices = Choices(simulated=self.is_rehearsal, gold_version=task.gold_since)
            reader = CellReader(choices)
            for cell in reader.people(self.study, simulated=self.is_rehearsal, task=task.task):
                before[task.name, cell.shots, cell.pool] = cell_row(cell, choices).mean
        return [
            f"from {mean:.1f} to {cell.row.mean:.1f} ({cell.name})"
            for cell in self.results.cells
            if (mean := before.get((cell.row.task, cell.row.shots, cell.row.pool or "")))
            is not None
        ]

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
