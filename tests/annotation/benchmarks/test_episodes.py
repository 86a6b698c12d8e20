"""An episode is a batch like any other: people and simulated annotators work through it."""

import pytest

from annotation.models import Judgement, Outcome, Role
from annotation.models.errors import Refusal
from annotation.models.frozen import batch_content
from annotation.simulation.simulating import simulate_study
from annotation.studies.lifecycle import start_study
from annotation.work.joining import Visit, join
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task, study_of

pytestmark = pytest.mark.django_db


def test_lets_a_simulated_annotator_work_through_whole_episodes() -> None:
    study = study_of(sampled_task(), [1, 7], wanted=2)
    done = simulate_study(study, skill=0.8, seed=3, at=make.NOON)
    assert [assignment.outcome for assignment in done] == [Outcome.COMPLETED] * 4
    for assignment in done:
        batch = assignment.batch
        training = batch.training_set.items.count() if batch.training_set else 0
        roles = list(assignment.judgements.order_by("step").values_list("role", flat=True))
        assert roles == [Role.TRAINING] * training + [Role.TEST] * batch.test_set.items.count()


def test_lets_a_person_answer_a_whole_episode_by_its_labels() -> None:
    study = study_of(sampled_task(), [2])
    batch = study.batches.get()
    content = batch_content(batch.pk)
    assert {example.labels for example in content.training + content.test} == {
        tuple(batch.test_set.choices)
    }
    assignment = make.worked_through(batch)
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.training_score == pytest.approx(100)
    judgements = Judgement.objects.filter(assignment=assignment, role=Role.TEST)
    assert {tuple(judgement.answer) for judgement in judgements} == {
        (label,) for label in batch.test_set.choices
    }


def test_keeps_the_number_of_a_zero_shot_episode() -> None:
    study = study_of(sampled_task(), [1, 7])
    labels = [(batch.label, batch.shots > 0) for batch in study.batches.order_by("pk")]
    assert labels == [("episode 1", True), ("episode 7", False)]
    assert {batch["label"] for batch in study.frozen["batches"]} == {"episode 1", "episode 7"}


def test_offers_labels_in_the_order_that_the_seed_gave_the_episode() -> None:
    task = sampled_task()
    offered = {
        number: tuple(task.item_sets.get(name=f"episode-{number}-test").choices)
        for number in range(1, 13)
    }
    assert len(set(offered.values())) > 1
    for number in range(1, 7):
        training = task.item_sets.get(name=f"episode-{number}-train")
        assert tuple(training.choices) == offered[number]


def test_gives_a_person_one_episode_of_a_data_set_ever() -> None:
    study = study_of(sampled_task(), [1, 2, 7])
    first, second, _ = study.batches.order_by("pk")
    person = make.worked_through(first).annotator
    again = join(Visit(study=study, annotator=person, batch=second), at=make.NOON)
    assert again.batch == first
    assert not second.assignments.exists()


def test_gives_a_person_no_other_sample_of_the_same_data_set() -> None:
    first = study_of(sampled_task(), [1])
    person = make.worked_through(first.batches.get()).annotator
    other = study_of(sampled_task(task="more", seed=2), [1])
    with pytest.raises(Refusal):
        join(Visit(study=other, annotator=person, batch=other.batches.get()), at=make.NOON)


def test_screens_out_by_the_training_of_an_episode() -> None:
    study = study_of(sampled_task(), [1], min_training_score=90)
    batch = study.batches.get()
    assignment = make.at_work(batch)
    options = batch.test_set.choices
    for _ in range(batch.training_set.items.count()):
        right = int(make.right_answer(assignment)["option"])
        make.answer(assignment, {"option": str((right + 1) % len(options))})
    assert assignment.outcome == Outcome.SCREENED_OUT


def test_freezes_the_episodes_of_a_started_study() -> None:
    task = sampled_task()
    study = study_of(task, [1])
    record = study.frozen["batches"][0]
    checksums = {item_set.name: item_set.checksum for item_set in task.item_sets.all()}
    assert record["training_checksum"] == checksums["episode-1-train"]
    assert record["test_checksum"] == checksums["episode-1-test"]
    with pytest.raises(Refusal):
        start_study(study, at=make.NOON)
