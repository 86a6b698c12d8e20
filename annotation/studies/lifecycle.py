"""The life of a study: started (which freezes it), paused, resumed, closed."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.benchmarks.material import not_offered, unanswerable
from annotation.models import (
    Assignment,
    Batch,
    ChangeAction,
    HookEvent,
    JoinAnswer,
    Outcome,
    Place,
    Study,
    StudyState,
    Task,
    clock,
)
from annotation.models.access import record
from annotation.models.errors import Frozen, NotReady, Refusal
from annotation.models.study import FROZEN_FIELDS
from annotation.models.texts import described_beside
from annotation.models.webhook import tell
from annotation.studies.checks import NO_DESCRIPTION, problems_of_checks
from annotation.studies.clusters import problems_of_clusters
from annotation.studies.codes import other_reward, rewards
from annotation.studies.ending import last_pages
from annotation.studies.rules import NO_REASON
from annotation.studies.screening import screening_records, weak_rules
from annotation.work.estimating import timed, unequal_lengths
from annotation.work.finishing import expire_idle
from annotation.work.places import open_places
from scoring.core.s1 import SCORER_VERSION
from scoring.tables.words import counted, with_stop

# What changes the state of a study that has started.
CHANGES: dict[str, dict[str, Any]] = described_beside(__file__)
# So many items are named in a sentence.
MOST_NAMED = 5
STARTED = "The study {} has been started already."
# What the start gives a batch.
STARTED_FIELDS = ("description", "gold_version", "check_description", "check_gold_version")


def what_is_missing(study: Study, *, at: datetime | None = None) -> list[str]:
    """What a study lacks to start, now or then: what a rehearsal needs, a rule that screens, a day
    of its end that is to come, and on a platform what that itself pays and batches for one time."""
    missing = missing_to_rehearse(study)
    if study.is_rehearsal:
        return missing
    if study.ends_on and study.ends_on < (at or clock.now()).date():
        missing.append(f"It was to end on {study.ends_on}, which is over: name a later day.")
    missing.extend(weak_rules(study))
    if study.channel.pays_itself:
        missing.extend(_missing_on_platform(study))
    if problem := other_reward(study, getattr(study, "prolific", None)):
        missing.append(problem)
    return missing


def _missing_on_platform(study: Study) -> Iterator[str]:
    """One time for all, and what the platform pays."""
    if unequal := unequal_lengths(study, timed(study, study.batches.select_related("task"))):
        yield f"{unequal} The page Batches does so at a click."
    unknown = [name for name, amount in rewards(study).items() if amount is None]
    if unknown:
        named = " and ".join(Outcome(name).label for name in unknown)
        yield (
            f"Write on the page Payments what {study.channel} itself pays for each outcome "
            f"({named}; 0 for nothing): else bonuses would pay it a second time."
        )


def missing_to_rehearse(study: Study) -> list[str]:
    missing: list[str] = []
    batches = list(study.batches.select_related("task", "training_set", "check_set__task", "pool"))
    if not batches:
        missing.append("The study has no batches: add some.")
    if not study.consent_text.strip():
        missing.append("The consent text is empty: write one.")
    if study.margin and not study.margin_reason.strip():
        missing.append(NO_REASON)
    for task in {batch.task for batch in batches}:
        if not task.description.strip():
            missing.append(NO_DESCRIPTION.format(task.slug))
    missing.extend(dict.fromkeys(problems_of_checks(batches)))
    missing.extend(_problems_of_pools(study, batches))
    missing.extend(_problems_of_items(study, batches))
    missing.extend(_problems_of_choices(batches))
    missing.extend(problems_of_clusters(study.clusters, (batch.test_set for batch in batches)))
    coded = set(study.outcome_rules.values_list("outcome", flat=True))
    without = [value for value in [*Outcome.values, *JoinAnswer.values] if value not in coded]
    if without:
        missing.append(f"Completion codes are missing for: {', '.join(without)}.")
    return missing


def _problems_of_pools(study: Study, batches: Collection[Batch]) -> Iterator[str]:
    filled = {batch.pool for batch in batches}
    if len(filled) > 1 and None in filled:
        yield "Some batches are of a pool and others of none: give each of them a pool."
    for pool in study.pools.all():
        if pool not in filled:
            yield f"The pool {pool} has no batches: add some, or take it out."


def _problems_of_items(study: Study, batches: Collection[Batch]) -> Iterator[str]:
    for task, (items, best) in _unanswerable(batches).items():
        if best == 0:
            where = "look at its gold in the audit"
            yield f"No test item of {task} can be answered correctly: {where}."
        elif not study.unanswerable_reason.strip():
            many = counted(len(items), "test item")
            named = ", ".join(items[:MOST_NAMED]) + (" …" if len(items) > MOST_NAMED else "")
            yield (
                f"Nobody can get {many} of {task} wholly right ({named}), and no score can be "
                f"above {best:.1f} %. Correct their gold, or write in the settings why they stay."
            )


def _problems_of_choices(batches: Collection[Batch]) -> Iterator[str]:
    """Looks at what people practise and are checked with; of a test set its items tell."""
    for item_set in {one for b in batches for one in (b.training_set, b.check_set) if one}:
        if lost := not_offered(item_set):
            yield (
                f"The set {item_set.name} of {item_set.task} does not offer the right answer of "
                f"{counted(len(lost), 'item')} ({lost[0]}): import the task again."
            )


def _unanswerable(batches: Collection[Batch]) -> dict[Task, tuple[list[str], float]]:
    sets: dict[Task, set[int]] = defaultdict(set)
    for batch in batches:
        sets[batch.task].add(batch.test_set_id)
    lost_by_task = {task: unanswerable(task, of_task) for task, of_task in sets.items()}
    return {task: lost for task, lost in lost_by_task.items() if lost[0]}


def check_can_start(study: Study, *, at: datetime) -> None:
    """Raises NotReady with what is missing, and Frozen where it has been started."""
    if study.is_frozen:
        raise Frozen(STARTED.format(study.slug))
    if missing := what_is_missing(study, at=at):
        raise NotReady(*missing)


def start_study(study: Study, *, at: datetime, by: User | None = None) -> None:
    """Freeze the study and open its places. Raises what `check_can_start` does."""
    check_can_start(study, at=at)
    with transaction.atomic():
        started = Study.objects.filter(pk=study.pk, state=StudyState.DRAFT).update(
            state=StudyState.OPEN, started_at=at
        )
        if not started:
            raise Frozen(STARTED.format(study.slug))
        study.refresh_from_db()
        batches = list(
            study.batches.select_related(
                "task", "training_set__task", "test_set", "check_set__task", "pool"
            )
        )
        for batch in batches:
            batch.description = batch.task.description
            batch.gold_version = batch.task.latest_gold_version()
            if batch.check_set:
                batch.check_description = batch.check_set.task.description
                batch.check_gold_version = batch.check_set.task.latest_gold_version()
            batch.save(update_fields=STARTED_FIELDS)
            open_places(batch)
        study.frozen = _record(study, batches)
        study.save(update_fields=["frozen"])
        _log(study, ChangeAction.STARTED, StudyState.DRAFT, by)


def pause_study(study: Study, *, by: User | None = None) -> None:
    _change_state(study, StudyState.OPEN, StudyState.PAUSED, ChangeAction.PAUSED, by)


def resume_study(study: Study, *, by: User | None = None) -> None:
    _change_state(study, StudyState.PAUSED, StudyState.OPEN, ChangeAction.RESUMED, by)


def close_study(study: Study, *, at: datetime, by: User | None = None) -> None:
    """No more joins. Unfinished work ends as expired, with the page that is before somebody: it may
    be sent for an item's cap, and then `expire_idle` ends it. What was done is paid."""
    with transaction.atomic():
        closed = (
            Study.objects.filter(pk=study.pk)
            .exclude(state__in=[StudyState.DRAFT, StudyState.CLOSED])
            .update(state=StudyState.CLOSED, closed_at=at)
        )
        if not closed:
            raise Frozen("Only a study that has started, and is not closed yet, can be closed.")
        before, study.state = study.state, StudyState.CLOSED
        _log(study, ChangeAction.CLOSED, before, by)
        tell(study, HookEvent.CLOSED, at=at)
    study.refresh_from_db()
    expire_idle(at=at)


