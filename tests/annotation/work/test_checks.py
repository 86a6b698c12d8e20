"""Checks: answered before all else, without feedback, and decided once by their least share."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.models import (
    CHECK,
    Assignment,
    Batch,
    Exposure,
    Gold,
    GoldVersion,
    Item,
    Kind,
    Outcome,
    Role,
    WorkState,
)
from annotation.models.frozen import batch_content, sequence
from annotation.simulation.simulating import simulate_study
from annotation.studies.exported_judgements import export_judgements
from annotation.studies.lifecycle import close_study, start_study
from annotation.work.consent_facts import consent_facts
from annotation.work.estimating import estimate
from annotation.work.finishing import expire_idle, withdraw
from annotation.work.joining import Full
from annotation.work.judging import begin
from annotation.work.page import page_context, page_title
from tests import make
from tests.every import every
from tests.together import at_once

pytestmark = pytest.mark.django_db
CHECKS = 10


def checked(assignment: Assignment, *, wrong: int = 0) -> Assignment:
    """All checks answered, up to the page after them."""
    for number in range(CHECKS):
        form = make.wrong_answer(assignment) if number < wrong else make.right_answer(assignment)
        at = make.NOON + timedelta(seconds=10 * (number + 1))
        make.submit_answer(assignment, step=assignment.step, form=form, times={}, at=at)
    return assignment


@pytest.mark.parametrize("zero_shot", [False, True])
@pytest.mark.parametrize("other", ["", Kind.SPANS])
def test_checks_come_before_all_else_and_reveal_nothing(other: str, zero_shot: bool) -> None:
    batch = make.running_checked_batch(other=other, zero_shot=zero_shot)
    assignment = make.at_work(batch)
    for step in range(CHECKS):
        assert (assignment.state, assignment.step) == (WorkState.ANSWERING, step)
        assert page_title(assignment) == f"Check {step + 1} of {CHECKS}"
        make.submit_answer(
            assignment, step=step, form=make.right_answer(assignment), times={}, at=make.NOON
        )
    assert (assignment.state, assignment.step) == (WorkState.DESCRIPTION, CHECKS)
    assert assignment.check_screening == {
        "score": 100, "passed": True, "floor": 70, "lowest_allowed": None
    }  # fmt: skip
    assert assignment.training_score is None
    begin(assignment, step=CHECKS, at=make.NOON)
    while not assignment.is_finished:
        make.answer(assignment)
    assert assignment.outcome == Outcome.COMPLETED
    roles = list(assignment.judgements.order_by("step").values_list("role", flat=True))
    trained = 0 if zero_shot else 3
    assert roles == [CHECK] * CHECKS + [Role.TRAINING] * trained + [Role.TEST] * 4
    assert assignment.training_score == (None if zero_shot else 100)


@pytest.mark.parametrize(("wrong", "passes"), [(3, True), (4, False)])
def test_decides_once_by_the_least_share_alone(wrong: int, passes: bool) -> None:
    batch = make.running_checked_batch()
    assignment = checked(make.at_work(batch), wrong=wrong)
    assignment.refresh_from_db()
    assert assignment.check_screening["passed"] == passes
    assert assignment.outcome == ("" if passes else Outcome.SCREENED_OUT)
    assert assignment.screening == {}
    assert hasattr(assignment, "place") == passes
    if not passes:
        reason = page_context(assignment)["ending"]["reason"].replace("\xa0", " ")
        assert reason.startswith("Your score in the checks was 60%; you needed 70% to go on.")
        assert assignment.amount == Decimal("0.33")  # 100 seconds at 12 an hour
        assert not assignment.judgements.exclude(role=CHECK).exists()


def test_a_check_is_final_and_scored_at_the_gold_of_its_start() -> None:
    batch = make.running_checked_batch(other=Kind.SPANS)
    assignment = checked(make.at_work(batch))
    judgement = assignment.judgements.first()
    assert judgement is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        assignment.judgements.filter(pk=judgement.pk).update(answer=[])
    task = batch.check_set.task
    held: list[Callable[[], object]] = [
        lambda: Item.objects.filter(item_set=batch.check_set).delete(),
        lambda: Gold.objects.filter(version__task=task).delete(),
        lambda: GoldVersion.objects.filter(task=task).update(reason="other"),
        lambda: Batch.objects.filter(pk=batch.pk).update(check_set=None),
        lambda: type(task).objects.filter(pk=task.pk).update(kind=Kind.CHOICE),
    ]
    for change in held:
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_the_second_description_is_that_of_the_task_itself() -> None:
    batch = make.checked_batch(other=Kind.SPANS)
    type(batch.task).objects.filter(pk=batch.check_set.task_id).update(description="Mark names.")
    start_study(batch.study, at=make.NOON)
    assignment = make.joined(batch)
    assert "Mark names." in page_context(assignment)["description"]
    begin(assignment, at=make.NOON)
    assert page_context(assignment)["kind"].name == Kind.SPANS
    checked(assignment)
    assert make.DESCRIPTION in page_context(assignment)["description"]
    begin(assignment, step=CHECKS, at=make.NOON)
    assert page_context(assignment)["kind"].name == Kind.CHOICE


@pytest.mark.parametrize("htmx", [False, True])
def test_the_pages_lead_from_the_checks_into_the_work(htmx: bool) -> None:
    batch = make.running_checked_batch(other=Kind.SPANS, min_check_score=0)
    client = Client(headers={"HX-Request": "true"} if htmx else {})
    client.get(reverse("annotation:join_batch", args=[batch.join_token]))
    client.post("/work/consent/", {"agree": "1"})
    assert "items that decide whether you go on" in client.get("/work/").content.decode()
    client.post("/work/begin/")
    for step in range(CHECKS):
        client.post("/work/submit/", {"step": step, "none": "1"})
    page = client.get("/work/").content.decode()
    assert "The checks are over" in page
    assert f'name="step" value="{CHECKS}"' in page
    client.post("/work/begin/", {"step": CHECKS})
    page = client.get("/work/").content.decode()
    assert "Practice <span>1 of 3" in page


# Exposure


@pytest.mark.both_databases
@pytest.mark.parametrize("first", ["checks", "work"])
def test_nobody_meets_a_task_both_as_checks_and_as_work(first: str) -> None:
    batch = make.running_checked_batch(other=Kind.SPANS)
    checks_task = batch.check_set.task
    other = make.batch(make.study(checks_task.benchmark), checks_task, zero_shot=True)
    start_study(other.study, at=make.NOON)
    who = make.annotator()
    before, after = (batch, other) if first == "checks" else (other, batch)
    withdraw(make.joined(before, who=who), at=make.NOON)
    with pytest.raises(Full, match="only once"):
        make.joined(after, who=who)
    assert make.joined(after).exposures.count() == len(after.exposure_keys)


def test_the_database_holds_exposures_of_checks_and_work_against_each_other() -> None:
    assignment = make.joined(make.running_checked_batch(other=Kind.SPANS))
    keys = list(assignment.exposures.values_list("exposure_key", flat=True))
    assert len(keys) == 2
    for key in keys:
        with pytest.raises(IntegrityError), transaction.atomic():
            Exposure.objects.create(
                annotator=assignment.annotator, exposure_key=key, assignment=assignment
            )


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_joins_at_once_one_meets_the_task() -> None:
    batch = make.running_checked_batch(other=Kind.SPANS)
    task = batch.check_set.task
    other = make.batch(make.study(task.benchmark), task, zero_shot=True)
    start_study(other.study, at=make.NOON)
    who = make.annotator()

    def come(number: int) -> str:
        try:
            make.joined((batch, other)[number], who=who)
        except (Full, IntegrityError):
            return "refused"
        return "joined"

    assert sorted(at_once(come, 2)) == ["joined", "refused"]


def test_says_of_a_zero_shot_batch_that_its_people_saw_the_task() -> None:
    assert make.checked_batch(zero_shot=True).label == "0 shots after 10 checks"
    assert make.checked_batch(zero_shot=True, other=Kind.SPANS).label == "0 shots"
    assert make.checked_batch().label == "3 shots, split 1"


# Money


def test_the_checks_are_told_with_time_and_pay_before_the_consent() -> None:
    batch = make.running_checked_batch(zero_shot=True)
    contents = [batch_content(batch.pk)]
    short, details = consent_facts(batch.study, contents)
    facts = {"": short, **details}
    told = " ".join(sentence for sentences in facts.values() for sentence in sentences)
    assert "Before the work itself 10 items decide whether you go on" in told
    assert "After the checks the study ends for you if your score there is below 70" in told
    assert "It may end after the checks, if too few answers are right. You are then" in told
    assert "300" not in told
    needed = estimate(batch.study, [batch], seconds=10)
    assert needed.judgements == 3 * (10 + 4)
    # Two readings of 5 minutes, and 14 examples of 3 minutes, for three people.
    assert needed.most == Decimal(3 * (2 * 5 + 14 * 3)) / 60 * 12


@pytest.mark.parametrize("how", ["withdrawn", "expired", "closed"])
def test_checks_are_paid_however_the_work_ends(how: str) -> None:
    batch = make.running_checked_batch()
    assignment = make.at_work(batch)
    end = make.NOON + timedelta(seconds=30)
    make.submit_answer(assignment, step=0, form=make.right_answer(assignment), times={}, at=end)
    if how == "withdrawn":
        withdraw(assignment, at=end + timedelta(seconds=30))
    elif how == "closed":
        close_study(batch.study, at=end + timedelta(seconds=30))
        expire_idle(at=end + timedelta(days=1))
    else:
        expire_idle(at=end + timedelta(days=2))
    assignment.refresh_from_db()
    assert assignment.outcome == (Outcome.WITHDRAWN if how == "withdrawn" else Outcome.EXPIRED)
    # In silence nothing is added; otherwise the page in hand counts, up to its cap.
    assert assignment.paid_ms == {"withdrawn": 60, "expired": 30, "closed": 210}[how] * 1000


# What leaves the study, and who plays in it


def test_exports_show_the_checks_beside_their_task() -> None:
    batch = make.running_checked_batch(other=Kind.SPANS)
    checked(make.at_work(batch), wrong=4)
    rows = [json.loads(line) for line in export_judgements(batch.study, "jsonl")]
    assert {row["role"] for row in rows} == {CHECK}
    assert {row["task"] for row in rows} == {batch.check_set.task.slug}
    assert sum(row["s1_any"] for row in rows) == 6
    assert {row["set_checksum"] for row in rows} == {batch.check_set.checksum}


def test_the_pages_of_researchers_tell_checks_from_the_rest(admin_client: Client) -> None:
    batch = make.running_checked_batch(other=Kind.SPANS)
    person = checked(make.at_work(batch), wrong=4)
    address = reverse("annotation:person", args=[batch.study.slug, person.pk])
    page = admin_client.get(address).content.decode()
    assert page.count('<span class="r-soft">check</span>') == CHECKS
    address = reverse("admin:annotation_assignment_change", args=[person.pk])
    assert "screened out with 60.0 % (floor 70 %)" in admin_client.get(address).content.decode()
    for name in ("watch", "people", "exports"):
        assert admin_client.get(reverse(f"annotation:{name}", args=[batch.study.slug])).content
    table = reverse("annotation:export", args=[batch.study.slug, "assignments"])
    text = b"".join(admin_client.get(table)).decode()
    assert "checks,60.0,70.0,false" in text


def test_simulated_annotators_do_the_checks(tmp_path: Any) -> None:
    batch = make.running_checked_batch(other=Kind.SPANS, wanted=20, min_check_score=80)
    done = simulate_study(batch.study, skill=0.9, weak=0.5, seed=1, at=make.NOON)
    outcomes = {one.outcome for one in done}
    assert outcomes == {Outcome.COMPLETED, Outcome.SCREENED_OUT}
    assert every(one.check_screening["passed"] == (one.outcome == "completed") for one in done)
    call_command("export_data", study=batch.study.slug, output=tmp_path, verbosity=0)


def test_the_order_of_the_checks_follows_from_the_seed() -> None:
    batch = make.running_checked_batch()
    content = batch_content(batch.pk)
    orders = {sequence(batch.pk, f"seed-{n}")[:CHECKS] for n in range(5)}
    assert len(orders) == 5
    assert every({e.pk for e in order} == {e.pk for e in content.checks} for order in orders)
