"""What Prometheus is told."""

import re
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from annotation.models import Job, JoinCount
from config import health
from tests import make

BEARER = {"Authorization": "Bearer tell-me"}


@pytest.fixture
def token(settings: Settings) -> None:
    settings.METRICS_TOKEN = "tell-me"


def told(client: Client) -> dict[tuple[str, ...], float]:
    """Every sample: its name and its labels' values, with its value."""
    text = client.get("/metrics", headers=BEARER).content.decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.django_db
@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer tell", "tell-me", "Bearer tell-mé"])
def test_is_not_there_without_its_token(client: Client, token: None, given: str) -> None:
    assert client.get("/metrics", HTTP_AUTHORIZATION=given).status_code == 404


@pytest.mark.django_db
def test_is_not_there_where_no_token_is_set(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer ").status_code == 404


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.usefixtures("token")
class TestStored:
    def test_counts_answers_joins_and_places(self, client: Client) -> None:
        batch = make.running_batch(training=0, zero_shot=True, tests=2, wanted=3)
        make.worked_through(batch)
        make.answer(make.at_work(batch))
        slug = batch.study.slug
        found = told(client)
        assert found["baseliner_answers_total",] == 3
        assert found["baseliner_joins_total", "completed"] == 1
        assert found["baseliner_joins_total", "at work"] == 1
        assert found["baseliner_places", "finished", slug] == 1
        # The clock of the tests stands in the past, so the other's lease has lapsed.
        assert found["baseliner_places", "free", slug] == 2

    def test_counts_who_was_turned_away(self, client: Client) -> None:
        study = make.running_batch().study
        for hour, number in ((8, 3), (9, 4)):
            JoinCount.objects.create(
                study=study, hour=make.NOON.replace(hour=hour), answer="full", count=number
            )
        assert told(client)["baseliner_turned_away_total", "full"] == 7

    def test_tells_how_long_work_waits(self, client: Client) -> None:
        assert told(client)["baseliner_oldest_waiting_job_seconds",] == 0
        Job.objects.create(kind="import")
        found = told(client)
        assert found["baseliner_jobs", "queued"] == 1
        assert found["baseliner_oldest_waiting_job_seconds",] > 0


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
def test_times_requests_by_the_name_of_their_address(client: Client) -> None:
    batch = make.running_batch()
    client.get(f"/join/batch/{batch.join_token}/")
    client.get("/no/such/page/")
    text = client.get("/metrics", headers=BEARER).content.decode()
    assert batch.join_token not in text
    counted = re.findall(r"baseliner_request_seconds_count\{(.*?)\}", text)
    assert any('address="annotation:join' in labels for labels in counted)
    assert any('address="(none)"' in labels and 'status="404"' in labels for labels in counted)


def test_has_a_board_that_asks_for_what_there_is() -> None:
    """Every metric that the board names is one of ours."""
    names = set(re.findall(r"baseliner_\w+", Path("docs/grafana.json").read_text()))
    source = Path(health.__file__).read_text()
    ours = set(re.findall(r"\"(baseliner_\w+)\"", source))
    bases = {re.sub(r"_(total|bucket|count|sum)$", "", name) for name in names}
    assert names
    assert bases <= ours
