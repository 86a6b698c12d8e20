"""What a small model answers to the demonstration, made anew by `make demonstration-runs`.

The model is made from generated text alone (tests/small_models.py), tuned on each shot set by the
command, and asked its test.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotation.simulation.demonstration import TUNED
from scoring.models import Run
from tests.heavy.small_t5 import SETTINGS, SYSTEM, finetune, import_demo

pytestmark = [pytest.mark.django_db, pytest.mark.models]


def test_makes_the_runs_of_the_demonstration(small_t5: Path) -> None:
    import_demo()
    finetune(small_t5, "--system", SYSTEM, "--shots", 10, 20, 30, *SETTINGS)
    runs = list(Run.objects.complete().select_related("task", "test_set").order_by("pk"))
    lines = as_stored(runs, datetime.now(tz=UTC).date().isoformat())
    TUNED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert len(runs) == 6 * 3 * 5


def as_stored(runs: list[Run], made: str) -> Iterator[str]:
    """The lines of the file, from runs of one system that have just been made."""
    first = runs[0]
    prompts, tuning = first.report["prompts"], first.report["tuning"]
    yield _line(
        system=first.system,
        method=first.method,
        parameters=first.parameters,
        made=made,
        format=prompts["format"],
        seed=prompts["seed"],
        tuning=tuning,
    )
    for run in runs:
        names = dict(run.test_set.items.values_list("example_id", "source_id"))
        given = dict(run.predictions.values_list("example_id", "answer"))
        yield _line(
            task=run.task.slug,
            shots=run.shots,
            split=run.split,
            shown=run.report["prompts"]["shown"],
            tuned=run.report["tuned"],
            notes=run.report["notes"],
            answers={names[pk]: given[pk] for pk in sorted(given, key=lambda pk: names[pk])},
        )


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)
