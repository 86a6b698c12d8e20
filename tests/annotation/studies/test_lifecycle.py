"""The life of a study: started, paused, closed."""

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from annotation.benchmarks.importing import import_benchmark
from annotation.models import Assignment, Benchmark, Outcome, OutcomeRule, Place, Study, StudyState
from annotation.models.errors import Frozen, NotReady
from annotation.studies.ending import not_as_named
from annotation.studies.lifecycle import (
    close_full_studies,
    close_study,
    pause_study,
    resume_study,
    start_study,
    want_more,
    what_is_missing,
)
from annotation.work.finishing import expire_idle, withdraw
from annotation.work.judging import begin, leave_reveal, submit_answer
from annotation.work.places import release_place
from scoring.report.facts import Facts
from scoring.report.methods import methods
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_freezes_what_is_measured() -> None:
    batch = make.running_batch()
    batch.task.description = "Something else."
    batch.task.save()
    batch.refresh_from_db()
    assert batch.description == make.DESCRIPTION
    record = batch.study.frozen["batches"][0]
    assert record["test_checksum"] == batch.test_set.checksum
    assert record["gold_version"] == 1


def test_opens_the_wanted_places() -> None:
    assert make.running_batch(wanted=5).places.count() == 5


def test_does_not_start_what_was_to_end_before() -> None:
    bench = make.benchmark()
    study = make.study(bench, ends_on=date(2026, 11, 1))
    make.batch(study, make.task(bench))
    sentence = "It was to end on 2026-11-01, which is over: name a later day."
    assert sentence in what_is_missing(study)
    with pytest.raises(NotReady):
        start_study(study, at=make.NOON + timedelta(days=1))
    start_study(study, at=make.NOON)


def test_says_everything_that_is_missing() -> None:
    bench = make.benchmark()
    study = make.study(bench, consent_text=" ")
    study.outcome_rules.filter(outcome__in=["full", "expired"]).delete()
    make.batch(study, make.task(bench, description=""))
    sentences = " ".join(what_is_missing(study))
    for part in ("consent text is empty", "no description", "expired, full"):
        assert part in sentences
    with pytest.raises(NotReady):
        start_study(study, at=make.NOON)
    study.refresh_from_db()
    assert study.state == StudyState.DRAFT


def test_takes_no_margin_without_a_reason() -> None:
    bench = make.benchmark()
    study = make.study(bench, margin=2)
    make.batch(study, make.task(bench))
    Study.objects.update(margin_reason=" ")
    study.refresh_from_db()
    with pytest.raises(NotReady, match="margin has no reason"):
        start_study(study, at=make.NOON)
    Study.objects.update(margin=0)
    study.refresh_from_db()
    start_study(study, at=make.NOON)


def test_starts_once() -> None:
    study = make.running_batch().study
    with pytest.raises(Frozen):
        start_study(study, at=make.NOON)


def test_pauses_and_resumes_while_work_goes_on() -> None:
    batch = make.running_batch()
    assignment = make.at_work(batch)
    pause_study(batch.study)
    make.answer(assignment)
    assert assignment.step == 1
    resume_study(batch.study)
    assert make.joined(batch)


CLOSING = make.NOON + timedelta(minutes=5)


def _at_work_when_it_closes(**fields: Any) -> Assignment:
    """Somebody who has answered one example, and has had the second before them for 30 seconds."""
    batch = make.running_batch(item_cap_s=120, hourly_rate=36, **fields)
    assignment = make.at_work(batch)
    make.answer(assignment, at=CLOSING - timedelta(seconds=30))
    close_study(batch.study, at=CLOSING)
    return Assignment.objects.get(pk=assignment.pk)


def test_takes_the_page_that_was_shown_when_it_closed_and_shows_no_other() -> None:
    assignment = _at_work_when_it_closes()
    assert assignment.outcome == ""
    make.answer(assignment, at=CLOSING + timedelta(seconds=20))
    assert assignment.judgements.count() == 2
    assert (assignment.outcome, assignment.ended_by_closing) == (Outcome.EXPIRED, True)
    # 120 seconds for the first, 50 for the second, at one cent a second.
    assert assignment.amount == Decimal("1.70")


def test_completes_the_work_whose_last_page_is_sent_after_the_closing() -> None:
    assignment = _at_work_when_it_closes(zero_shot=True, tests=2)
    make.answer(assignment, at=CLOSING + timedelta(seconds=20))
    assert (assignment.outcome, assignment.ended_by_closing) == (Outcome.COMPLETED, False)


def test_decides_the_qualification_of_who_leaves_the_last_reveal_after_the_closing() -> None:
    batch = make.running_batch(training=1, min_training_score=60)
    assignment = make.at_work(batch)
    form = make.wrong_answer(assignment)
    submit_answer(assignment, step=0, form=form, times={}, at=CLOSING)
    close_study(batch.study, at=CLOSING)
    assignment = Assignment.objects.get()
    leave_reveal(assignment, step=0, at=CLOSING)
    assert assignment.outcome == Outcome.SCREENED_OUT


def test_takes_the_reading_of_the_description_and_then_ends() -> None:
    batch = make.running_batch(hourly_rate=36)
    make.joined(batch)
    close_study(batch.study, at=make.NOON + timedelta(seconds=10))
    assignment = Assignment.objects.get()
    begin(assignment, at=make.NOON + timedelta(seconds=40))
    assert (assignment.outcome, assignment.amount) == (Outcome.EXPIRED, Decimal("0.40"))


