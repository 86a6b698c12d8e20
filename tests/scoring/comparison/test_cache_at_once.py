import pytest

from scoring.cells.scope import Scope
from scoring.comparison.comparing import compare
from scoring.models import Comparison
from tests.scoring.comparison import measured
from tests.together import at_once


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_keeps_one_table_when_several_readers_compute_it_at_once() -> None:
    batch = measured.cell([3, 4, 6])
    tables = at_once(lambda _: compare(Scope(batch.study.benchmark, batch.study)), 4)
    assert len({str(table.rows) for table in tables}) == 1
    assert Comparison.objects.count() == 1
