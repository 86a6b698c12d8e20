"""The leaderboard of a benchmark by the rules of CLUES: who is ranked, and by what."""

from collections.abc import Collection

SHOTS = (10, 20, 30)
SPLITS = (1, 2, 3, 4, 5)
SORTED_BY = 30


def missing_runs(
    runs: Collection[tuple[str, int, int]], tasks: Collection[str]
) -> list[tuple[str, int, int]]:
    """The task, shots and split of every run that a system still needs to be ranked."""
    required = [(task, shots, split) for task in tasks for shots in SHOTS for split in SPLITS]
    return [place for place in required if place not in runs]
