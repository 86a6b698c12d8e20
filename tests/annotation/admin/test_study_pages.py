from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Study, Task
from annotation.studies.lifecycle import pause_study, start_study
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> Task:
    """Two chains of one and two shots, and two episodes."""
    task = make.task(training=0, title="Reviews")
    for split in (1, 2):
        nested = [make.example(task, f"{split}-{n}", role="training") for n in range(2)]
        for shots in (1, 2):
            name = f"train-{shots}-{split}"
            make.item_set(task, nested[:shots], name=name, shots=shots, split=split)
    return task


@pytest.fixture
def study(task: Task) -> Study:
    return make.study(task.benchmark)


def add_episode(task: Task, number: int, *, few_shot: bool) -> None:
    training = make.example(task, f"episode {number} training", role="training")
    test = make.example(task, f"episode {number} test")
    if few_shot:
        make.item_set(task, [training], name=f"episode-{number}-train", episode=number)
    make.item_set(task, [test], name=f"episode-{number}-test", role="test", episode=number)


def address(study: Study, page: str) -> str:
    return reverse(f"admin:annotation_study_{page}", args=[study.pk])


def messages_of(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def choice(task: Task, **changes: Any) -> dict[str, Any]:
    data = {"tasks": [task.slug], "shots": ["1", "2"], "chains": ["1", "2"], "wanted": 3}
    return data | {"seconds": 20} | changes


# Batches


def test_adds_the_batches_that_were_ticked(admin_client: Client, study: Study, task: Task) -> None:
    data = choice(task, shots=["0", "2"], chains=["2"], add="1")
    response = admin_client.post(address(study, "batches"), data)
    assert response["Location"] == address(study, "change")
    assert messages_of(response) == "2 batches were added."
    assert {(batch.shots, batch.split, batch.wanted) for batch in study.batches.all()} == {
        (0, None, 3),
        (2, 2, 3),
    }


def test_previews_without_adding(admin_client: Client, study: Study, task: Task) -> None:
    page = admin_client.post(address(study, "batches"), choice(task)).content.decode()
    assert "Reviews · 2 shots, split 2" in page
    assert "12" in page  # places: four batches of three
    assert not study.batches.exists()


def test_gives_htmx_the_preview_alone(admin_client: Client, study: Study, task: Task) -> None:
    headers = {"HX-Request": "true"}
    response = admin_client.post(address(study, "batches"), choice(task), headers=headers)
    text = response.content.decode().strip()
    assert text.startswith("<section")
    assert "<html" not in text


def test_says_in_the_preview_what_is_there_already(
    admin_client: Client, study: Study, task: Task
) -> None:
    admin_client.post(address(study, "batches"), choice(task, chains=["1"], add="1"))
    page = admin_client.post(address(study, "batches"), choice(task)).content.decode()
    assert "2 batches of this choice exist already." in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tasks": []}, "Choose at least one task."),
        ({"shots": []}, "No item set fits this choice"),
        ({"wanted": 0}, "greater than or equal to 1"),
    ],
)
def test_refuses_a_choice_with_a_sentence(
    admin_client: Client, study: Study, task: Task, changes: dict[str, Any], sentence: str
) -> None:
    data = choice(task, add="1", **changes)
    assert sentence in admin_client.post(address(study, "batches"), data).content.decode()
    assert not study.batches.exists()


def test_adds_episodes_by_their_numbers(admin_client: Client, study: Study, task: Task) -> None:
    for number in (1, 2, 3, 7):
        add_episode(task, number, few_shot=number != 3)
    data = choice(task, shots=[], episodes=["few", "zero"], episode_numbers="1-3", add="1")
    admin_client.post(address(study, "batches"), data)
    assert [batch.label for batch in study.batches.order_by("id")] == [
        "episode 1",
        "episode 2",
        "episode 3",
    ]


@pytest.mark.parametrize("numbers", ["one", "1-", "-3", "1..3"])
def test_refuses_numbers_of_episodes_it_cannot_read(
    admin_client: Client, study: Study, task: Task, numbers: str
) -> None:
    add_episode(task, 1, few_shot=True)
    data = choice(task, episodes=["few"], episode_numbers=numbers, add="1")
    page = admin_client.post(address(study, "batches"), data).content.decode()
    assert "Write numbers and ranges" in page


def test_adds_none_to_a_started_study(admin_client: Client, study: Study, task: Task) -> None:
    make.batch(study, task)
    start_study(study, at=make.NOON)
    response = admin_client.post(address(study, "batches"), choice(task, add="1"))
    assert "copy it" in messages_of(response)
    assert study.batches.count() == 1


# Start, pause, resume, close


def test_starts_a_study_by_post(admin_client: Client, study: Study, task: Task) -> None:
    make.batch(study, task)
    response = admin_client.post(address(study, "start"))
    study.refresh_from_db()
    assert (response["Location"], study.state) == (address(study, "change"), "open")
    assert LogEntry.objects.get().object_id == str(study.pk)


