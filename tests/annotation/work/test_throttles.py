"""How much may come from one address, and by one link."""

import os
import socket
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from annotation.access import throttles
from annotation.models import Annotator, Batch, Study, resting
from annotation.models.resting import Rest
from annotation.work.crowding import hours_code
from tests import make
from tests.annotation.work.test_entering import agree, came, consented, visit
from tests.people_at_work import page_of
from tests.together import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make.running_batch(via="prolific", wanted=9, contact="ann@example.org")


def allow(settings: Settings, **limits: int) -> None:
    settings.THROTTLES = {**settings.THROTTLES, **limits}


def asks_to_wait(response: Any) -> bool:
    if response.status_code != 429:
        return False
    assert 0 < int(response["Retry-After"]) <= 600
    assert "nothing is lost" in response.content.decode()
    assert "ann@example.org" in response.content.decode()
    return True


@pytest.mark.parametrize("limit", ["joins_per_address", "joins_per_link"])
def test_lets_so_many_open_a_link(batch: Batch, settings: Settings, limit: str) -> None:
    allow(settings, **{limit: 3})
    answers = [visit(batch, PROLIFIC_PID=make.prolific_id(f"p{number}")) for number in range(5)]
    assert [asks_to_wait(answer) for answer in answers] == [False, False, False, True, True]


@pytest.mark.parametrize("limit", ["consents_per_address", "consents_per_link"])
def test_lets_so_many_consent(batch: Batch, settings: Settings, limit: str) -> None:
    allow(settings, **{limit: 3})
    clients = [came(batch, PROLIFIC_PID=make.prolific_id(f"p{number}")) for number in range(5)]
    answers = [agree(client) for client in clients]
    assert [asks_to_wait(answer) for answer in answers] == [False, False, False, True, True]
    assert Annotator.objects.count() == 3


def test_slows_neither_another_address_nor_another_link(batch: Batch, settings: Settings) -> None:
    allow(settings, joins_per_address=1, joins_per_link=2)
    visit(batch, PROLIFIC_PID=make.prolific_id("p1"))
    other = Client(REMOTE_ADDR="203.0.113.9")
    assert visit(batch, other, PROLIFIC_PID=make.prolific_id("p2")).status_code == 200
    another = make.running_batch(via="prolific")
    third = Client(REMOTE_ADDR="203.0.113.10")
    assert visit(another, third, PROLIFIC_PID=make.prolific_id("p2")).status_code == 200


def test_limits_nothing_where_the_limit_is_0(batch: Batch, settings: Settings) -> None:
    allow(settings, joins_per_address=0, joins_per_link=0)
    assert visit(batch, PROLIFIC_PID=make.prolific_id("p1")).status_code == 200


def test_lets_a_laboratory_behind_one_address_in(batch: Batch) -> None:
    for number in range(100):
        assert visit(batch, PROLIFIC_PID=make.prolific_id(f"p{number}")).status_code == 200


def test_counts_a_network_of_ipv6_as_one_address(rf: RequestFactory) -> None:
    one, two, other = (
        throttles.address_of(rf.get("/", REMOTE_ADDR=address))
        for address in ("2001:db8::1", "2001:db8::ffff", "2001:db8:1::1")
    )
    assert one == two != other


def test_keeps_no_address_in_the_cache(settings: Settings, tmp_path: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(tmp_path),
        }
    }
    throttles.count("joins_per_address", "203.0.113.9")
    throttles.count("joins_per_address", "203.0.113.9")
    settings.THROTTLES = {"joins_per_address": 2}
    assert throttles.seconds_to_wait("joins_per_address", "203.0.113.9")
    (file,) = tmp_path.iterdir()
    assert b"203.0" not in file.read_bytes()
    throttles.forget_past_windows()
    assert file.exists()
    os.utime(file, (0, 0))
    throttles.forget_past_windows()
    assert not file.exists()


@pytest.fixture
def silent_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """One that is stopped: it takes connections, and says nothing."""
    monkeypatch.setattr(throttles, "_cache_rests", Rest())
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.setblocking(False)
        settings.CACHES = {
            "default": {
                "BACKEND": "django.core.cache.backends.redis.RedisCache",
                "LOCATION": f"redis://127.0.0.1:{server.getsockname()[1]}/0",
                "OPTIONS": {"socket_timeout": settings.WAITS_S},
            }
        }
        yield server


def test_lets_people_in_while_redis_is_stopped_and_asks_it_once(
    batch: Batch, silent_redis: socket.socket
) -> None:
    for person in ("p1", "p2"):
        assert visit(batch, PROLIFIC_PID=make.prolific_id(person)).status_code == 200
    silent_redis.accept()[0].close()
    with pytest.raises(BlockingIOError):
        silent_redis.accept()


def test_asks_a_redis_again_once_it_has_rested(
    batch: Batch, silent_redis: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resting, "RESTS_S", 0)
    for _ in range(2):
        assert throttles.counted("joins_per_link", "one") == 0
        silent_redis.accept()[0].close()


