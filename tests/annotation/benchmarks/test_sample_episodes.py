from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Benchmark, Task
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "My texts.csv"
    rows = [f"Text {n} on {label}.,{label}" for label in ("rain", "goal") for n in range(12)]
    path.write_text("\n".join(["text,label", *rows]))
    return path


def run(*args: object, **options: Any) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command(
        "sample_episodes",
        *args,
        stdout=out,
        stderr=err,
        **{"few_shot": 3, "zero_shot": 2, **options},
    )
    return out.getvalue(), err.getvalue()


def test_samples_a_file_into_a_task_and_prints_its_checksum(texts: Path) -> None:
    out, err = run(texts, benchmark="flex", preset="flex-task", seed=4)
    task = Task.objects.get(slug="my-texts")
    assert out.splitlines() == [
        "my-texts: 8 item sets from 24 examples of 2 classes, seed 4 (new)",
        f"checksum {task.sampling['checksum']}",
    ]
    assert (task.benchmark.name, task.transfer) == ("flex", "task")
    assert "my-texts has no description" in err


def test_prints_the_same_checksum_the_second_time(texts: Path) -> None:
    first, _ = run(texts, benchmark="flex")
    second, _ = run(texts, benchmark="flex")
    assert second == first.replace("(new)", "(no change)")


def test_samples_from_an_imported_task_beside_it() -> None:
    made = make.task(make.benchmark("clues"), slug="sst2", training=8, tests=12)
    run(from_task="clues/sst2", preset="flex-domain")
    task = Task.objects.get(slug="sst2-episodes")
    assert (task.benchmark, task.exposure_key) == (made.benchmark, made.exposure_key)
    assert task.description == made.description


def test_sets_parameters_over_those_of_the_preset(texts: Path) -> None:
    run(texts, benchmark="flex", least_shots=2, most_shots=2, most_test=3, kept=0.25)
    parameters = Task.objects.get().sampling["parameters"]
    assert [parameters[name] for name in ("least_shots", "most_shots", "kept")] == [2, 2, 0.25]
    for item_set in Task.objects.get().item_sets.filter(role="training"):
        assert item_set.shots == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"benchmark": "flex", "preset": "flex-snli"},
            "2 classes, but the preset",
        ),
        ({}, "with --benchmark"),
        ({"from_task": "clues/sst2", "benchmark": "flex"}, "no task clues/sst2"),
        ({"benchmark": "flex", "expected": "0" * 64}, "sample them again as they were"),
        ({"benchmark": "flex", "label": "topic"}, "line 2: the field “topic” is missing"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(
    texts: Path, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(texts, **options)
    assert not Benchmark.objects.exists()


def test_needs_a_source() -> None:
    with pytest.raises(CommandError, match="either a file or --from-task"):
        run(benchmark="flex")
