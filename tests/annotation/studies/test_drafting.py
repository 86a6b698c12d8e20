from decimal import Decimal
from typing import Any

import pytest

from annotation.models import Channel, LabDefaults, Study, Task
from annotation.models.errors import BadInput
from annotation.studies.cutting import cut_test_set
from annotation.studies.drafting import draft_study
from annotation.studies.lifecycle import start_study
from scoring.runs.storing import find_test_set
from tests import make
from tests.annotation.benchmarks.sampled import sampled_task

pytestmark = pytest.mark.django_db


def drafted(task: Task, **changes: Any) -> Study:
    draft = {"shots": 3, "batches": 1, "annotators": 4, "items": 99, **changes}
    return draft_study(
        task,
        **draft,
        slug="planned",
        title="Planned",
        channel=Channel.objects.get(slug="link"),
        hourly_rate=Decimal(12),
    )


def test_makes_a_draft_that_can_be_started() -> None:
    study = drafted(make.task())
    study.consent_text = "We store your answers."
    study.save()
    start_study(study, at=make.NOON)
    assert study.batches.get().wanted == 4


def test_cuts_the_same_part_out_of_a_test_set_every_time() -> None:
    test_set = make.task(tests=20).item_sets.get(name="test")
    part = cut_test_set(test_set, 8)
    assert part == cut_test_set(test_set, 8)
    assert (part.name, part.items.count(), part.choices) == ("test-part-8", 8, test_set.choices)
    kept = list(part.items.values_list("source_id", flat=True))
    whole = list(test_set.items.values_list("source_id", flat=True))
    assert kept == [item_id for item_id in whole if item_id in kept]
    assert cut_test_set(test_set, 8, seed=1) != part


def test_keeps_the_questions_of_a_context_together() -> None:
    test_set = make.task(tests=12).item_sets.get(name="test")
    for position, item in enumerate(test_set.items.select_related("example")):
        item.example.context_hash = str(position // 3)
        item.example.save()
    part = cut_test_set(test_set, 2)
    contexts = [item.example.context_hash for item in part.items.select_related("example")]
    assert len(contexts) == 6
    assert {contexts.count(context) for context in contexts} == {3}


def test_takes_the_whole_set_where_it_has_no_more() -> None:
    test_set = make.task(tests=5).item_sets.get(name="test")
    assert cut_test_set(test_set, 5) == test_set


def test_leaves_predictions_to_the_whole_set() -> None:
    task = make.task(tests=20)
    drafted(task, items=8)
    assert find_test_set(task, None).name == "test"


def test_reuses_the_part_of_an_earlier_draft() -> None:
    task = make.task(tests=20)
    drafted(task, items=8)
    second = drafted_again(task)
    assert second.batches.get().test_set.name == "test-part-8"


def drafted_again(task: Task) -> Study:
    Study.objects.update(slug="first")
    return drafted(task, items=8)


def test_makes_a_batch_of_every_episode_that_is_asked_for() -> None:
    task = sampled_task()
    study = drafted(task, shots=0, batches=3)
    assert [batch.label for batch in study.batches.order_by("test_set__episode")] == [
        "episode 7",
        "episode 8",
        "episode 9",
    ]


def test_cuts_no_episode() -> None:
    with pytest.raises(BadInput, match="done as a whole: this one has 12 questions"):
        drafted(sampled_task(), shots=0, items=5)
    assert not Study.objects.exists()


def test_names_the_shots_that_there_are() -> None:
    with pytest.raises(BadInput, match="these shots: 0, 3"):
        drafted(make.task(), shots=30)


def test_refuses_a_name_that_is_taken() -> None:
    task = make.task()
    drafted(task)
    with pytest.raises(BadInput, match="already"):
        drafted(task)


def test_begins_with_the_defaults_of_its_owner_where_the_plan_is_silent() -> None:
    owner = make.researcher()
    LabDefaults.objects.create(user=owner, hourly_rate=20, contact="lab@example.org")
    study = drafted(make.task(), owner=owner)
    assert (study.hourly_rate, study.contact) == (12, "lab@example.org")
