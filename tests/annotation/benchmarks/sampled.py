"""Small sampled data sets, and studies of their episodes."""

from collections.abc import Collection
from typing import Any

from annotation.benchmarks.formats.labelled import LabelledData, distinct, labelled_example
from annotation.benchmarks.sampling import sample
from annotation.benchmarks.storing import TaskReport
from annotation.models import Benchmark, Study, Task
from annotation.studies.drafting import add_batches, possible_batches
from annotation.studies.lifecycle import start_study
from scoring.core.episodes import EpisodeRules
from tests import make

RULES = EpisodeRules(few_shot=6, zero_shot=6, most_test=4)
SIZES = {"weather": 12, "sport": 20, "money": 16}


def data_set(sizes: dict[str, int] | None = None) -> LabelledData:
    return distinct(
        "texts.csv",
        (
            labelled_example(
                where=f"{label} {n}",
                source_id=f"{label}{n}",
                context=[f"Text {n} on {label}."],
                question="What is it about?",
                label=label,
            )
            for label, size in (sizes or SIZES).items()
            for n in range(size)
        ),
    )


def sampled(data: LabelledData | None = None, **options: Any) -> tuple[TaskReport, str, int]:
    return sample(
        data or data_set(),
        **{"rules": RULES, "seed": 1, "benchmark": "flex", "task": "topics", **options},
    )


def sampled_task(**options: Any) -> Task:
    """A task of episodes 1 to 6 with training and 7 to 12 without, ready for a study."""
    sampled(**options)
    task = Task.objects.get(slug=options.get("task", "topics"))
    task.description = "Choose the label that fits."
    task.save(update_fields=["description"])
    return task


def study_of(task: Task, episodes: Collection[int], *, wanted: int = 1, **fields: Any) -> Study:
    """A started study with a batch of each of these episodes."""
    study = make.study(Benchmark.objects.get(pk=task.benchmark_id), **fields)
    chosen = [
        possible for possible in possible_batches(task) if possible.test_set.episode in episodes
    ]
    add_batches(study, chosen, wanted=wanted)
    start_study(study, at=make.NOON)
    return study
