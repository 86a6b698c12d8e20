import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.benchmarks.importing import import_episodes
from annotation.models import Batch, Benchmark, Example, ItemSet, Task
from annotation.models.errors import BadInput
from annotation.studies.drafting import possible_batches
from tests import make
from tests.annotation.benchmarks.flex_files import Written, challenge, small

pytestmark = pytest.mark.django_db


def imported(folder: Path) -> str:
    out = StringIO()
    call_command("import_episodes", *small().save(folder), stdout=out, stderr=StringIO())
    return out.getvalue()


def test_makes_a_task_of_each_data_set_with_the_sets_of_its_episodes(tmp_path: Path) -> None:
    out = imported(tmp_path)
    assert out.splitlines() == [
        "subj: 4 examples (new)",
        "snli: 1 examples (new)",
        "1 few-shot and 2 zero-shot episodes",
        f"checksum {small().checksum}",
    ]
    subj = Task.objects.get(slug="subj")
    assert list(subj.item_sets.order_by("episode", "-name").values_list("name", "choices")) == [
        ("episode-1-test", ["objective", "subjective"]),
        ("episode-2-train", ["subjective", "objective"]),
        ("episode-2-test", ["subjective", "objective"]),
    ]
    assert (subj.kind, subj.transfer) == ("choice", "task")


def test_reuses_an_example_in_another_role(tmp_path: Path) -> None:
    imported(tmp_path)
    reused = Example.objects.get(context=["A joy from start to end."])
    names = reused.item_sets.order_by("name").values_list("name", flat=True)
    assert list(names) == ["episode-1-test", "episode-2-train"]


def test_keeps_the_ids_of_questions_and_their_gold(tmp_path: Path) -> None:
    imported(tmp_path)
    made = small()
    item_set = ItemSet.objects.get(task__slug="subj", name="episode-1-test")
    questions = [row["question_id"] for row in made.rows[:2]]
    assert list(item_set.items.values_list("source_id", flat=True)) == questions
    golds = [item.example.golds.get().alternative_texts() for item in item_set.items.all()]
    assert golds == [[["objective"]], [["subjective"]]]


def test_makes_batches_of_episodes(tmp_path: Path) -> None:
    imported(tmp_path)
    batches = possible_batches(Task.objects.get(slug="subj"))
    assert [
        (batch.test_set.episode, batch.training_set is None, batch.shots) for batch in batches
    ] == [
        (1, True, 0),
        (2, False, 2),
    ]


def test_changes_nothing_the_second_time(tmp_path: Path) -> None:
    imported(tmp_path)
    out = imported(tmp_path)
    assert out.count("(no change)") == 2


def test_takes_the_two_files_in_either_order(tmp_path: Path) -> None:
    challenge_file, answers = small().save(tmp_path)
    assert import_episodes([answers, challenge_file], name="flex")[0].few_shot == 1


def test_refuses_other_episodes_under_the_same_name(tmp_path: Path) -> None:
    imported(tmp_path)
    other = challenge(Written(test=[("Snow fell.", 0)])).save(tmp_path)
    with pytest.raises(BadInput, match="Import these episodes as another benchmark"):
        import_episodes(other, name="flex")
    assert ItemSet.objects.count() == 4


def test_shares_one_exposure_key_between_episodes_and_imports(tmp_path: Path) -> None:
    imported(tmp_path)
    import_episodes(small().save(tmp_path), name="again")
    keys = Task.objects.filter(slug="subj").values_list("exposure_key", flat=True)
    assert len(set(keys)) == 1
    assert len(keys) == 2


def test_stores_nothing_of_a_bad_file(tmp_path: Path) -> None:
    made = small()
    made.rows[-1]["txt"] = ""
    with pytest.raises(CommandError, match=r"line 6: “txt” is empty.*Nothing was imported"):
        call_command("import_episodes", *made.save(tmp_path))
    assert not Benchmark.objects.exists()


def test_says_which_of_two_files_is_missing(tmp_path: Path) -> None:
    challenge_file, _ = small().save(tmp_path)
    copy = tmp_path / "copy.jsonl"
    copy.write_text(challenge_file.read_text())
    with pytest.raises(BadInput, match="both are"):
        import_episodes([challenge_file, copy], name="flex")
    with pytest.raises(BadInput, match=r"nowhere.jsonl cannot be read"):
        import_episodes([challenge_file, tmp_path / "nowhere.jsonl"], name="flex")


def test_refuses_two_data_sets_that_would_be_one_task(tmp_path: Path) -> None:
    made = challenge(
        Written(dataset="A b", test=[("One.", 0)]), Written(dataset="a-b", test=[("Two.", 0)])
    )
    with pytest.raises(BadInput, match="would be one task"):
        import_episodes(made.save(tmp_path), name="flex")


def test_leaves_a_started_study_alone(tmp_path: Path) -> None:
    imported(tmp_path)
    task = Task.objects.get(slug="subj")
    task.description = "Choose."
    task.save()
    study = make.study(task.benchmark)
    chosen = possible_batches(task)[0]
    Batch.objects.create(study=study, task=task, test_set=chosen.test_set, wanted=1)
    make.start_study(study, at=make.NOON)
    assert imported(tmp_path).count("(no change)") == 2
    assert json.loads(json.dumps(study.frozen))["batches"][0]["label"] == "episode 1"
