"""The log of changes: what the acts write into it, and what they never do."""

import json
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.access.rights import give_role
from annotation.benchmarks.correcting import correct_gold
from annotation.models import Batch, Change, Study
from annotation.models.errors import Refusal
from annotation.studies.codes import log_rules, rules_of, set_rewards
from annotation.studies.drafting import (
    MOST_LOGGED,
    copy_study,
    delete_batches,
    log_batches,
    possible_batches,
)
from annotation.studies.lifecycle import (
    close_study,
    pause_study,
    resume_study,
    start_study,
    want_more,
)
from annotation.studies.people import erase_annotator, exclude, lift_exclusion
from tests import make
from tests.batching import make_batches

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make.researcher("owner")


def logged(study: Study) -> list[tuple[str, str | None]]:
    changes = study.changes.order_by("id").select_related("user")
    return [(change.action, change.user.username if change.user else None) for change in changes]


def test_logs_the_life_of_a_study_with_who(owner: User) -> None:
    batch = make.batch(study := make.study(bench := make.benchmark()), make.task(bench))
    start_study(study, at=make.NOON, by=owner)
    pause_study(study, by=owner)
    with pytest.raises(Refusal):
        pause_study(study, by=owner)
    resume_study(study)
    close_study(study, at=make.NOON, by=owner)
    assert logged(batch.study) == [
        ("started", "owner"),
        ("paused", "owner"),
        ("resumed", None),
        ("closed", "owner"),
    ]
    last = study.changes.first()
    assert last is not None
    assert (last.before, last.after) == ({"state": "open"}, {"state": "closed"})


def test_logs_an_exclusion_once_and_its_lifting(owner: User) -> None:
    assignment = make.worked_through(make.running_batch(training=1, tests=1))
    with make.unlocked():
        Change.objects.all().delete()
    for _ in range(2):
        exclude(assignment, reason="copied from a friend", author=owner)
    lift_exclusion(assignment, by=owner)
    lift_exclusion(assignment, by=owner)
    assert logged(assignment.study) == [("excluded", "owner"), ("exclusion_lifted", "owner")]


def test_logs_an_erasure_in_every_study_of_the_person(owner: User) -> None:
    person = make.annotator(external_id="anna@example.org")
    studies = [make.worked_through(make.running_batch(), who=person).study for _ in range(2)]
    for _ in range(2):
        erase_annotator(person, at=make.NOON, by=owner)
    for study in studies:
        assert logged(study)[1:] == [("erased", "owner")]


def test_logs_a_correction_of_gold_in_the_benchmark_and_in_its_studies(owner: User) -> None:
    batch = make.running_batch()
    example = batch.test_set.examples.first()
    before = example.golds.get().alternative_texts()[0]
    new = next(text for text in make.LABELS if [text] != before)
    correct_gold(batch.task, {example.pk: [[new]]}, author=owner, reason="a slip")
    assert logged(batch.study)[1:] == [("gold_corrected", "owner")]
    change = batch.study.benchmark.changes.get()
    assert change.after == {"task": batch.task.slug, "gold version": 2, "examples": 1}


def test_logs_roles(owner: User) -> None:
    study = make.study(make.benchmark())
    friend = make.researcher("friend")
    give_role(study, owner, "owner", by=owner)
    give_role(study, friend, "viewer", by=owner)
    give_role(study, friend, "viewer", by=owner)
    give_role(study, friend, "editor", by=owner)
    give_role(study, friend, None, by=owner)
    give_role(study, friend, None, by=owner)
    changes = study.changes.order_by("id").values_list("before", "after")
    assert list(changes)[1:] == [
        ({}, {"friend": "viewer"}),
        ({"friend": "viewer"}, {"friend": "editor"}),
        ({"friend": "editor"}, {}),
    ]


def test_logs_more_places_and_where_a_copy_comes_from(owner: User) -> None:
    batch = make.running_batch(wanted=2)
    want_more(batch, 2, by=owner)
    want_more(batch, 5, by=owner)
    assert logged(batch.study)[1:] == [("places", "owner")]
    (change,) = batch.study.changes.filter(action="places")
    assert (change.before, change.after) == ({str(batch): 2}, {str(batch): 5})
    copy = copy_study(batch.study, slug="again", owner=owner)
    assert logged(copy) == [("copied", "owner")]
    assert copy.changes.get().after == {"from": batch.study.slug}


