"""The entries of a leaderboard, kept as comparisons are: with the fingerprint of all that they
follow from. What single readers may see of them is decided when they look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.utils import timezone
from django.utils.translation import get_language

from annotation.benchmarks.formats.content import checksum
from annotation.models import Benchmark, Task
from scoring.comparison.cells import CellReader
from scoring.comparison.rows import Row
from scoring.comparison.scope import Scope, inputs_fingerprint
from scoring.comparison.stored import shape
from scoring.comparison.to_json import plain
from scoring.core.s1 import SCORER_VERSION
from scoring.leaderboard.approving import running_studies, standing_runs, standing_studies
from scoring.leaderboard.entries import by_column, gather_entries
from scoring.leaderboard.rules import Entry
from scoring.models import Comparison, Part

# Raise by hand when a rule or a figure changes; other fields change the key by themselves.
ENTRIES_VERSION = 3
OF_RUNS = (
    *("pk", "is_by_researchers", "owner_id", "parameters", "citation", "url"),
    *("uses_labelled", "uses_unlabelled", "protocol"),
)


@dataclass(frozen=True)
class StoredEntries:
    entries: tuple[Entry, ...]


def kept_entries(
    benchmark: Benchmark, reader: CellReader, tasks: Sequence[Task], policies: Mapping[str, str]
) -> list[Entry]:
    """As kept, or gathered now and kept."""
    fingerprint = _fingerprint(benchmark, reader)
    lookup = _lookup(benchmark, reader)
    kept = Comparison.objects.filter(**lookup).first()
    if kept is None or kept.fingerprint != fingerprint:
        result = {
            "entries": [
                _plain(entry) for entry in gather_entries(benchmark, reader, tasks, policies)
            ]
        }
        kept = _keep(reader, lookup, {"result": result, "fingerprint": fingerprint})
    return [_entry(entry) for entry in kept.result["entries"]]


def _fingerprint(benchmark: Benchmark, reader: CellReader) -> str:
    """With the decisions on whose figures appear, and what their submitters say about them."""
    runs = standing_runs(benchmark).with_standing().order_by("pk").values_list(*OF_RUNS)
    studies = [
        list(those.values_list("pk", "title"))
        for those in (standing_studies(benchmark), running_studies(benchmark))
    ]
    return checksum([inputs_fingerprint(Scope(benchmark), reader), list(runs), studies])


def _lookup(benchmark: Benchmark, reader: CellReader) -> dict[str, Any]:
    key = checksum([_parameters(reader), shape(StoredEntries), SCORER_VERSION, ENTRIES_VERSION])
    return {"benchmark": benchmark, "study": None, "part": Part.BOARD, "parameters_key": key}


def _parameters(reader: CellReader) -> dict[str, Any]:
    """What keeps a system from its rank is told in the reader's language."""
    choices: dict[str, Any] = plain(reader.choices)
    return {**choices, "language": get_language()}


def _keep(reader: CellReader, lookup: dict[str, Any], found: dict[str, Any]) -> Comparison:
    """Instead of what another version of the program kept for the same choices."""
    parameters = _parameters(reader)
    kept, _ = Comparison.objects.update_or_create(
        **lookup,
        defaults={
            **found,
            "parameters": parameters,
            "seed": reader.choices.seed,
            "scorer_version": SCORER_VERSION,
            "computed_at": timezone.now(),
        },
    )
    former = Comparison.objects.filter(benchmark=kept.benchmark, part=Part.BOARD)
    former.filter(parameters=parameters).exclude(pk=kept.pk).delete()
    return kept


def _plain(entry: Entry) -> dict[str, Any]:
    about = {field.name: getattr(entry, field.name) for field in fields(Entry)}
    stored: dict[str, Any] = plain({**about, "rows": list(entry.rows.values())})
    return stored


def _entry(stored: Mapping[str, Any]) -> Entry:
    rows = (Row(**row) for row in stored["rows"])
    return Entry(
        **{
            **stored,
            "protocol": tuple(stored["protocol"]),
            "rows": by_column(rows),
            "gaps": {task: tuple(those) for task, those in stored["gaps"].items()},
        }
    )
