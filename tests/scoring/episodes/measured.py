"""Runs and people on episodes of small sampled tasks."""

from typing import Any

from annotation.models import Assignment, Study, Task
from annotation.studies.lifecycle import close_study
from tests import make
from tests.annotation.benchmarks.sampled import study_of
from tests.scoring.comparison import measured

# Three classes with four questions each.
ITEMS = 12


def answered(task: Task, wrong: dict[int, int], *, system: str = "UniFew", **fields: Any) -> None:
    """A run for each of these episodes, with this many wrong answers."""
    for episode, count in wrong.items():
        test_set = task.item_sets.get(episode=episode, role="test")
        training = task.item_sets.filter(episode=episode, role="training").first()
        measured.run(
            task,
            wrong=count,
            test_set=test_set,
            system=system,
            shots=training.shots if training else 0,
            split=None,
            episode=episode,
            **fields,
        )


def worked(task: Task, wrong: dict[int, list[int]], *, closed: bool = True) -> Study:
    """A study with one person for each of these numbers of wrong test answers, by episode."""
    study = study_of(task, list(wrong), wanted=5)
    for batch in study.batches.all():
        for count in wrong[batch.test_set.episode]:
            assignment = make.at_work(batch)
            training = batch.training_set.items.count() if batch.training_set else 0
            while not assignment.is_finished:
                is_wrong = 0 <= assignment.step - training < count
                answer_one(assignment, is_wrong=is_wrong)
    if closed:
        close_study(study, at=make.NOON)
    return study


def answer_one(assignment: Assignment, *, is_wrong: bool) -> None:
    right = make.right_answer(assignment)
    options = len(assignment.batch.test_set.choices)
    raw = make.RawAnswer(option=((right.option or 0) + is_wrong) % options)
    make.answer(assignment, raw)