def what_was_done(name: str, study: Study) -> str:
    """What is said after a change of state, by its name in lifecycle.toml."""
    return " ".join(filter(None, [CHANGES[name]["done"], with_stop(last_pages(study))]))


def close_full_studies(*, at: datetime) -> None:
    """Those that are to close by themselves, every place of which was kept to the end, with nobody
    at work any more."""
    places = Place.objects.filter(batch__study=OuterRef("pk"), simulated=False)
    at_work = Assignment.objects.open().filter(study=OuterRef("pk"))
    full = Study.objects.filter(Exists(places), state=StudyState.OPEN, close_when_full=True)
    for study in full.exclude(Exists(places.filter(kept=False))).exclude(Exists(at_work)):
        close_study(study, at=at)


def want_more(batch: Batch, wanted: int, *, by: User | None = None) -> None:
    """More places in a batch, also while the study runs; never fewer."""
    if not batch.study.is_frozen:
        raise Refusal("This study is a draft: say in its batches how many people they want.")
    if wanted < batch.wanted:
        raise Frozen("A batch that has started can be given more places, not fewer.")
    with transaction.atomic():
        before, batch.wanted = batch.wanted, wanted
        batch.save(update_fields=["wanted"])
        open_places(batch)
        if wanted > before:
            name = str(batch)
            record(by, batch.study, ChangeAction.PLACES, {name: before}, {name: wanted})


