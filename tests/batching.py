"""Batches by tasks, shots and chains, for tests."""

from collections.abc import Collection, Iterable

from django.contrib.auth.models import User

from annotation.models import Batch, Study, Task
from annotation.studies.drafting import add_batches, possible_batches, shots_of


def select_shots(
    among: Iterable[Batch], shots: Collection[int], chains: Collection[int | None] | None = None
) -> list[Batch]:
    """Those with one of these numbers of shots, and in one of these chains if any are chosen; None
    stands for the shot sets that nest in none. Zero-shot batches and episodes belong to no chain.
    """
    fitting = [batch for batch in among if shots_of(batch) in shots]
    if chains is None:
        return fitting
    return [
        batch
        for batch in fitting
        if batch.training_set is None or batch.test_set.episode is not None or batch.chain in chains
    ]


def make_batches(
    study: Study,
    *,
    tasks: Iterable[Task],
    shots: Collection[int],
    chains: Collection[int] | None = None,
    wanted: int,
    by: User | None = None,
) -> list[Batch]:
    """Add the batches of tasks × shots × chains that the study lacks, and return these; 0 shots is
    zero-shot, no chains means all."""
    possible = [batch for task in tasks for batch in possible_batches(task)]
    return add_batches(study, select_shots(possible, shots, chains), wanted=wanted, by=by)
