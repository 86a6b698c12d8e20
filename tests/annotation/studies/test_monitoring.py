from datetime import timedelta
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Assignment, Batch
from annotation.simulation.simulating import simulate_study
from annotation.studies.monitoring import (
    BatchFigures,
    flagged_by_rule,
    people_of,
    study_figures,
)
from annotation.studies.people import exclude
from annotation.work.finishing import withdraw
from annotation.work.qualifying import others_scores, screen
from tests import make

pytestmark = pytest.mark.django_db


def figures_of(batch: Batch) -> BatchFigures:
    (figures,) = study_figures(batch.study, at=make.NOON).batches
    return figures


def test_counts_places_and_outcomes() -> None:
    batch = make.running_batch(wanted=4)
    make.worked_through(batch)
    make.at_work(batch)
    withdraw(make.at_work(batch), at=make.NOON)
    figures = figures_of(batch)
    assert (figures.wanted, figures.taken, figures.kept) == (4, 2, 1)
    assert figures.outcomes == {"completed": 1, "withdrawn": 1, "": 1}
    assert figures.excluded == 0


def test_does_not_count_a_lapsed_lease_as_taken() -> None:
    batch = make.running_batch(lease_minutes=10)
    make.at_work(batch, at=make.NOON - timedelta(minutes=11))
    assert (figures_of(batch).taken, figures_of(batch).outcomes[""]) == (0, 1)


def test_gives_the_median_time_and_its_pay() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=6, hourly_rate=12)
    assert study_figures(batch.study, at=make.NOON).median_minutes is None
    make.worked_through(batch)  # six answers in sixty seconds, all of them paid
    figures = study_figures(batch.study, at=make.NOON)
    assert figures.median_minutes == pytest.approx(1)
    assert figures.hourly_pay == Decimal("12.00")


def test_shows_when_breaks_lower_the_hourly_pay() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=1, item_cap_s=60, hourly_rate=12)
    assignment = make.at_work(batch)
    make.answer(assignment, at=make.NOON + timedelta(minutes=3))
    assert study_figures(batch.study, at=make.NOON).hourly_pay == Decimal("4.00")


def test_counts_the_excluded() -> None:
    batch = make.running_batch()
    exclude(make.worked_through(batch), reason="bot")
    figures = figures_of(batch)
    assert (figures.excluded, figures.kept, figures.outcomes["completed"]) == (1, 0, 1)


def test_counts_nobody_who_is_simulated() -> None:
    batch = make.running_batch()
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    figures = figures_of(batch)
    assert (figures.outcomes, figures.taken) == ({}, 0)


def flagged_in(batch: Batch) -> set[int]:
    return flagged_by_rule(batch.study, people_of(batch.study))


def test_flags_those_whom_the_rule_would_now_drop() -> None:
    batch = make.running_batch(wanted=5, training=10, max_drop=20, drop_group_size=3)
    weak = make.worked_through(batch, wrong=4)
    for _ in range(2):
        make.worked_through(batch)
    assert flagged_in(batch) == set()
    make.worked_through(batch)
    assert flagged_in(batch) == {weak.pk}


def would_drop_now(assignment: Assignment) -> bool:
    """The rule, asked of one person at a time."""
    score = assignment.training_score
    passed = score is not None and assignment.screening["passed"]
    return passed and not screen(score, others_scores(assignment), assignment.study)["passed"]


def test_flags_the_same_people_as_the_rule_itself() -> None:
    batch = make.running_batch(
        wanted=6, training=10, max_drop=1, drop_unit="sds", drop_group_size=3
    )
    for wrong in (5, 4, 0, 2, 1, 0):
        make.worked_through(batch, wrong=wrong)
    everybody = Assignment.objects.order_by("id").select_related("study", "batch")
    expected = {a.pk for a in everybody if would_drop_now(a)}
    assert flagged_in(batch) == expected
    assert expected


def test_adds_up_the_batches() -> None:
    batch = make.running_batch(wanted=2)
    make.worked_through(batch)
    figures = study_figures(batch.study, at=make.NOON)
    assert (figures.wanted, figures.taken, figures.kept) == (2, 1, 1)


def test_needs_no_more_queries_for_more_people(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    batch = make.running_batch(wanted=6, max_drop=1, drop_unit="sds", drop_group_size=2)
    for _ in range(6):
        make.worked_through(batch)
    with django_assert_num_queries(4):
        study_figures(batch.study, at=make.NOON)
