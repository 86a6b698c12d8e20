from datetime import datetime, timedelta

import pytest

from annotation.models import Assignment, Batch, Example, WorkState
from annotation.models.errors import BadInput
from annotation.work.judging import (
    begin,
    leave_reveal,
    submit_answer,
)
from scoring.cells.cells import CellReader
from scoring.cells.scope import Choices
from scoring.core.variance import variance_components
from scoring.planning.designs import Assumptions
from scoring.planning.pilots import read_pilot
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def timed_batch(seconds: list[int]) -> Batch:
    """One person for each of these seconds: 20 s of reading, then this long for every answer and
    half as long for each reveal."""
    batch = make.running_batch(wanted=10, training=2, tests=4)
    for pace in seconds:
        assignment = make.joined(batch)
        now = make.NOON + timedelta(seconds=20)
        begin(assignment, at=now)
        while not assignment.is_finished:
            now = _answered(assignment, now, pace, wrong=assignment.step == 2 + pace % 3)
    return batch


def _answered(assignment: Assignment, now: datetime, pace: int, *, wrong: bool) -> datetime:
    step = assignment.step
    form = make.wrong_answer(assignment) if wrong else make.right_answer(assignment)
    now += timedelta(seconds=pace)
    submit_answer(assignment, step=step, form=form, times={}, at=now)
    if assignment.state == WorkState.REVEALED:
        now += timedelta(seconds=pace / 2)
        leave_reveal(assignment, step=step, at=now)
    if assignment.state == WorkState.DESCRIPTION:
        begin(assignment, step=assignment.step, at=now)
    return now


def test_reads_seconds_pay_and_components_from_the_answers() -> None:
    batch = timed_batch([8, 10, 16])
    pilot = read_pilot(batch.study)
    assert pilot.tells["onboarding_s"] == pytest.approx(20)
    assert pilot.tells["item_s"] == pytest.approx((8 + 10 + 16) / 3)
    assert pilot.tells["train_s"] == pytest.approx(1.5 * (8 + 10 + 16) / 3)
    cell = CellReader(Choices()).people(batch.study)[0]
    known = Assumptions(**pilot.tells)
    parts, mean = variance_components(cell.scores), cell.scores.mean()
    estimates = [parts.annotator, parts.item, parts.residual]
    most = mean * (1 - mean)
    scaled = [one * min(1, most / sum(estimates)) for one in estimates]
    told = known.components
    assert [told.annotator, told.item, told.residual] == pytest.approx(scaled)
    assert (known.shots, known.max_items, known.rate) == (2, 4, 12.0)


def test_counts_the_questions_of_one_context_as_one_item() -> None:
    batch = make.running_batch(wanted=3, training=0, tests=6, zero_shot=True)
    examples = [item.example for item in batch.test_set.items.all()]
    for example, context in zip(examples, [0, 0, 1, 1, 2, 2], strict=True):
        example.context_hash = str(context)
    with make.unlocked():
        Example.objects.bulk_update(examples, ["context_hash"])
    for wrong in (0, 2, 3):
        make.worked_through(batch, wrong=wrong)
    pilot = read_pilot(batch.study)
    assert (pilot.tells["max_items"], pilot.questions_per_item) == (3, 2)
    assert pilot.tells["item_s"] == pytest.approx(20)
    assert "train_s" not in pilot.tells
    assert "2 questions" in pilot.notes[-1]


def test_needs_the_cell_to_be_named_where_there_are_several() -> None:
    first, _ = measured.study_with_splits(2, 2)
    other = make.task(first.study.benchmark)
    pilot = read_pilot(first.study, task=first.task.slug)
    assert pilot.annotators == 4
    with pytest.raises(BadInput, match="No counted annotator"):
        read_pilot(first.study, task=other.slug)
    with pytest.raises(BadInput, match="No counted annotator"):
        read_pilot(first.study, shots=7)


def test_refuses_a_pilot_of_one_annotator() -> None:
    batch = measured.cell([3])
    with pytest.raises(BadInput, match="1 annotators on 6 items"):
        read_pilot(batch.study)