def test_a_file_that_cannot_be_read_lets_nobody_else_past(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: object) -> None:
        raise FileNotFoundError

    with monkeypatch.context() as files:
        files.setattr(cache, "get", fails, raising=False)
        assert throttles.counted("joins_per_link", "one") == 0
    throttles.count("joins_per_link", "one")
    assert throttles.counted("joins_per_link", "one") == 1


def test_lets_people_in_while_redis_is_away(
    batch: Batch, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttles, "_cache_rests", Rest())
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    assert visit(batch, PROLIFIC_PID=make.prolific_id("p1")).status_code == 200


# How many join in an hour from one address


@pytest.fixture
def crowded() -> Batch:
    """Two joined from here, which is as many as the owner lets in without a code."""
    batch = make.running_batch(wanted=9)
    Study.objects.filter(pk=batch.study_id).update(joins_an_hour=2)
    for _ in range(2):
        consented(batch)
    return batch


def code_of(batch: Batch, *, at: datetime | None = None) -> str:
    return hours_code(batch.study, at=at or timezone.now())


def test_asks_nobody_for_a_code_while_few_have_joined() -> None:
    batch = make.running_batch(wanted=9)
    Study.objects.filter(pk=batch.study_id).update(joins_an_hour=2)
    consented(batch)
    assert 'name="code"' not in visit(batch).content.decode()


def test_asks_for_the_code_of_the_hour_when_many_have_joined(crowded: Batch) -> None:
    client = Client()
    assert 'name="code"' in visit(crowded, client).content.decode()
    page = agree(client)
    assert (page.status_code, Annotator.objects.count()) == (403, 2)
    assert "Many people have joined from your network" in page.content.decode()
    page = agree(client, code="WRONG")
    assert (page.status_code, Annotator.objects.count()) == (422, 2)
    assert 'value="WRONG"' in page.content.decode()
    assert "not the code of this hour" in page.content.decode()
    assert page_of(agree(client, code=code_of(crowded).lower().replace("-", " "))) == "/work/"
    assert Annotator.objects.count() == 3


def test_takes_the_code_of_the_hour_before_and_none_that_is_older(crowded: Batch) -> None:
    now = timezone.now()
    before, older = (code_of(crowded, at=now - timedelta(hours=hours)) for hours in (1, 2))
    client = came(crowded)
    assert agree(client, code=older).status_code == 422
    assert agree(client, code=before).status_code == 302


def test_asks_for_each_study_and_each_address_alone(crowded: Batch) -> None:
    assert agree(came(crowded, Client(REMOTE_ADDR="203.0.113.9"))).status_code == 302
    other = make.running_batch()
    assert agree(came(other)).status_code == 302
    assert agree(came(crowded), code=code_of(other)).status_code == 422


def test_lets_whoever_has_joined_go_on_without_a_code(crowded: Batch) -> None:
    client = came(crowded, Client(REMOTE_ADDR="203.0.113.9"))
    agree(client)
    # The same browser sends its consent again, now at the crowded address.
    again = client.post("/work/consent/", {"agree": "1"}, REMOTE_ADDR="127.0.0.1")
    assert page_of(again) == "/work/"


def test_slows_guesses_of_the_code_down(crowded: Batch, settings: Settings) -> None:
    allow(settings, wrong_codes_per_address=3)
    client = came(crowded)
    answers = [agree(client, code=f"WRONG{number}") for number in range(4)]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 429]
    assert int(answers[-1]["Retry-After"]) > 0
    assert agree(client, code=code_of(crowded)).status_code == 429


@pytest.mark.parametrize(("via", "most"), [("prolific", 20), ("link", 300)])
def test_lets_more_in_by_a_link_of_ones_own_than_from_a_platform(
    via: str, most: int, settings: Settings
) -> None:
    assert (
        settings.THROTTLES["platform_joins_an_hour" if via == "prolific" else "joins_an_hour"]
        == most
    )
    allow(settings, joins_an_hour=2, platform_joins_an_hour=1)
    batch = make.running_batch(via=via, wanted=9)
    answers = [
        agree(came(batch, PROLIFIC_PID=make.prolific_id(number))).status_code for number in range(3)
    ]
    assert answers == ([302, 403, 403] if via == "prolific" else [302, 302, 403])


def test_counts_only_who_took_a_place(settings: Settings) -> None:
    allow(settings, joins_an_hour=2)
    batch = make.running_batch(wanted=1)
    late = [came(batch) for _ in range(3)]
    consented(batch)
    for client in late:
        assert "All places of this study are taken" in agree(client).content.decode()
    assert throttles.counted("joins_an_hour", f"{batch.study_id} 127.0.0.1") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_lets_no_more_in_who_come_at_once(settings: Settings) -> None:
    allow(settings, joins_an_hour=4)
    batch = make.running_batch(wanted=12)
    clients = [came(batch) for _ in range(12)]
    answers = at_once(lambda number: agree(clients[number]).status_code, 12)
    assert sorted(answers) == [302] * 4 + [403] * 8


def test_shows_the_code_to_owners_alone(crowded: Batch) -> None:
    for role, sees in (("viewer", False), ("editor", False), ("owner", True)):
        client = Client()
        client.force_login(make.member(crowded.study, role))
        page = client.get(f"/research/studies/{crowded.study.slug}/watch/").content.decode()
        assert (code_of(crowded) in page) is sees
