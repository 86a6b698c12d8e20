import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotation.models import Benchmark, Example, Kind, Role
from annotation.models.errors import BadInput
from scoring.models import Run
from tests import make
from tests.scoring.runs.runs_from import answers, imported

pytestmark = pytest.mark.django_db

WHO = {"system": "UniFew", "method": "PT"}


def flex() -> Benchmark:
    """Episodes 1 (two shots) and 2 (none) of one data set, each with its own label order."""
    made = make.benchmark("flex")
    task = make.task(made, slug="subj", kind=Kind.CHOICE, training=0, tests=0)
    examples = [make.example(task, f"q{n}") for n in range(4)]
    shots = [make.example(task, f"shot {n}", role=Role.TRAINING) for n in range(2)]
    make.item_set(task, shots, name="episode-1-train", episode=1)
    episode(examples[:2], 1)
    episode(examples[2:], 2)
    return made


def episode(examples: list[Example], number: int) -> None:
    made = make.item_set(
        examples[0].task,
        examples,
        name=f"episode-{number}-test",
        role=Role.TEST,
        episode=number,
    )
    made.choices = ["objective", "subjective"][:: 1 if number == 1 else -1]
    made.save()


def written(tmp_path: Path, predictions: Mapping[str, object]) -> Path:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(predictions))
    return path


def test_finds_the_episode_and_reads_class_numbers_as_labels(tmp_path: Path) -> None:
    labels = {"q0": "0", "q1": "1", "q2": "0", "q3": "1"}
    path = written(tmp_path, {q: {"label": label, "score": 0.5} for q, label in labels.items()})
    first, second = (stored.run for stored in imported(path, flex(), run=WHO).runs)
    assert (first.episode, first.shots) == (1, 2)
    assert (second.episode, second.shots) == (2, 0)
    assert answers(first) == {"q0": ["objective"], "q1": ["subjective"]}
    assert answers(second) == {"q2": ["subjective"], "q3": ["objective"]}


def test_counts_what_no_episode_asks_and_what_no_class_is(tmp_path: Path) -> None:
    given = {"q0": {"label": "2"}, "q1": {"label": "1"}, "zz": {"label": "0"}}
    total = imported(written(tmp_path, given), flex(), run=WHO).total
    assert (total.matched, total.unmatched, total.refused, total.missing) == (2, 1, 0, 0)
    run = Run.objects.get()
    assert answers(run) == {"q0": ["class 2"], "q1": ["subjective"]}
    assert run.report["outside"] == 1


def test_refuses_an_id_that_two_data_sets_use(tmp_path: Path) -> None:
    benchmark = flex()
    other = make.task(benchmark, slug="cr", kind=Kind.CHOICE, training=0, tests=0)
    episode([make.example(other, "q0")], 5)
    path = written(tmp_path, {"q0": {"label": "0"}, "q1": {"label": "0"}})
    total = imported(path, benchmark, run=WHO).total
    assert (total.matched, total.unmatched) == (1, 1)
    assert imported(path, benchmark, run={**WHO, "task": "subj"}).total.matched == 2


def test_asks_for_the_system_that_the_format_does_not_name(tmp_path: Path) -> None:
    path = written(tmp_path, {"q0": {"label": "0"}})
    with pytest.raises(BadInput, match="nothing names the system"):
        imported(path, flex())
