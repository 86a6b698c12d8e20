"""Every column that leaves the program says what it means."""

from dataclasses import fields

import pytest

from annotation.models import Study
from scoring.comparison.analysis_tables import TABLES, provenance_table
from scoring.comparison.cells import Choices
from scoring.comparison.comparing import ComparisonTable
from scoring.comparison.row_tables import interval_table, row_table
from scoring.comparison.stored import Analysis
from scoring.comparison.verdict_tables import finding_table, judged_row_table
from scoring.comparison.verdicts import Verdicts
from scoring.episodes.board import EpisodeBoard
from scoring.episodes.tables import episode_tables
from scoring.leaderboard.board import Board
from scoring.leaderboard.exported_tables import exported_tables
from scoring.planning.designs import Assumptions
from scoring.planning.plans import Contrast, make_plan
from scoring.planning.tables import plan_table
from scoring.report.documents import Report, topics_table
from scoring.tables.table import Table

NOTHING: dict[str, list[object]] = {part.name: [] for part in fields(Analysis)}
PLAN = make_plan(Assumptions(), budget=60, contrast=Contrast(0.05), min_coverage=None)
EXPORTED = [
    row_table("comparison", []),
    finding_table(Verdicts()),
    judged_row_table(ComparisonTable("clues", None, Choices(), ())),
    interval_table([]),
    *(make_table(NOTHING) for make_table in TABLES.values()),
    provenance_table({}),
    *episode_tables(EpisodeBoard("flex", {("sst2", False): 1, ("sst2", True): 1}, ()), []),
    *exported_tables(Board("clues", (), (), (), (), ())),
    plan_table(PLAN),
    topics_table(Report(Study(), (), ())),
]


@pytest.mark.parametrize("table", EXPORTED, ids=lambda table: str(table.name))
def test_says_what_a_column_means(table: Table) -> None:
    assert [column.key for column in table.columns if not column.meaning] == []
