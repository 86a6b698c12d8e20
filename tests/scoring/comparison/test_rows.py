import pytest

from annotation.models import Batch, Exclusion
from scoring.cells.cells import CellReader
from scoring.cells.rows import Row
from scoring.cells.scope import Choices, Scope
from scoring.comparison.comparing import compare
from scoring.comparison.comparison import Comparison
from scoring.comparison.row_tables import interval_table
from scoring.core.intervals import cell_interval, guard_band, split_interval
from tests import make
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db


def table_of(batch: Batch, shot_sets: str = "these") -> Comparison:
    return compare(Scope(batch.study.benchmark, batch.study), Choices(shot_sets=shot_sets))


def human(table: Comparison) -> Row:
    [row] = [row for row in table.rows if row.kind == "human"]
    return row


def test_gives_two_people_the_guard_band_alone() -> None:
    batch = measured.cell([3, 5], tests=9)
    [cell] = CellReader(Choices()).people(batch.study)
    band, row = guard_band(cell.scores), human(table_of(batch))
    assert row.ci_method == "guard"
    assert (row.ci_low, row.ci_high) == pytest.approx((100 * band.low, 100 * band.high))


def test_gives_three_people_the_interval() -> None:
    row = human(table_of(measured.cell([3, 5, 6], tests=9)))
    assert row.ci_method == "wilson"
    assert row.ci_low is not None


def test_says_why_one_person_has_no_interval() -> None:
    table = table_of(measured.cell([3]))
    assert human(table).notes == "A single annotator or run: there is no interval."
    [line] = interval_table(table.rows, table.titles).records
    assert (line["interval"], line["notes"]) == (None, human(table).notes)


def test_shows_how_much_hangs_on_one_person() -> None:
    batch = make.running_batch(wanted=5, training=3, tests=40)
    for wrong in (3, 3, 3, 3, 23):
        make.worked_through(batch, wrong=wrong)
    table = table_of(batch)
    row = human(table)
    assert (row.without_low, row.without_high) == pytest.approx((87.5, 100))
    assert row.flagged == 1
    assert [person.flagged for person in table.rows if person.single] == [*[None] * 4, 1]


@pytest.mark.parametrize("sets", ["these", "new"])
def test_holds_for_the_shot_sets_that_were_chosen(sets: str) -> None:
    [first, *_] = measured.study_with_splits(3, 2, tests=12)
    [cell] = CellReader(Choices()).people(first.study)
    expected = split_interval(cell.scores, cell.splits, shot_sets=sets).cell
    table = table_of(first, shot_sets=sets)
    row = human(table)
    assert (row.ci_low, row.ci_high) == pytest.approx((100 * expected.low, 100 * expected.high))
    assert (row.shot_sets, row.n, row.splits) == (sets, 6, 3)
    assert table.offers_new_shot_sets


def test_refuses_new_shot_sets_over_two_splits_with_a_sentence() -> None:
    [first, _] = measured.study_with_splits(2, 3, tests=12)
    table = table_of(first, shot_sets="new")
    assert human(table).ci_low is None
    assert human(table).notes == "An interval for new shot sets needs 3 splits; this cell has 2."
    assert not table.offers_new_shot_sets
    assert human(table_of(first)).ci_low is not None


def test_a_second_split_makes_no_interval_wider_by_its_mere_presence() -> None:
    [first, _] = measured.study_with_splits(2, 3, tests=12)
    both = human(table_of(first))
    [cell] = CellReader(Choices()).people(first.study)
    alone = cell_interval(cell.scores)
    width = (both.ci_high or 0) - (both.ci_low or 0)
    assert width < 1.25 * 100 * (alone.high - alone.low)


def test_an_excluded_annotator_hangs_on_nothing() -> None:
    batch = measured.cell([3, 3, 9])
    Exclusion.objects.create(assignment=batch.assignments.last(), reason="random answers")
    assert human(table_of(batch)).without_low == 100
