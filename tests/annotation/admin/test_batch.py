import re
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Study, Task
from tests import make

pytestmark = pytest.mark.django_db

ADD = "admin:annotation_batch_add"


@pytest.fixture
def task() -> Task:
    return make.task()


@pytest.fixture
def study(task: Task) -> Study:
    return make.study(task.benchmark)


def address(batch: Batch, page: str = "change") -> str:
    return reverse(f"admin:annotation_batch_{page}", args=[batch.pk])


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "\u0661"])
def test_offers_the_form_beside_a_number_of_no_study(admin_client: Client, number: str) -> None:
    assert admin_client.get(reverse(ADD), {"study": number}).status_code == 200


def form_of(study: Study, task: Task, **changes: object) -> dict[str, object]:
    data = {
        "study": study.pk,
        "task": task.pk,
        "training_set": task.item_sets.get(role="training").pk,
        "test_set": task.item_sets.get(role="test").pk,
        "wanted": 3,
    }
    return data | changes


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_adds_a_batch_by_hand(admin_client: Client, study: Study, task: Task) -> None:
    response = admin_client.post(reverse(ADD), form_of(study, task))
    assert response["Location"] == reverse("annotation:settings", args=[study.slug])
    assert study.batches.get().task == task


def test_refuses_what_does_not_belong_together(
    admin_client: Client, study: Study, task: Task
) -> None:
    other = make.task(task.benchmark)
    stranger = make.task()
    training, test = task.item_sets.get(role="training"), task.item_sets.get(role="test")
    for changes, sentence in [
        ({"training_set": other.item_sets.get(role="training").pk}, "belongs to another task"),
        ({"test_set": other.item_sets.get(role="test").pk}, "belongs to another task"),
        ({"training_set": test.pk}, "not a training set"),
        ({"test_set": training.pk}, "not a test set"),
        ({"task": stranger.pk}, "another benchmark than the study"),
        ({"wanted": 0}, "at least one annotator"),
    ]:
        page = admin_client.post(reverse(ADD), form_of(study, task) | changes).content.decode()
        assert sentence in page
    assert not study.batches.exists()


def test_changes_a_batch_of_a_draft(admin_client: Client, study: Study, task: Task) -> None:
    batch = make.batch(study, task)
    admin_client.post(address(batch), form_of(study, task, wanted=7))
    batch.refresh_from_db()
    assert batch.wanted == 7


def test_deletes_a_batch_of_a_draft(admin_client: Client, study: Study, task: Task) -> None:
    batch = make.batch(study, task)
    admin_client.post(address(batch, "delete"), {"post": "yes"})
    assert not study.batches.exists()


@pytest.mark.parametrize("page", ["change", "delete"])
def test_keeps_a_batch_that_has_started(admin_client: Client, page: str) -> None:
    batch = make.running_batch()
    data = {**form_of(batch.study, batch.task, wanted=9), "post": "yes"}
    assert admin_client.post(address(batch, page), data).status_code == 403
    batch.refresh_from_db()
    assert batch.wanted == 3


def test_offers_no_started_study_to_a_new_batch(admin_client: Client) -> None:
    batch = make.running_batch()
    task = make.task(batch.study.benchmark)
    page = admin_client.post(reverse(ADD), form_of(batch.study, task))
    assert page.status_code == 200
    assert batch.study.batches.count() == 1


def test_gives_a_running_batch_more_places(admin_client: Client) -> None:
    batch = make.running_batch(wanted=1)
    admin_client.post(address(batch, "more-places"), {"wanted": 3})
    batch.refresh_from_db()
    assert (batch.wanted, batch.places.count()) == (3, 3)


def test_takes_no_places_away(admin_client: Client) -> None:
    batch = make.running_batch(wanted=3)
    page = admin_client.post(address(batch, "more-places"), {"wanted": 2}).content.decode()
    assert "more places, not fewer" in page
    batch.refresh_from_db()
    assert batch.wanted == 3


def tasks_offered(page: str) -> set[str]:
    chooser = page[page.index('id="id_task"') :]
    return set(re.findall(r'<option value="(\d+)"', chooser[: chooser.index("</select>")]))


def test_offers_the_tasks_of_the_study_s_benchmark_alone(
    admin_client: Client, study: Study, task: Task
) -> None:
    stranger = make.task()
    page = admin_client.get(reverse(ADD), {"study": study.pk}).content.decode()
    assert tasks_offered(page) == {str(task.pk)}
    batch = make.batch(study, task)
    assert tasks_offered(admin_client.get(address(batch)).content.decode()) == {str(task.pk)}
    everything = admin_client.get(reverse(ADD)).content.decode()
    assert str(stranger.pk) in tasks_offered(everything)
