"""The facts behind a report, as its templates read them: how a study was done, by its own rows."""

from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import Any

from annotation.models import Assignment, Item, JoinAnswer, Judgement, Outcome, OutcomeRule, Study
from scoring.cells.cell_rows import cell_row
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.core.s1 import SCORER_VERSION
from scoring.report.design import Design
from scoring.report.results import Results
from scoring.report.signs import Signs
from scoring.report.taking_part import Pay, TakingPart, Training, checked


def sort_of(study: Study) -> str:
    """What a study of simulated annotators is called."""
    return "demonstration" if study.is_demonstration else "rehearsal"


class Facts:
    """All of a study. with_agreement: computed where it is not kept, which takes a while."""

    scorer_version = SCORER_VERSION

    def __init__(self, study: Study, *, with_agreement: bool = False) -> None:
        assignments = Assignment.objects.filter(study=study)
        # Simulated annotators have finished it and no person has begun it: every figure is of them.
        self.is_rehearsal = (
            assignments.simulated().completed().exists() and not assignments.of_people().exists()
        )
        self.sort = sort_of(study)
        chosen = assignments.simulated() if self.is_rehearsal else assignments.of_people()
        # Declined ones, from before the consent made the assignment, count as joins.
        people = list(
            chosen.exclude(outcome=JoinAnswer.DECLINED)
            .select_related("exclusion", "batch__training_set")
            .order_by("pk")
        )
        self.study = study
        began = study.frozen.get("scorer_version", SCORER_VERSION)
        # Annotators saw what it marked, and it decided the screening.
        self.former_scorer: int | None = began if began != SCORER_VERSION else None
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
        self.signs = Signs(
            study,
            self.results.with_systems,
            lambda: Results(study, without_signs=True).with_systems,
        )

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
