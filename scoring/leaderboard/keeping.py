"""The entries of a leaderboard, kept as comparisons are: with the fingerprint of all that they
follow from. What single readers may see of them is decided when they look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Benchmark, Task
from annotation.models.texts import checksum
from scoring.cells.cells import CellReader
from scoring.cells.scope import Scope, inputs_fingerprint
from scoring.comparison.keeping import Store, is_stale
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies
from scoring.leaderboard.entries import gather_entries
from scoring.leaderboard.rules import Entry
from scoring.models import Part

OF_RUNS = (
    *("pk", "is_by_researchers", "owner_id", "parameters", "citation", "url"),
    *("uses_labelled", "uses_unlabelled", "protocol"),
)


@dataclass(frozen=True)
class Entries:
    entries: tuple[Entry, ...]


STORE = Store(Part.BOARD, Entries, 4)


def kept_entries(
    benchmark: Benchmark, reader: CellReader, tasks: Sequence[Task], policies: Mapping[str, str]
) -> Sequence[Entry]:
    """As kept, or gathered now and kept."""
    scope, fingerprint = Scope(benchmark), _fingerprint(benchmark, reader)
    kept = STORE.find(scope, reader.choices)
    if is_stale(kept, fingerprint):
        gathered = gather_entries(benchmark, reader, tasks, policies)
        kept = STORE.keep(scope, reader.choices, Entries(tuple(gathered)), fingerprint)
    found = STORE.read(kept)
    return found.entries if found else ()


def _fingerprint(benchmark: Benchmark, reader: CellReader) -> str:
    """With the decisions on whose figures appear, and what their submitters say about them."""
    runs = standing_runs(benchmark).with_standing().order_by("pk").values_list(*OF_RUNS)
    studies = [
        list(those.values_list("pk", "title"))
        for those in (standing_studies(benchmark), running_studies(benchmark))
    ]
    return checksum([inputs_fingerprint(Scope(benchmark), reader.choices), list(runs), studies])