def test_logs_what_was_set_before_and_after(admin_client: Client) -> None:
    study = make.running_batch(contact="ann@example.org").study
    address = reverse("annotation:settings", args=[study.slug])
    shown = admin_client.get(address).context["form"].shown
    given = {"contact": "bob@example.org", "platform_fee": study.platform_fee, "shown": shown}
    assert admin_client.post(address, given).status_code == 302
    (change,) = study.changes.filter(action="settings")
    assert (change.before, change.after) == (
        {"contact": "ann@example.org"},
        {"contact": "bob@example.org"},
    )


def test_keeps_gold_ids_secrets_and_comments_out(owner: User) -> None:
    person = make.annotator(external_id="anna@example.org")
    assignment = make.joined(make.running_batch(tests=2), who=person, submission_id="submission-7")
    erase_annotator(person, at=make.NOON, by=owner)
    assignment.refresh_from_db()
    exclude(assignment, reason="Anna copied", author=owner)
    example = assignment.batch.test_set.examples.first()
    before = example.golds.get().alternative_texts()[0]
    new = next(text for text in make.LABELS if [text] != before)
    correct_gold(assignment.batch.task, {example.pk: [[new]]}, author=owner, reason="a comment")
    text = json.dumps(list(Change.objects.values_list("before", "after")))
    for secret in ("anna", "Anna", "submission-7", "copied", "comment", *make.LABELS):
        assert secret not in text


def last_change(study: Study) -> tuple[str, dict[str, object], dict[str, object]]:
    change = study.changes.first()
    assert change is not None
    return change.action, change.before, change.after


def test_logs_batches_with_the_people_they_want(owner: User) -> None:
    task = make.task(name="SST-2")
    study = make.study(task.benchmark)
    added = make_batches(study, tasks=[task], shots=[0, 3], wanted=5, by=owner)
    zero, few = "SST-2 · 0 shots, test", "SST-2 · 3 shots, split 1, test"
    assert last_change(study) == ("batches", {}, {zero: 5, few: 5})
    make_batches(study, tasks=[task], shots=[0, 3], wanted=5, by=owner)
    assert delete_batches(study, [added[0].pk], by=owner) == 1
    assert last_change(study) == ("batches", {zero: 5}, {})
    assert logged(study) == [("batches", "owner")] * 2


def test_logs_very_many_batches_by_their_number(owner: User) -> None:
    task = make.task(name="SST-2")
    study = make.study(task.benchmark)
    test_set = possible_batches(task)[0].test_set
    made = [
        Batch(study=study, task=task, test_set=test_set, wanted=wanted)
        for wanted in range(1, MOST_LOGGED + 2)
    ]
    log_batches(study, [], made, by=owner)
    count = MOST_LOGGED + 1
    people = sum(range(1, count + 1))
    assert last_change(study) == ("batches", {}, {"batches": count, "people": people})


def test_logs_what_an_outcome_pays_but_no_code(owner: User) -> None:
    study = make.study(make.benchmark())
    before = rules_of(study)
    log_rules(study, before, by=owner)
    assert not study.changes.exists()
    study.outcome_rules.filter(outcome="withdrawn").update(minimum="0.50", code="NEWCODE1")
    log_rules(study, before, by=owner)
    action, was, now = last_change(study)
    assert (action, was["withdrawn: minimum"]) == ("outcomes", "0.00")
    assert now["withdrawn: minimum"] == "0.50"
    assert (was["withdrawn: code"], now["withdrawn: code"]) == ("…", "…")
    assert set(now) == {"withdrawn: minimum", "withdrawn: code"}


def test_logs_what_the_platform_pays(owner: User) -> None:
    study = make.study(make.benchmark())
    amounts = {"completed": Decimal("2.00"), "screened_out": Decimal("0.10")}
    for _ in range(2):
        set_rewards(study, amounts, by=owner)
    assert logged(study) == [("outcomes", "owner")]
    _action, _was, now = last_change(study)
    assert now == {"completed: platform_pays": "2.00", "screened_out: platform_pays": "0.10"}


def test_logs_what_is_changed_in_the_admin(admin_client: Client) -> None:
    task = make.task(name="SST-2")
    batch = make.batch(make.study(task.benchmark), task, wanted=3)
    address = reverse("admin:annotation_batch_change", args=[batch.pk])
    sets = {"training_set": batch.training_set_id, "test_set": batch.test_set_id}
    admin_client.post(address, {"task": task.pk, **sets, "wanted": 7})
    name = f"{batch}, test"
    assert last_change(batch.study) == ("batches", {name: 3}, {name: 7})
    delete = reverse("admin:annotation_batch_delete", args=[batch.pk])
    admin_client.post(delete, {"post": "yes"})
    assert last_change(batch.study) == ("batches", {name: 7}, {})
