"""What a study claims is frozen once, in versions, and with the runs that it rests on."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.test import Client
from rest_framework.authtoken.models import Token

from annotation.models import Study
from annotation.models.errors import NotReady
from annotation.simulation.rehearsing import discard_rehearsal
from annotation.studies.drafting import copy_study
from annotation.studies.lifecycle import close_study, start_study
from annotation.work.finishing import expire_idle
from scoring.claims.freezing import freeze
from scoring.models import FrozenClaims, FrozenRun, Run
from scoring.models.claims import Reason, latest
from tests import make
from tests.scoring.comparison import measured
from tests.together import at_once

pytestmark = pytest.mark.django_db

CLOSING = make.NOON + timedelta(hours=1)


@pytest.fixture
def study() -> Study:
    """A closed one, with a run."""
    study = make.running_batch(margin=2).study
    measured.run(study.batches.get().task, at=make.NOON)
    close_study(study, at=CLOSING)
    return study


def frozen(study: Study, reason: Reason = Reason.CLOSING, **given: Any) -> FrozenClaims:
    about = {"fingerprint": "a", "claims": {"verdict": "ahead"}, "runs": Run.objects.all(), **given}
    return freeze(study, reason=reason, **about)


def test_waits_for_the_last_page_that_may_be_sent() -> None:
    batch = make.running_batch()
    make.at_work(batch, at=CLOSING)
    assert not batch.study.is_settled
    close_study(batch.study, at=CLOSING)
    assert not batch.study.is_settled
    with pytest.raises(NotReady, match="nobody is at work"):
        frozen(batch.study)
    expire_idle(at=CLOSING + timedelta(hours=1))
    assert batch.study.is_settled
    assert frozen(batch.study).version == 1


@pytest.mark.both_databases
def test_keeps_the_family_the_margin_and_the_runs(study: Study) -> None:
    claims = frozen(study)
    assert claims == latest(study)
    assert (claims.version, claims.margin, claims.reason) == (1, 2, "closing")
    assert [tuple(system) for system in claims.systems] == [("BERT-Base", "FT", "")]
    assert list(claims.runs.all()) == [Run.objects.get()]


def test_makes_a_version_of_what_is_new_alone(study: Study) -> None:
    first = frozen(study)
    assert frozen(study, fingerprint="b") == first
    assert frozen(study, Reason.GOLD) == first
    second = frozen(study, Reason.GOLD, fingerprint="b", claims={})
    assert (second.version, second.reason) == (2, "gold correction")
    assert latest(study) == second
    first.refresh_from_db()
    assert first.claims == {"verdict": "ahead"}


@pytest.mark.both_databases
def test_begins_with_the_closing(study: Study) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        frozen(study, Reason.GOLD)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_is_frozen_once_by_readers_who_come_at_once() -> None:
    study = make.running_batch().study
    run = measured.run(study.batches.get().task, at=make.NOON)
    close_study(study, at=CLOSING)
    for reason, version in ((Reason.CLOSING, 1), (Reason.GOLD, 2)):
        about = {"fingerprint": str(version), "runs": [run]}
        found = at_once(lambda _: frozen(study, reason, **about), 4)  # noqa: B023
        assert {claims.version for claims in found} == {version}
    assert FrozenClaims.objects.count() == FrozenRun.objects.count() == 2


CHANGES = [
    "UPDATE scoring_frozenclaims SET margin = 5",
    "UPDATE scoring_frozenrun SET run_id = run_id",
    "DELETE FROM scoring_frozenrun",
    "DELETE FROM scoring_frozenclaims",
    "DELETE FROM scoring_run",
]
if connection.vendor == "postgresql":
    CHANGES.append("TRUNCATE scoring_frozenclaims CASCADE")


@pytest.mark.both_databases
@pytest.mark.parametrize("statement", CHANGES)
def test_the_database_keeps_what_was_frozen(study: Study, statement: str) -> None:
    frozen(study)
    # PostgreSQL empties no table whose references it has yet to check.
    connection.check_constraints()
    with (
        pytest.raises(IntegrityError, match="was frozen"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


@pytest.mark.both_databases
@pytest.mark.parametrize("table", ["scoring_frozenclaims", "scoring_frozenrun"])
def test_nothing_takes_the_place_of_what_was_frozen(study: Study, table: str) -> None:
    frozen(study)
    replaces = "INSERT OR REPLACE" if connection.vendor == "sqlite" else "INSERT"
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{replaces} INTO {table} SELECT * FROM {table}")


@pytest.mark.both_databases
def test_is_thrown_away_with_its_rehearsal(study: Study) -> None:
    rehearsal = copy_study(study, slug="rehearsal", for_rehearsal=True)
    start_study(rehearsal, at=make.NOON)
    close_study(rehearsal, at=CLOSING)
    frozen(rehearsal)
    with pytest.raises(ProtectedError):
        Run.objects.get().delete()
    discard_rehearsal(rehearsal)
    assert not FrozenClaims.objects.exists()
    assert Run.objects.get().delete()


def messages_of(response: Any) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


def test_a_run_that_claims_rest_on_is_not_deleted_in_the_admin(
    admin_client: Client, study: Study
) -> None:
    frozen(study)
    run = Run.objects.get()
    sentence = f"Run {run.pk} is kept, since what “{study}” claims rests on it."
    page, listed = f"/admin/scoring/run/{run.pk}/delete/", "/admin/scoring/run/"
    chosen = {"action": "delete_selected", "_selected_action": [run.pk], "post": "yes"}
    for refused in (
        admin_client.get(page),
        admin_client.post(page, {"post": "yes"}),
        admin_client.post(listed, chosen),
    ):
        assert refused.status_code == 302
        assert sentence in messages_of(refused)
    assert Run.objects.exists()


def test_a_run_that_claims_rest_on_is_not_deleted_by_the_api(client: Client, study: Study) -> None:
    frozen(study)
    token = Token.objects.create(user=make.member(study.benchmark))
    refused = client.delete(
        f"/api/runs/{Run.objects.get().pk}/", headers={"authorization": f"Token {token.key}"}
    )
    assert (refused.status_code, "a complete run is final" in refused.json()["detail"]) == (
        409,
        True,
    )


def test_a_run_that_claims_rest_on_is_not_replaced(study: Study) -> None:
    assert Run.objects.replaceable().exists()
    frozen(study)
    assert not Run.objects.replaceable().exists()