def test_takes_nothing_once_an_items_cap_has_passed() -> None:
    assignment = _at_work_when_it_closes()
    make.answer(assignment, at=CLOSING + timedelta(seconds=121))
    assert assignment.judgements.count() == 1
    assert (assignment.outcome, assignment.ended_by_closing) == (Outcome.EXPIRED, True)
    assert assignment.amount == Decimal("2.40")


@pytest.mark.both_databases
def test_closes_by_itself_once_all_places_are_filled_and_nobody_is_at_work() -> None:
    batch = make.running_batch(wanted=1, close_when_full=True, min_training_score=None)
    study, other = batch.study, make.running_batch(wanted=1).study
    make.worked_through(other.batches.get())

    def closed_at(at: datetime) -> datetime | None:
        close_full_studies(at=at)
        return Study.objects.get(pk=study.pk).closed_at

    assert closed_at(CLOSING) is None  # nobody came
    slow = make.at_work(batch)
    release_place(slow, at=make.NOON)
    make.worked_through(batch)
    assert closed_at(CLOSING) is None  # somebody goes on without a place
    withdraw(slow, at=CLOSING)
    pause_study(study)
    assert closed_at(CLOSING) is None  # who paused it decides
    resume_study(study)
    assert closed_at(CLOSING) == CLOSING
    assert not_as_named(Study.objects.get(pk=study.pk)) == []
    assert (study.changes.first().action, study.changes.first().user) == ("closed", None)
    assert Study.objects.get(pk=other.pk).is_open


def test_ends_what_nobody_sends_with_its_page_paid() -> None:
    assignment = _at_work_when_it_closes()
    assert expire_idle(at=CLOSING + timedelta(seconds=120)) == 0
    assert expire_idle(at=CLOSING + timedelta(seconds=121)) == 1
    assignment.refresh_from_db()
    assert (assignment.outcome, assignment.ended_by_closing) == (Outcome.EXPIRED, True)
    assert assignment.amount == Decimal("2.40")


@pytest.mark.both_databases
def test_ends_those_who_have_gone_away_at_once_and_without_their_page() -> None:
    batch = make.running_batch(expire_hours=1)
    make.at_work(batch)
    close_study(batch.study, at=make.NOON + timedelta(hours=2))
    assignment = Assignment.objects.get()
    assert (assignment.outcome, assignment.ended_by_closing) == (Outcome.EXPIRED, False)
    assert assignment.amount == 0


def test_expires_abandoned_work_and_opens_its_place() -> None:
    batch = make.running_batch(wanted=1, expire_hours=2)
    make.at_work(batch)
    assert expire_idle(at=make.NOON + timedelta(hours=1)) == 0
    assert expire_idle(at=make.NOON + timedelta(hours=3)) == 1
    assert Place.objects.get(batch=batch).holder is None


def test_opens_the_place_of_withdrawn_work_and_pays_at_least_the_minimum() -> None:
    batch = make.running_batch(wanted=1)
    OutcomeRule.objects.filter(study=batch.study, outcome="withdrawn").update(minimum=2)
    assignment = make.at_work(batch)
    assert withdraw(assignment, at=make.NOON)
    assert assignment.amount == 2
    assert not withdraw(assignment, at=make.NOON)
    assert make.joined(batch)


def test_gives_more_places_but_never_fewer() -> None:
    batch = make.running_batch(wanted=2)
    want_more(batch, 4)
    assert batch.places.count() == 4
    with pytest.raises(Frozen):
        want_more(batch, 3)


def unanswerable_draft(*golds: str) -> Study:
    """Spans of texts, of which some golds are not in the text."""
    rows = [
        {
            "id": f"q{number}",
            "context": "Ada met Bo.",
            "question": f"Who? {number}",
            "answer": [text],
        }
        for number, text in enumerate(golds)
    ]
    with TemporaryDirectory() as folder:
        task = Path(folder, "Names")
        task.mkdir()
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (task / "names_test.jsonl").write_text(text, encoding="utf-8")
        about = json.dumps({"kind": "spans", "description": "Mark the names."})
        (task / "task.json").write_text(about, encoding="utf-8")
        import_benchmark(Path(folder), name="names")
    study = make.study(Benchmark.objects.get(name="names"))
    make.batch(study, study.benchmark.tasks.get(), zero_shot=True)
    return study


def test_asks_for_a_word_on_items_that_nobody_can_get_right() -> None:
    study = unanswerable_draft("Ada", "Cy", "Bo", "Di")
    [missing] = what_is_missing(study)
    assert missing == (
        "Nobody can get 2 test items of Names wholly right (q1, q3), and no score can be above "
        "50.0 %. Correct their gold, or write in the settings why they stay."
    )
    study.unanswerable_reason = "They are part of the published set."
    study.save()
    start_study(study, at=make.NOON)
    assert study.frozen["unanswerable"] == {"names": ["q1", "q3"]}
    told = " ".join(str(section) for section in methods(Facts(study)))
    assert "No answer gets q1 and q3 of Names wholly right; they stayed for this reason" in told
    with pytest.raises(DatabaseError), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(unanswerable_reason="Another one.")


def test_does_not_start_where_nobody_can_be_right() -> None:
    study = unanswerable_draft("Cy", "Di")
    study.unanswerable_reason = "They are part of the published set."
    study.save()
    with pytest.raises(NotReady, match="No test item of Names can be answered correctly"):
        start_study(study, at=make.NOON)
