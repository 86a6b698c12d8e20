"""That tuning teaches, by the command: tuned on right answers a model beats what no skill earns;
tuned on shuffled ones it does not, be they another example's or those of the same text to another
question.

The learner finds names, and knows words for their kinds; the demonstration's words it has never
met. As it is made it earns less there than answering nothing would.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

import pytest

from annotation.models import Benchmark
from annotation.simulation.demonstration import BENCHMARK
from scoring.cells.cell_rows import bounds
from scoring.models import Run
from scoring.runs.scores import scores_of_run
from tests.heavy.commands import finetune, import_demo, rows

pytestmark = [pytest.mark.django_db, pytest.mark.models, pytest.mark.long]

TASK, SHOTS, SPLITS = "newsroom", 30, 5
POLICY = "any"
# Of S1 in percent, above no skill.
MARGIN = 5
# As large as the weights that they move, its steps teach a new word before they undo the rest.
SETTINGS = [
    *("--optimizer", "adafactor", "--learning-rate", 2e-2, "--warmup", 0.1),
    *("--batch-size", 16, "--steps", 300),
]

Rows = list[dict[str, Any]]
Shuffle = Callable[[Rows], None]


def over_examples(rows: Rows) -> None:
    """Every answer stands beside another example's text."""
    answers = [row["answer"] for row in rows]
    Random(3).shuffle(answers)
    for row, answer in zip(rows, answers, strict=True):
        row["answer"] = answer


def within_texts(rows: Rows) -> None:
    """Every answer stands beside its own text, and a question about any of the three kinds."""
    chance = Random(3)
    for text in dict.fromkeys(row["context"] for row in rows):
        of_text = [row for row in rows if row["context"] == text]
        answers = [row["answer"] for row in of_text]
        chance.shuffle(answers)
        for row, answer in zip(of_text, answers, strict=True):
            row["answer"] = answer


def test_learns_from_right_answers_and_not_from_shuffled_ones(
    learner: Path, tmp_path: Path
) -> None:
    benchmark = imported(tmp_path / "right")
    no_skill = max(
        bound.score for bound in bounds(benchmark.tasks.get(), POLICY, 1) if bound.is_floor
    )
    as_made = scores(learner, benchmark, "--shots", 0)
    tuned = scores(learner, benchmark, "--shots", SHOTS, *SETTINGS)
    told = f"as made {as_made}, tuned {tuned}, no skill {no_skill}"
    assert len(tuned) == SPLITS
    assert mean(tuned) >= no_skill + MARGIN, told
    assert mean(as_made) < no_skill, told
    for shuffle in (over_examples, within_texts):
        shuffled = imported(tmp_path / shuffle.__name__, shuffle)
        control = scores(learner, shuffled, "--shots", SHOTS, *SETTINGS)
        assert len(control) == SPLITS
        assert mean(control) < no_skill + MARGIN, f"{shuffle.__name__}: {control}; {told}"
        assert mean(tuned) >= mean(control) + MARGIN, f"{shuffle.__name__}: {control}; {told}"


def imported(folder: Path, shuffle: Shuffle | None = None) -> Benchmark:
    """The task alone, with its largest shot sets; nothing in its test is touched."""
    source = BENCHMARK / TASK.capitalize()
    wanted = [f"{TASK}_train_{SHOTS}_{split + 1}.jsonl" for split in range(SPLITS)]
    target = folder / source.name
    target.mkdir(parents=True)
    for name in ("task.json", f"{TASK}_test.jsonl", *wanted):
        shutil.copy(source / name, target)
    for name in wanted if shuffle else ():
        changed = rows(target / name)
        shuffle(changed)
        (target / name).write_text("".join(f"{json.dumps(row)}\n" for row in changed))
    return import_demo(folder, folder.name)


def scores(model: Path, benchmark: Benchmark, *settings: object) -> list[float]:
    system = f"{benchmark.name} {settings[1]}"
    where = ["--benchmark", benchmark.name, "--system", system, "--format", "clues"]
    finetune(model, *where, "--longest-answer", 48, *settings)
    runs = Run.objects.complete().filter(system=system).order_by("split")
    return [
        figure.mean for run in runs for figure in scores_of_run(run) if figure.references == POLICY
    ]
