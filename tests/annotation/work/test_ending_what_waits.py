"""The upgrade from a time when a link took a place before anybody had consented."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

from annotation.models import Annotator, Assignment, Batch, JoinAnswer, Place
from annotation.models.locks import create_locks, drop_locks
from annotation.models.triggers import create_triggers
from annotation.work.joining import Visit, join, join_answers, person
from tests import make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

BEFORE = [("annotation", "0009_fingerprint_of_the_identity_key")]


@pytest.fixture
def before() -> Iterator[StateApps]:
    """The models of then; afterwards the tables are those of now again."""
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    drop_locks(connection)
    yield executor.migrate(BEFORE).apps
    MigrationExecutor(connection).migrate(latest)
    create_triggers(connection)
    create_locks(connection)


@pytest.fixture
def batch() -> Batch:
    """Made, and read with all that belongs to it, before the tables are taken back."""
    made = make.running_batch(via="prolific", wanted=4)
    return Batch.objects.select_related("study__channel", "task").get(pk=made.pk)


def upgrade() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


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


def test_ends_it_and_frees_the_place_and_forgets_the_person(
    batch: Batch, before: StateApps
) -> None:
    waits = came(before, batch, "waits", 1, state="consent")
    works = came(before, batch, "works", 2, state="answering", consented_at=make.NOON)
    upgrade()
    ended = Assignment.objects.get(pk=waits.pk)
    assert (ended.state, ended.outcome, ended.amount) == ("finished", "declined", 0)
    assert (ended.submission_id, ended.annotator.external_id) == ("", "")
    assert ended.annotator.identity_hash != person(batch.study.channel, "waits").identity_hash
    assert Place.objects.get(holder__isnull=False).holder_id == works.pk
    kept = Assignment.objects.get(pk=works.pk)
    assert (kept.state, kept.annotator.external_id) == ("answering", "works")
    assert kept.submission_id == "submission of works"
    assert join_answers(batch.study)[JoinAnswer.DECLINED] == 1


def test_keeps_the_id_of_whoever_has_something_else(batch: Batch, before: StateApps) -> None:
    done = {"state": "finished", "outcome": "completed", "consented_at": make.NOON}
    came(before, batch, "both", 1, **done)
    came(before, batch, "both", 2, state="consent", exposure_key="another")
    upgrade()
    assert Annotator.objects.get().external_id == "both"
    assert set(Assignment.objects.values_list("outcome", flat=True)) == {"completed", "declined"}


def test_removes_whoever_only_came_and_found_no_place(batch: Batch, before: StateApps) -> None:
    before.get_model("annotation", "Annotator").objects.create(
        channel_id=batch.study.channel_id, external_id="late", identity_hash="1", pseudonym="LATE"
    )
    upgrade()
    assert not Annotator.objects.exists()


def test_lets_them_in_again_as_somebody_new(batch: Batch, before: StateApps) -> None:
    came(before, batch, "waits", 1, state="consent")
    came(before, batch, "expired", 2, state="finished", outcome="expired")
    upgrade()
    for name in ("waits", "expired"):
        who = person(batch.study.channel, name)
        assert who.pk is None
        assert join(Visit(study=batch.study, annotator=who), at=make.NOON).consented_at
