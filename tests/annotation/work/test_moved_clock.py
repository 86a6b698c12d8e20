"""The clock is put forward or back by an hour while people work, or the cache is away: nobody loses
an answer, a place or pay."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.access.inviting import new_link
from annotation.models import Assignment, Batch, Outcome, Place
from annotation.work.judging import begin
from tests import make
from tests.annotation.work.test_entering import WORK, agree, came, consented
from tests.people_at_work import page_of

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
PUT = pytest.mark.parametrize("by", [HOUR, -HOUR], ids=["forward", "back"])


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    now = timezone.now

    def clock(by: timedelta) -> None:
        monkeypatch.setattr(timezone, "now", lambda: now() + by)

    return clock


def to_the_end(assignment: Assignment, at: Callable[[int], datetime]) -> Assignment:
    """Every answer at a moment of its own."""
    begin(assignment, at=at(0))
    step = 0
    while not assignment.outcome:
        step += 1
        make.answer(assignment, at=at(step))
    return assignment


@PUT
def test_keeps_every_answer_and_pays_no_less_than_nothing(by: timedelta) -> None:
    batch = make.running_batch(wanted=1)
    assignment = make.joined(batch, at=make.NOON)

    def at(step: int) -> datetime:
        seconds = timedelta(seconds=5 * step)
        return make.NOON + seconds + (by if step >= 2 else timedelta(0))

    to_the_end(assignment, at)
    assert assignment.outcome == Outcome.COMPLETED
    assert assignment.judgements.count() == 7
    assert Place.objects.get(batch=batch).kept
    rules = batch.study
    # Beside what was worked, at most one example to its cap.
    assert 0 < assignment.paid_ms <= 1000 * (60 + rules.item_cap_s + rules.reading_cap_s)


@PUT
def test_lets_a_browser_go_on(put: Callable[[timedelta], None], by: timedelta) -> None:
    batch = make.running_batch(wanted=1)
    client = consented(batch)
    put(by)
    assert client.get(WORK).status_code == 200
    assert client.post("/work/begin/").status_code == 302
    assert Place.objects.get(batch=batch).holder is not None


@PUT
def test_believes_a_door_that_was_opened_before(
    put: Callable[[timedelta], None], by: timedelta
) -> None:
    client = came(make.running_batch())
    put(by)
    assert page_of(agree(client)) == WORK


@PUT
def test_keeps_researchers_signed_in(put: Callable[[timedelta], None], by: timedelta) -> None:
    study = make.running_batch().study
    client = Client()
    client.force_login(make.member(study))
    put(by)
    assert client.get(f"/research/studies/{study.slug}/watch/").status_code == 200


# The cache is away


@pytest.fixture
def _no_redis(settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }


@pytest.mark.usefixtures("_no_redis")
def test_lets_people_join_and_researchers_in_without_a_cache() -> None:
    batch: Batch = make.running_batch(via="prolific", wanted=2)
    for number in range(2):
        consented(batch, PROLIFIC_PID=make.prolific_id(number))
    owner = make.member(batch.study)
    owner.set_password("right")
    owner.save()
    form: dict[str, Any] = {"username": owner.username, "password": "wrong"}
    client = Client()
    assert client.post("/admin/login/", form).status_code == 200
    assert client.post("/admin/login/", {**form, "password": "right"}).status_code == 302
    assert client.get(f"/research/studies/{batch.study.slug}/watch/").status_code == 200
    token = new_link(batch.study, "viewer", by=owner, at=timezone.now())
    friend = Client()
    friend.force_login(User.objects.create_user("friend"))
    assert friend.post(f"/colleagues/{token}/").status_code == 302
    assert friend.get("/colleagues/unknown/").status_code == 404
