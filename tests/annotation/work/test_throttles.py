"""How much may come from one address, and by one link."""

import os
from typing import Any

import pytest
from django.test import Client, RequestFactory
from pytest_django import Settings

from annotation.access import throttles
from annotation.models import Annotator, Batch
from tests import make
from tests.annotation.work.test_entering import agree, came, visit

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
    answers = [visit(batch, PROLIFIC_PID=f"p{number}") for number in range(5)]
    assert [asks_to_wait(answer) for answer in answers] == [False, False, False, True, True]


@pytest.mark.parametrize("limit", ["consents_per_address", "consents_per_link"])
def test_lets_so_many_consent(batch: Batch, settings: Settings, limit: str) -> None:
    allow(settings, **{limit: 3})
    clients = [came(batch, PROLIFIC_PID=f"p{number}") for number in range(5)]
    answers = [agree(client) for client in clients]
    assert [asks_to_wait(answer) for answer in answers] == [False, False, False, True, True]
    assert Annotator.objects.count() == 3


def test_slows_neither_another_address_nor_another_link(batch: Batch, settings: Settings) -> None:
    allow(settings, joins_per_address=1, joins_per_link=2)
    visit(batch, PROLIFIC_PID="p1")
    other = Client(REMOTE_ADDR="203.0.113.9")
    assert visit(batch, other, PROLIFIC_PID="p2").status_code == 200
    another = make.running_batch(via="prolific")
    third = Client(REMOTE_ADDR="203.0.113.10")
    assert visit(another, third, PROLIFIC_PID="p2").status_code == 200


def test_limits_nothing_where_the_limit_is_0(batch: Batch, settings: Settings) -> None:
    allow(settings, joins_per_address=0, joins_per_link=0)
    assert visit(batch, PROLIFIC_PID="p1").status_code == 200


def test_lets_a_laboratory_behind_one_address_in(batch: Batch) -> None:
    for number in range(100):
        assert visit(batch, PROLIFIC_PID=f"p{number}").status_code == 200


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


def test_lets_people_in_while_redis_is_away(batch: Batch, settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    assert visit(batch, PROLIFIC_PID="p1").status_code == 200