def test_shows_before_the_start_what_is_frozen_and_what_it_costs(
    admin_client: Client, study: Study, task: Task
) -> None:
    batch = make.batch(study, task, wanted=4)
    page = admin_client.get(address(study, "start")).content.decode()
    assert batch.test_set.checksum[:12] in page
    assert "CODE-SCREENED_OUT" in page
    assert "Start the study" in page
    study.refresh_from_db()
    assert study.state == "draft"


def test_warns_on_the_start_page(admin_client: Client, study: Study, task: Task) -> None:
    make.batch(study, task)
    Study.objects.update(max_drop=1.5, drop_unit="sds", drop_group_size=2)
    assert "1.155 SD below the mean" in admin_client.get(address(study, "start")).content.decode()


def test_does_not_offer_the_start_while_something_is_missing(
    admin_client: Client, study: Study
) -> None:
    page = admin_client.get(address(study, "start")).content.decode()
    assert "no batches" in page
    assert "Start the study" not in page
    response = admin_client.post(address(study, "start"))
    assert "no batches" in messages_of(response)
    study.refresh_from_db()
    assert study.state == "draft"


def test_starts_only_once(admin_client: Client, study: Study, task: Task) -> None:
    make.batch(study, task)
    admin_client.post(address(study, "start"))
    response = admin_client.post(address(study, "start"))
    assert "started already" in messages_of(response)


def test_pauses_and_resumes(admin_client: Client) -> None:
    study = make.running_batch().study
    admin_client.post(address(study, "pause"))
    study.refresh_from_db()
    assert study.state == "paused"
    admin_client.post(address(study, "resume"))
    study.refresh_from_db()
    assert study.state == "open"


def test_says_how_many_are_at_work_before_it_closes(admin_client: Client) -> None:
    batch = make.running_batch()
    make.at_work(batch)
    page = admin_client.get(address(batch.study, "close")).content.decode()
    assert "1 person is at work." in page


def test_closes_and_ends_what_is_unfinished(admin_client: Client) -> None:
    batch = make.running_batch()
    assignment = make.at_work(batch, at=make.NOON - timedelta(days=400))
    admin_client.post(address(batch.study, "close"))
    assignment.refresh_from_db()
    assert assignment.study.state == "closed"
    assert assignment.outcome == "expired"


def test_says_why_a_change_of_state_is_refused(admin_client: Client) -> None:
    study = make.running_batch().study
    pause_study(study)
    response = admin_client.post(address(study, "pause"))
    assert "is paused, not open" in messages_of(response)


# Copy


def test_copies_a_study(admin_client: Client) -> None:
    study = make.running_batch().study
    response = admin_client.post(address(study, "copy"), {"title": "Again", "slug": "again"})
    copy = Study.objects.get(slug="again")
    assert response["Location"] == address(copy, "change")
    assert (copy.state, copy.owner.username, copy.batches.count()) == ("draft", "admin", 1)


def test_refuses_a_copy_under_a_name_that_is_taken(admin_client: Client) -> None:
    study = make.running_batch().study
    page = admin_client.post(address(study, "copy"), {"title": "Again", "slug": study.slug})
    assert "already" in page.content.decode()


# Invitations


def test_invites_a_list_of_people(admin_client: Client, study: Study) -> None:
    response = admin_client.post(address(study, "invitations"), {"people": "ann\nbob"})
    assert response["Location"] == address(study, "invitations")
    assert set(study.invitations.values_list("external_id", flat=True)) == {"ann", "bob"}
    page = admin_client.get(address(study, "invitations")).content.decode()
    assert "2 people are invited." in page


def test_invites_from_a_file(admin_client: Client, study: Study) -> None:
    file = SimpleUploadedFile("people.csv", b"\xef\xbb\xbfid;name\r\nann;Ann\r\n")
    admin_client.post(address(study, "invitations"), {"people": "", "file": file})
    assert study.invitations.get().external_id == "ann"


def test_names_nobody_in_the_log(admin_client: Client, study: Study) -> None:
    admin_client.post(address(study, "invitations"), {"people": "ann@example.org"})
    entry = LogEntry.objects.get()
    assert "ann" not in entry.change_message + entry.object_repr


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"people": ""}, "Paste the people or choose a file"),
        ({"people": "id,name"}, "No ids were found"),
        ({"people": "x" * 201}, "Line 1"),
        ({"file": SimpleUploadedFile("p.csv", b"\xff\xfe\x00")}, "not UTF-8"),
    ],
)
def test_refuses_a_list_with_a_sentence(
    admin_client: Client, study: Study, data: dict[str, Any], sentence: str
) -> None:
    page = admin_client.post(address(study, "invitations"), data).content.decode()
    assert sentence in page
    assert not study.invitations.exists()
