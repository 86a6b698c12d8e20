"""What an analysis holds, and where it is kept."""

from dataclasses import dataclass

from scoring.analysis import tables
from scoring.analysis.uncertainty import Record
from scoring.comparison.keeping import Store
from scoring.models import Part


@dataclass(frozen=True)
class Analysis:
    """The lines of each table, as they are exported; but curves have their points within."""

    tests: tuple[Record, ...] = ()
    systems: tuple[Record, ...] = ()
    changes: tuple[Record, ...] = ()
    uncertainty: tuple[Record, ...] = ()
    agreement: tuple[Record, ...] = ()
    # Each with its place and annotators, its `points`, and by annotator the means in its blocks.
    curves: tuple[Record, ...] = ()
    aggregates: tuple[Record, ...] = ()
    average_tests: tuple[Record, ...] = ()
    excluded: tuple[Record, ...] = ()


STORE = Store(
    Part.ANALYSIS,
    Analysis,
    16,
    "analyse_comparison",
    columns=tuple(key for table in tables.TABLES.values() for key in table.keys),
)
