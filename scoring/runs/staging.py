"""Where an import writes new runs: bit by bit and unseen, until one short transaction publishes
them all. What an import that was killed has left behind is removed later."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from annotation.jobs.pacing import ROWS_AT_ONCE, write
from scoring.models import Prediction, Run, RunState
from scoring.runs.storing import Added, Answers, StoredAlready, add_predictions, finished

# No import takes this long, so who began it is gone.
ABANDONED_AFTER = timedelta(hours=6)


def add(run: Run, answers: Answers) -> Added:
    """As `add_predictions` does, a few at a time."""
    given = list(answers.items())
    added = [
        _add(run, given[start : start + ROWS_AT_ONCE])
        for start in range(0, len(given), ROWS_AT_ONCE)
    ]
    return Added(
        sum(some.stored for some in added),
        sum(some.repeated for some in added),
        [pk for some in added for pk in some.different],
    )


def describe(run: Run, report: Mapping[str, Any], together: Collection[int]) -> None:
    """Store what the whole run is. Raises StoredAlready if it exists as another run, be it of the
    same import."""
    content = finished(run, report)
    if same := _published_as(content["checksum"]) or _among(together, content["checksum"]):
        raise StoredAlready(same)
    write(lambda: Run.every.filter(pk=run.pk).update(**content))
    run.checksum, run.report = content["checksum"], content["report"]


def publish(runs: Iterable[Run]) -> None:
    """All of them or none. Raises IntegrityError if one was stored as another run meanwhile."""
    pks = [run.pk for run in runs]
    write(lambda: Run.every.filter(pk__in=pks).update(state=RunState.COMPLETE))


def published_as(run: Run) -> Run | None:
    """The run that says the same, where somebody else stored it meanwhile."""
    return _published_as(run.checksum)


def remove(runs: Iterable[Run]) -> None:
    """Staged ones: of a complete run nothing goes piece by piece."""
    for run in runs:
        predictions = Prediction.objects.filter(run=run, run__state=RunState.STAGED).order_by()
        while pks := list(predictions.values_list("pk", flat=True)[:ROWS_AT_ONCE]):
            write(Prediction.objects.filter(pk__in=pks).delete)
        write(Run.every.filter(pk=run.pk, state=RunState.STAGED).delete)


def remove_abandoned(*, at: datetime) -> None:
    remove(Run.every.filter(state=RunState.STAGED, created_at__lt=at - ABANDONED_AFTER))


def _add(run: Run, some: Iterable[tuple[int, tuple[str, ...]]]) -> Added:
    return write(lambda: add_predictions(run, dict(some)))


def _published_as(checksum: str) -> Run | None:
    return Run.objects.complete().filter(checksum=checksum).first()


def _among(together: Collection[int], checksum: str) -> Run | None:
    return Run.every.filter(pk__in=together, checksum=checksum).first()
