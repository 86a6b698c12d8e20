import pytest

from annotation.models import Batch, ItemSet, Study, Task
from annotation.models.errors import BadInput, Frozen
from annotation.studies.drafting import add_batches, possible_batches
from annotation.studies.lifecycle import start_study
from tests import make
from tests.batching import make_batches, select_shots

pytestmark = pytest.mark.django_db

SHOTS = [1, 2, 3]
SPLITS = [1, 2]


@pytest.fixture
def task() -> Task:
    """Shots 1, 2, 3 × splits 1, 2; the numbers of the largest two are permuted."""
    task = make.task(training=0)
    for split in SPLITS:
        nested = [make.example(task, f"{split}-{n}", role="training") for n in SHOTS]
        for shots in SHOTS:
            number = split if shots < 3 else 3 - split
            name = f"train-{shots}-{number}"
            make.item_set(task, nested[:shots], name=name, shots=shots, split=number)
    return task


@pytest.fixture
def study(task: Task) -> Study:
    return make.study(task.benchmark)


def episode(task: Task, number: int, *, training: int) -> ItemSet:
    examples = [make.example(task, f"episode {number} {n}", role="training") for n in range(3)]
    if training:
        make.item_set(
            task, examples[:training], name=f"episode-{number}-train", shots=training,
            episode=number,
        )  # fmt: skip
    tests = [make.example(task, f"episode {number} test")]
    return make.item_set(task, tests, name=f"episode-{number}-test", role="test", episode=number)


def cells(batches: list[Batch]) -> list[tuple[int, int | None, int | None]]:
    return [(batch.shots, batch.split, batch.chain) for batch in batches]


def test_makes_every_batch_of_shots_and_chains(study: Study, task: Task) -> None:
    made = make_batches(study, tasks=[task], shots=[0, 1, 2, 3], chains=None, wanted=4)
    assert cells(made) == [
        (0, None, None),
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 1),
        (2, 2, 2),
        (3, 1, 2),
        (3, 2, 1),
    ]
    assert {batch.wanted for batch in made} == {4}
    assert {batch.test_set.name for batch in made} == {"test"}


def test_follows_the_chain_and_keeps_the_number_of_the_file(study: Study, task: Task) -> None:
    made = make_batches(study, tasks=[task], shots=[2, 3], chains=[1], wanted=1)
    assert cells(made) == [(2, 1, 1), (3, 2, 1)]


def test_makes_one_zero_shot_batch_for_each_task(study: Study, task: Task) -> None:
    other = make.task(task.benchmark)
    made = make_batches(study, tasks=[task, other], shots=[0], chains=[1, 2], wanted=3)
    assert [(batch.task, batch.training_set) for batch in made] == [(task, None), (other, None)]


def test_leaves_existing_batches_alone(study: Study, task: Task) -> None:
    first = make_batches(study, tasks=[task], shots=[0, 1], chains=[1], wanted=2)
    second = make_batches(study, tasks=[task], shots=[0, 1], chains=None, wanted=9)
    assert cells(second) == [(1, 2, 2)]
    for batch in first:
        batch.refresh_from_db()
        assert batch.wanted == 2
    assert study.batches.count() == 3


def test_includes_sets_of_no_chain_unless_chains_are_chosen(study: Study, task: Task) -> None:
    odd = [make.example(task, "odd", role="training"), make.example(task, "ody", role="training")]
    make.item_set(task, odd, name="train-2-9", shots=2, split=9)
    everything = select_shots(possible_batches(task), [2])
    assert [(c.training_set.split, c.chain) for c in everything] == [(1, 1), (2, 2), (9, None)]
    chosen = select_shots(possible_batches(task), [2], chains=[1, 2])
    assert [c.training_set.split for c in chosen] == [1, 2]


def test_joins_the_sets_of_an_episode(study: Study, task: Task) -> None:
    few, zero = episode(task, 7, training=2), episode(task, 8, training=0)
    made = make_batches(study, tasks=[task], shots=[0, 2], chains=[99], wanted=1)
    by_test_set = {batch.test_set: batch.training_set for batch in made}
    assert by_test_set[few].name == "episode-7-train"
    assert by_test_set[zero] is None
    assert [batch.label for batch in made] == ["0 shots", "episode 7", "episode 8"]


def test_takes_no_episode_of_unknown_shots_for_zero_shot(study: Study, task: Task) -> None:
    episode(task, 7, training=2)
    task.item_sets.filter(name="episode-7-train").update(shots=None)
    made = make_batches(study, tasks=[task], shots=[0], chains=None, wanted=1)
    assert [batch.label for batch in made] == ["0 shots"]


def test_refuses_a_study_that_has_started(study: Study, task: Task) -> None:
    make_batches(study, tasks=[task], shots=[0], chains=None, wanted=1)
    start_study(study, at=make.NOON)
    with pytest.raises(Frozen, match="copy it"):
        make_batches(study, tasks=[task], shots=[1], chains=None, wanted=1)
    assert study.batches.count() == 1


def test_goes_by_the_stored_state_not_by_the_one_in_memory(study: Study, task: Task) -> None:
    make_batches(study, tasks=[task], shots=[0], chains=None, wanted=1)
    start_study(Study.objects.get(pk=study.pk), at=make.NOON)
    assert study.state == "draft"
    with pytest.raises(Frozen):
        make_batches(study, tasks=[task], shots=[1], chains=None, wanted=1)


def test_refuses_a_task_of_another_benchmark(study: Study) -> None:
    with pytest.raises(BadInput, match="SST-2 belongs to another benchmark"):
        make_batches(study, tasks=[make.task(name="SST-2")], shots=[0], chains=None, wanted=1)


def test_refuses_a_batch_for_nobody(study: Study, task: Task) -> None:
    with pytest.raises(BadInput, match="at least one annotator"):
        make_batches(study, tasks=[task], shots=[0], chains=None, wanted=0)


@pytest.mark.parametrize(("shots", "chains"), [([77], None), ([1], [77]), ([], None)])
def test_refuses_a_choice_that_no_set_fits(
    study: Study, task: Task, shots: list[int], chains: list[int] | None
) -> None:
    with pytest.raises(BadInput, match="No item set fits"):
        make_batches(study, tasks=[task], shots=shots, chains=chains, wanted=1)


def test_offers_nothing_without_a_test_set(task: Task, study: Study) -> None:
    task.item_sets.get(name="test").items.all().delete()
    task.item_sets.get(name="test").delete()
    assert possible_batches(task) == []
    with pytest.raises(BadInput):
        add_batches(study, [], wanted=1)