@transaction.atomic
def _change_state(
    study: Study, before: str, after: str, action: ChangeAction, by: User | None
) -> None:
    changed = Study.objects.filter(pk=study.pk, state=before).update(state=after)
    study.refresh_from_db()
    if not changed:
        raise Frozen(
            f"The study {study.slug} is {study.get_state_display()}, not "
            f"{StudyState(before).label}."
        )
    _log(study, action, before, by)


def _log(study: Study, action: ChangeAction, before: str, by: User | None) -> None:
    record(by, study, action, {"state": before}, {"state": study.state})


def _record(study: Study, batches: list[Batch]) -> dict[str, Any]:
    screenings = screening_records(study, batches)
    return {
        "scorer_version": SCORER_VERSION,
        "rules": {
            field: str(value) if isinstance(value, Decimal | date) else value
            for field in FROZEN_FIELDS
            for value in [getattr(study, field)]
        },
        "pools": list(study.pools.values("slug", "name", "about", "min_check_score")),
        "unanswerable": {task.slug: lost for task, (lost, _) in _unanswerable(batches).items()},
        "outcomes": list(
            study.outcome_rules.order_by("outcome").values("outcome", "code", "pays_time")
        ),
        "batches": [
            {
                "batch": batch.pk,
                "task": batch.task.slug,
                "label": batch.label,
                "pool": batch.pool.slug if batch.pool else None,
                "wanted": batch.wanted,
                "training_checksum": batch.training_set.checksum if batch.training_set else None,
                "test_checksum": batch.test_set.checksum,
                "check_checksum": batch.check_set.checksum if batch.check_set else None,
                "description_checksum": sha256(batch.description.encode()).hexdigest(),
                "gold_version": batch.gold_version.number if batch.gold_version else None,
                "screenings": screenings[batch.pk],
            }
            for batch in batches
        ],
    }


@transaction.atomic
def archive_study(study: Study, *, at: datetime, by: User | None = None) -> None:
    closed = Study.objects.filter(pk=study.pk, state=StudyState.CLOSED, archived_at=None)
    if not closed.update(archived_at=at):
        raise Refusal("Only a closed study that is not in the archive yet can be archived.")
    record(by, study, ChangeAction.ARCHIVED, {"archived": False}, {"archived": True})
    study.refresh_from_db()


@transaction.atomic
def take_out(study: Study, *, by: User | None = None) -> None:
    archived = Study.objects.filter(pk=study.pk, archived_at__isnull=False)
    if not archived.update(archived_at=None):
        raise Refusal("This study is not in the archive.")
    record(by, study, ChangeAction.TAKEN_OUT, {"archived": True}, {"archived": False})
    study.refresh_from_db()


# What changes the state, by the names in lifecycle.toml.
ACTS: dict[str, Callable[[Study, datetime, User | None], None]] = {
    "start": lambda study, at, by: start_study(study, at=at, by=by),
    "pause": lambda study, _at, by: pause_study(study, by=by),
    "resume": lambda study, _at, by: resume_study(study, by=by),
    "close": lambda study, at, by: close_study(study, at=at, by=by),
    "archive": lambda study, at, by: archive_study(study, at=at, by=by),
    "take-out": lambda study, _at, by: take_out(study, by=by),
}
