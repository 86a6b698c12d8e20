from dataclasses import replace
from typing import Any

import pytest

from annotation.benchmarks.sampling import PRESETS, changed, labelled_task
from annotation.models import Example, ItemSet, Task
from annotation.models.errors import BadInput
from annotation.studies.drafting import possible_batches
from scoring.core.episodes import FLEX_DOMAIN_AND_TASK, EpisodeRules
from tests import make
from tests.annotation.benchmarks.sampled import RULES, data_set, sampled
from tests.every import every

pytestmark = pytest.mark.django_db

# Of what `sampled` draws; it must never change.
CHECKSUM = "b55e117fb42ebcd2f2ed3c8b9ca8c3b36b389abf7c2efa9ec27b264a50c4e36c"


def test_stores_the_sets_of_every_episode() -> None:
    data = data_set()
    _report, _checksum, count = sampled(data)
    task = Task.objects.get(slug="topics")
    assert (len(data.examples), len(set(data.labels.values())), count) == (48, 3, 18)
    sets = task.item_sets.order_by("episode", "role")
    assert [item_set.name for item_set in sets[:2]] == ["episode-1-test", "episode-1-train"]
    assert [item_set.name for item_set in sets.filter(episode__gt=6)] == [
        f"episode-{number}-test" for number in range(7, 13)
    ]
    test_set = sets.get(name="episode-1-test")
    labels = [item.example.golds.get().alternative_texts()[0][0] for item in test_set.items.all()]
    assert sorted(test_set.choices) == ["money", "sport", "weather"]
    assert {labels.count(label) for label in test_set.choices} == {4}


def test_gives_a_training_set_its_number_of_examples_as_shots() -> None:
    sampled()
    for item_set in ItemSet.objects.filter(role="training"):
        assert item_set.shots == item_set.items.count()
        assert item_set.split is None


def test_shares_no_example_between_the_two_sets_of_an_episode() -> None:
    sampled()
    for candidate in possible_batches(Task.objects.get(slug="topics")):
        if candidate.training_set:
            training = set(candidate.training_set.items.values_list("example_id", flat=True))
            tests = set(candidate.test_set.items.values_list("example_id", flat=True))
            assert not training & tests


def test_uses_an_example_again_in_other_episodes() -> None:
    sampled()
    assert Example.objects.count() <= 48
    assert any(example.item_sets.count() > 3 for example in Example.objects.all())


def test_gives_every_question_of_the_task_an_id_of_its_own() -> None:
    sampled()
    test_items = ItemSet.objects.filter(role="test").values_list("items__source_id", flat=True)
    assert len(set(test_items)) == len(test_items)


def test_keeps_what_the_sets_were_sampled_by() -> None:
    _report, checksum, _sets = sampled()
    record = Task.objects.get(slug="topics").sampling
    assert record["seed"] == 1
    assert record["checksum"] == checksum
    assert EpisodeRules(**record["parameters"]) == RULES


def test_comes_out_the_same_from_a_file_in_another_order() -> None:
    data = data_set()
    backwards = replace(data, examples=tuple(reversed(data.examples)), file="other.csv")
    assert sampled(data)[1] == sampled(backwards, benchmark="other")[1]
    first, second = Task.objects.order_by("benchmark__name")
    checksums = [list(task.item_sets.values_list("name", "checksum")) for task in (first, second)]
    assert checksums[0] == checksums[1]


def test_has_the_checksum_that_it_always_had() -> None:
    """Anything else breaks every sample that anybody has published."""
    assert sampled()[1] == CHECKSUM


def test_changes_nothing_the_second_time() -> None:
    sampled()
    assert not sampled()[0].is_changed


def test_refuses_a_changed_data_set() -> None:
    sampled()
    with pytest.raises(BadInput, match="not what the task topics was sampled from"):
        sampled(data_set({"weather": 12, "sport": 20, "money": 17}))
    assert Task.objects.get(slug="topics").examples.count() <= 48


def test_refuses_other_parameters_under_the_same_name() -> None:
    sampled()
    for options in ({"seed": 2}, {"rules": replace(RULES, most_test=5)}):
        with pytest.raises(BadInput, match="other parameters or another seed"):
            sampled(**options)
    assert sampled(task="more", seed=2)[0].created


def test_refuses_what_does_not_have_the_expected_checksum() -> None:
    known = sampled()[1]
    assert not sampled(expected=known)[0].is_changed
    with pytest.raises(BadInput, match="sample them again as they were"):
        sampled(task="more", seed=2, expected=known)
    assert not Task.objects.filter(slug="more").exists()


def test_refuses_to_write_over_an_imported_task() -> None:
    made = make.task(make.benchmark("flex"))
    with pytest.raises(BadInput, match="was imported, not sampled"):
        sampled(task=made.slug)


def test_shares_the_exposure_key_of_the_data_set_between_samples() -> None:
    sampled()
    sampled(task="more", seed=2)
    assert Task.objects.values("exposure_key").distinct().count() == 1


def test_samples_from_an_imported_task() -> None:
    made = make.task(training=6, tests=30)
    data = labelled_task(made)
    assert len(data.examples) == 36
    sampled(data, benchmark=made.benchmark.name)
    assert len(data.examples) == 36
    known = {str(example.context): example for example in made.examples.all()}
    for example in Example.objects.filter(task__slug="topics"):
        same = known[str(example.context)]
        assert example.question == same.question
        assert example.golds.get().alternatives == same.golds.get().alternatives


def test_samples_only_where_there_are_labels() -> None:
    with pytest.raises(BadInput, match="no single labels to choose from"):
        labelled_task(make.task(kind="spans"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rules": PRESETS["flex-class"].rules}, r"texts.csv: There are 3 classes"),
        ({"seed": -1}, "The seed is -1"),
        ({"task": "two words"}, "cannot be a name"),
    ],
)
def test_says_what_the_data_set_lacks(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        sampled(**options)


def test_has_a_preset_for_every_test_configuration_of_flex() -> None:
    class_transfer = {"newsgroup", "reuters", "huffpost", "fewrel", "amazon"}
    names = class_transfer | {"mr", "cr", "snli", "scitail", "subj", "trec", "conll"}
    assert every(f"flex-{name}" in PRESETS for name in names)
    newsgroup: Any = PRESETS["flex-newsgroup"].rules
    assert newsgroup.classes_transfer
    assert PRESETS["flex-snli"].rules == FLEX_DOMAIN_AND_TASK
    assert PRESETS["flex-trec"].classes == 6
    bao: Any = PRESETS["bao-5"].rules
    assert bao.least_classes == bao.most_classes == 5


def test_sets_every_parameter_of_a_preset() -> None:
    rules: Any = changed(PRESETS["flex-class"].rules, {"most_classes": 7, "kept": 0.25})
    assert (rules.most_classes, rules.kept, rules.least_classes) == (7, 0.25, 5)
    with pytest.raises(BadInput, match="between 1 and most_shots"):
        changed(PRESETS["flex-class"].rules, {"least_shots": 9})
