"""The upgrade from a time when a link took a place before anybody had consented."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

from annotation.models import Annotator, Assignment, Batch, JoinAnswer, Place, Study
from annotation.models.locks import create_locks, drop_locks
from annotation.models.triggers import create_triggers
from annotation.work.joining import Visit, join, join_answers, person
from tests import make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

BEFORE = [("annotation", "0009_fingerprint_of_the_identity_key")]


@pytest.fixture
def batch() -> Batch:
    """Made, and read with all that belongs to it, before the tables are taken back."""
    made = make.running_batch(via="prolific", wanted=6)
    return Batch.objects.select_related("study__channel", "task").get(pk=made.pk)


@contextmanager
def upgrade() -> Iterator[StateApps]:
    """Within it, the models and tables of then; after it, the tables as an upgrade leaves them."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    drop_locks(connection)
    try:
        yield executor.migrate(BEFORE).apps
    finally:
        MigrationExecutor(connection).migrate(latest)
        create_triggers(connection)
        create_locks(connection)


def came(apps: StateApps, batch: Batch, external_id: str, place: int, **fields: Any) -> Any:
    """Somebody's assignment of then, with a place."""
    who, _made = apps.get_model("annotation", "Annotator").objects.get_or_create(
        channel_id=batch.study.channel_id,
        external_id=external_id,
        defaults={
            "identity_hash": person(batch.study.channel, external_id).identity_hash,
            "pseudonym": f"NAME{place}",
        },
    )
    assignment = apps.get_model("annotation", "Assignment").objects.create(
        annotator=who,
        study_id=batch.study_id,
        batch_id=batch.pk,
        exposure_key=fields.pop("exposure_key", batch.task.exposure_key),
        submission_id=f"submission of {external_id}",
        resume_token=f"token-{place}",
        order_seed="0",
        joined_at=make.NOON,
        seen_at=make.NOON,
        **fields,
    )
    places = apps.get_model("annotation", "Place").objects
    places.filter(batch_id=batch.pk, number=place).update(
        holder=assignment, lease_until=make.NOON.replace(year=2100)
    )
    return assignment


def test_ends_what_waited_and_keeps_what_was_begun(batch: Batch) -> None:
    """In one upgrade, for taking the tables back takes long."""
    with upgrade() as then:
        waits = came(then, batch, "waits", 1, state="consent")
        works = came(then, batch, "works", 2, state="answering", consented_at=make.NOON)
        came(then, batch, "expired", 3, state="finished", outcome="expired")
        done = {"state": "finished", "outcome": "completed", "consented_at": make.NOON}
        came(then, batch, "both", 4, **done)
        came(then, batch, "both", 5, state="consent", exposure_key="another")
        then.get_model("annotation", "Annotator").objects.create(
            channel_id=batch.study.channel_id, external_id="late", identity_hash="1",
            pseudonym="LATE",
        )  # fmt: skip
    has_ended(Assignment.objects.get(pk=waits.pk))
    has_gone_on(Assignment.objects.get(pk=works.pk))
    free = Place.objects.filter(holder__isnull=True).values_list("number", flat=True)
    assert set(free) == {1, 5, 6}
    assert join_answers(batch.study)[JoinAnswer.DECLINED] == 2
    knows_whoever_has_something_else()
    assert not Annotator.objects.filter(pseudonym="LATE").exists()
    for name in ("waits", "expired"):
        comes_in_as_somebody_new(batch.study, name)


def has_ended(assignment: Assignment) -> None:
    """Its place is free, and the person is forgotten."""
    ended = (assignment.state, assignment.outcome, assignment.amount)
    assert ended == ("finished", "declined", 0)
    who = assignment.annotator
    assert (assignment.submission_id, who.external_id) == ("", "")
    assert who.identity_hash != person(assignment.study.channel, "waits").identity_hash


def has_gone_on(assignment: Assignment) -> None:
    assert (assignment.state, assignment.annotator.external_id) == ("answering", "works")
    assert assignment.submission_id == "submission of works"


def knows_whoever_has_something_else() -> None:
    both = Annotator.objects.get(external_id="both")
    assert set(both.assignments.values_list("outcome", flat=True)) == {"completed", "declined"}


def comes_in_as_somebody_new(study: Study, name: str) -> None:
    who = person(study.channel, name)
    assert who.pk is None
    assert join(Visit(study=study, annotator=who), at=make.NOON).consented_at
