"""Which checks a study may start with, and how a batch comes to them."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Batch, Item, Role
from annotation.models.errors import NotReady
from annotation.studies.checks import possible_checks
from annotation.studies.drafting import copy_study
from annotation.studies.lifecycle import start_study
from annotation.studies.screening import screenings_in, why_no_floor
from tests import make

pytestmark = pytest.mark.django_db


def refusal(batch: Batch) -> str:
    with pytest.raises(NotReady) as refused:
        start_study(batch.study, at=make.NOON)
    return str(refused.value)


def test_starts_with_ten_checks_and_freezes_them() -> None:
    batch = make.running_checked_batch()
    (record,) = batch.study.frozen["batches"]
    assert record["check_checksum"] == batch.check_set.checksum
    assert batch.study.frozen["rules"]["min_check_score"] == 70
    assert batch.check_description == make.DESCRIPTION
    assert batch.check_gold_version == batch.task.latest_gold_version()


def test_refuses_fewer_than_ten() -> None:
    assert "are 9 items. Choose 10 or more." in refusal(make.checked_batch(checks=9))


def test_refuses_checks_without_a_least_share() -> None:
    assert "no least share" in refusal(make.checked_batch(min_check_score=None))


@pytest.mark.parametrize("held_by", ["test", "train-3-1"])
def test_refuses_items_that_are_asked_or_shown_later(held_by: str) -> None:
    batch = make.checked_batch()
    later = batch.task.item_sets.get(name=held_by).items.first()
    Item.objects.create(
        item_set=batch.check_set, example=later.example, position=10, source_id="later"
    )
    sentence = "items of a test set" if held_by == "test" else "a batch of this task trains with"
    assert sentence in refusal(batch)


def test_refuses_the_content_of_a_test_item_under_another_name() -> None:
    batch = make.checked_batch()
    asked = batch.test_set.items.first().example
    twin = make.example(batch.task, "twin", role=Role.TRAINING)
    type(twin).objects.filter(pk=twin.pk).update(content_hash=asked.content_hash)
    Item.objects.create(item_set=batch.check_set, example=twin, position=10, source_id="twin")
    assert "items of a test set" in refusal(batch)


def test_refuses_a_cell_that_is_checked_in_part() -> None:
    batch = make.checked_batch()
    examples = [item.example for item in batch.training_set.items.all()]
    again = make.item_set(batch.task, examples, name="again", shots=3, split=2)
    Batch.objects.create(
        study=batch.study, task=batch.task, training_set=again, test_set=batch.test_set
    )
    assert "all its batches need the same checks, or none" in refusal(batch)


def test_refuses_checks_of_a_task_without_a_description() -> None:
    batch = make.checked_batch(other="spans")
    type(batch.task).objects.filter(pk=batch.check_set.task_id).update(description="")
    assert f"The task {batch.check_set.task.slug} has no description" in refusal(batch)


@pytest.mark.parametrize(("share", "floor"), [(80, True), (70, False), (50, False)])
def test_checks_give_a_zero_shot_batch_a_floor(share: float, floor: bool) -> None:
    batch = make.running_checked_batch(zero_shot=True, min_check_score=share)
    (screening,) = screenings_in(batch.study)[batch.pk]
    assert (screening.rule.items, screening.rule.labels) == (10, 2)
    assert (not why_no_floor([screening])) == floor


def test_a_copy_has_the_same_checks_as_a_draft() -> None:
    batch = make.running_checked_batch()
    copy = copy_study(batch.study, slug="copy")
    copied = copy.batches.get()
    assert (copied.check_set, copied.check_description) == (batch.check_set, "")
    assert copied.check_gold_version is None
    assert copy.min_check_score == 70


def test_the_admin_sets_the_checks_of_a_batch(admin_client: Client) -> None:
    batch = make.checked_batch()
    checks, address = batch.check_set, reverse("admin:annotation_batch_change", args=[batch.pk])
    Batch.objects.update(check_set=None)
    form: dict[str, Any] = {
        "task": batch.task_id,
        "training_set": batch.training_set_id,
        "test_set": batch.test_set_id,
        "wanted": batch.wanted,
    }
    elsewhere = make.task(training=10).item_sets.get(role=Role.TRAINING)
    for chosen in (batch.test_set, batch.training_set, elsewhere):
        page = admin_client.post(address, {**form, "check_set": chosen.pk}).content.decode()
        assert "Select a valid choice." in page
    offered = admin_client.get(address).context["adminform"].form.fields["check_set"].queryset
    assert list(offered) == [checks]
    admin_client.post(address, {**form, "check_set": checks.pk})
    batch.refresh_from_db()
    assert batch.check_set == checks


def test_offers_owners_the_same(client: Client) -> None:
    batch = make.checked_batch()
    owner = make.member(batch.study)
    make.member(make.checked_batch().study)
    client.force_login(owner)
    page = client.get(reverse("admin:annotation_batch_change", args=[batch.pk]))
    offered = page.context["adminform"].form.fields["check_set"].queryset
    assert list(offered) == [batch.check_set]


@pytest.mark.parametrize("held_by", ["test", "train-12-1"])
def test_offers_no_set_that_the_start_refuses(held_by: str) -> None:
    batch = make.checked_batch(training=12)
    study, task, checks = batch.study, batch.task, batch.check_set
    assert list(possible_checks(study, task)) == [checks]
    assert checks in possible_checks(study)
    later = task.item_sets.get(name=held_by).items.first()
    Item.objects.create(item_set=checks, example=later.example, position=10, source_id="later")
    assert refusal(batch)
    assert not possible_checks(study, task)


def test_the_builder_gives_checks_to_all_batches_that_it_adds(admin_client: Client) -> None:
    batch = make.checked_batch(training=12)
    study, task, checks = batch.study, batch.task, batch.check_set
    study.batches.all().delete()
    address = reverse("scoring:builder", args=[study.slug])
    assert str(checks) in admin_client.get(address).content.decode()
    cells = [f"{task.slug}:{shots}" for shots in (0, 12)]
    form = {"cells": cells, "splits": ["1"], "wanted": 3, "seconds": 20, "checks": checks.pk}
    looked = admin_client.post(address, form)
    asked = 3 * (10 + 4) + 3 * (10 + 12 + 4)
    assert looked.context["building"]["estimate"].judgements == asked
    admin_client.post(address, {**form, "add": "1"})
    assert [one.check_set for one in study.batches.all()] == [checks] * 2


def test_the_start_page_shows_the_checks(admin_client: Client) -> None:
    batch = make.checked_batch(other="spans", zero_shot=True)
    page = admin_client.get(reverse("annotation:start", args=[batch.study.slug]))
    text = page.content.decode()
    assert [task for task, _ in page.context["tasks"]] == [batch.check_set.task, batch.task]
    assert "Before the work itself 10 items decide whether you go on" in text
    assert "<dt>Least share of checks</dt><dd>70.0 %</dd>" in text


def test_the_preview_goes_through_the_checks(admin_client: Client) -> None:
    batch = make.checked_batch(other="spans", min_check_score=0)
    address = reverse("annotation:preview", args=[batch.pk])
    page = admin_client.get(address)
    assert "items that decide whether you go on" in page.content.decode()
    for _ in range(11):
        state = page.context["preview_state"]
        page = admin_client.post(address, {"state": state, "none": "1"})
    assert "The checks are over" in page.content.decode()
    page = admin_client.post(address, {"state": page.context["preview_state"]})
    assert "Practice <span>1 of 3" in page.content.decode()
