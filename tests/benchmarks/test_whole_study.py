import pytest

from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from scoring.models import Prediction
from tests.every import every
from tools.benchmarks import bench_comparison
from tools.benchmarks.whole_study import Size, store_runs, store_study

pytestmark = pytest.mark.django_db
SMALL = Size(tasks=2, shots=(0, 3), annotators=2, items=4, systems=3, splits=(1, 2))


def test_holds_as_many_people_and_runs_as_it_says() -> None:
    study = store_study(SMALL)
    store_runs(study, SMALL)
    table = compare(Scope(study.benchmark, study))
    cells = [row for row in table.rows if row.kind == "human"]
    assert [(row.task, row.shots, row.n) for row in cells] == [
        ("task-0", 0, 2),
        ("task-0", 3, 2),
        ("task-1", 0, 2),
        ("task-1", 3, 2),
    ]
    assert every(row.coverage == 1 for row in table.rows)
    assert Prediction.objects.count() == SMALL.predictions == 48
    assert SMALL.judgements == sum(row.n for row in table.rows if row.kind == "annotator") == 32


def test_is_measured_in_every_state(capsys: pytest.CaptureFixture[str]) -> None:
    study = store_study(SMALL)
    store_runs(study, SMALL)
    bench_comparison.measure(study, rounds=1)
    told = capsys.readouterr().out
    assert "no scores kept (20 made)" in told
    assert "table kept" in told
