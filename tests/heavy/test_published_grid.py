"""The sample-size simulation of FLEX as it was published: all designs, all replicates."""

import csv
import json
import math
from collections import defaultdict
from io import StringIO
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import call_command

pytestmark = [pytest.mark.django_db, pytest.mark.long]

Row = dict[str, float]


def simulated(**options: object) -> list[Row]:
    out = StringIO()
    call_command("plan_episodes", **options, stdout=out)
    rows = csv.DictReader(StringIO(out.getvalue()))
    return [{name: float(value or "nan") for name, value in row.items()} for row in rows]


def test_finds_ninety_episodes_best_for_forty_eight_hours_on_the_whole_grid() -> None:
    grid = simulated()
    assert len(grid) == 784
    widths = defaultdict(list)
    for row in grid:
        if row["hours"] == 48 and row["episodes"] >= 60:
            widths[row["episodes"]].append(row["width"])
    assert {len(over_accuracies) for over_accuracies in widths.values()} == {14}
    assert min(widths, key=lambda episodes: fmean(widths[episodes])) == 90


def test_meets_the_known_rows_with_as_many_replicates(oracles: Path) -> None:
    known = json.loads((oracles / "flex_sample_size.json").read_text())["rows"]
    for row in known:
        [found] = simulated(
            accuracy=[row["accuracy"]],
            hours=[row["budget_hours"]],
            episodes=[row["episodes"]],
            replicates=20_000,
        )
        assert found["examples"] == row["test_examples"]
        for figure in ("coverage", "width"):
            error = math.hypot(found[f"{figure}_se"], row[f"{figure}_se"])
            assert found[figure] == pytest.approx(row[figure], abs=4 * error), (row, figure)
