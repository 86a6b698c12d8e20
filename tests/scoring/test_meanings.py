"""Every column that leaves the program says what it means."""

import pytest

from scoring.analysis.tables import ALL, PROVENANCE
from scoring.comparison.comparison import Comparison
from scoring.comparison.row_tables import (
    finding_table,
    interval_table,
    judged_row_table,
    row_table,
)
from scoring.episodes.board import EpisodeBoard
from scoring.episodes.tables import episode_tables
from scoring.leaderboard.board import Board
from scoring.leaderboard.tables import exported_tables
from scoring.planning import tables as designs
from scoring.report import documents
from scoring.tables.table import Table

EXPORTED = [
    row_table("comparison", []),
    finding_table([]),
    judged_row_table(Comparison(())),
    interval_table([], {}),
    *ALL,
    PROVENANCE,
    *episode_tables(EpisodeBoard("flex", {("sst2", False): 1, ("sst2", True): 1}, ()), []),
    *exported_tables(Board("clues", (), (), (), (), ())),
    Table("designs", "", "", designs.COLUMNS),
    Table("sheet", "", "", documents.COLUMNS),
]


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: str(table.name))
def test_says_what_a_column_means(table: Table) -> None:
    assert [column.key for column in table.columns if not column.meaning] == []
