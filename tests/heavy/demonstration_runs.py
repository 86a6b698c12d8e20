"""What a small model answers to the demonstration, made anew by `make demonstration-runs`.

The model is made from generated text alone (tests/small_models.py), tuned on each shot set by the
command, and asked its test.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.simulation.demonstration import RUNS
from scoring.models import Run
from scoring.runs.demonstration import as_stored
from tests.heavy.small_t5 import SETTINGS, SYSTEM, finetune, import_demo

pytestmark = [pytest.mark.django_db, pytest.mark.models]


def test_makes_the_runs_of_the_demonstration(small_t5: Path) -> None:
    import_demo()
    finetune(small_t5, "--system", SYSTEM, "--shots", 10, 20, 30, *SETTINGS)
    runs = list(Run.objects.complete().select_related("task", "test_set").order_by("pk"))
    lines = as_stored(runs, datetime.now(tz=UTC).date().isoformat())
    RUNS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert len(runs) == 6 * 3 * 5
