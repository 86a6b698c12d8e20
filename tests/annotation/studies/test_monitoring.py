from datetime import timedelta
from decimal import Decimal

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Assignment, Batch, JoinAnswer
from annotation.simulation.simulating import simulate_study
from annotation.studies.monitoring import BatchFigures, study_figures
from annotation.studies.people import exclude
from annotation.work.finishing import withdraw
from annotation.work.joining import count_answer
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
    assert (figures.wanted, figures.taken, figures.kept, figures.working) == (4, 2, 1, 1)
    assert figures.outcomes["completed"] == 1
    assert figures.outcomes["withdrawn"] == 1
    assert sum(figures.outcomes.values()) == 2
    assert (figures.excluded, figures.simulated) == (0, 0)


def test_does_not_count_a_lapsed_lease_as_taken() -> None:
    batch = make.running_batch(lease_minutes=10)
    make.at_work(batch, at=make.NOON - timedelta(minutes=11))
    assert (figures_of(batch).taken, figures_of(batch).working) == (0, 1)


def test_gives_the_median_time_and_its_pay() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=6, hourly_rate=12)
    assert figures_of(batch).median_minutes is None
    make.worked_through(batch)  # six answers in sixty seconds, all of them paid
    figures = figures_of(batch)
    assert figures.median_minutes == pytest.approx(1)
    assert figures.hourly_pay == Decimal("12.00")


def test_shows_when_breaks_lower_the_hourly_pay() -> None:
    batch = make.running_batch(training=0, zero_shot=True, tests=1, item_cap_s=60, hourly_rate=12)
    assignment = make.at_work(batch)
    make.answer(assignment, at=make.NOON + timedelta(minutes=3))
    assert figures_of(batch).hourly_pay == Decimal("4.00")


def test_counts_the_excluded() -> None:
    batch = make.running_batch()
    exclude(make.worked_through(batch), reason="bot")
    figures = figures_of(batch)
    assert (figures.excluded, figures.kept, figures.outcomes["completed"]) == (1, 0, 1)


def test_counts_the_simulated_apart() -> None:
    batch = make.running_batch()
    simulate_study(batch.study, skill=0.8, seed=1, at=make.NOON)
    figures = figures_of(batch)
    assert (figures.simulated, figures.working, figures.taken) == (batch.wanted, 0, 0)


def test_flags_those_whom_the_rule_would_now_drop() -> None:
    batch = make.running_batch(wanted=5, training=10, max_drop=20, drop_group_size=3)
    weak = make.worked_through(batch, wrong=4)
    for _ in range(2):
        make.worked_through(batch)
    assert figures_of(batch).flagged == ()
    make.worked_through(batch)
    assert figures_of(batch).flagged == (weak,)


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
    expected = tuple(a for a in everybody if would_drop_now(a))
    assert figures_of(batch).flagged == expected
    assert expected


def test_adds_up_the_batches() -> None:
    batch = make.running_batch(wanted=2)
    make.worked_through(batch)
    figures = study_figures(batch.study, at=make.NOON)
    assert (figures.wanted, figures.taken, figures.kept, figures.flagged) == (2, 1, 1, [])


def test_needs_no_more_queries_for_more_people(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    batch = make.running_batch(wanted=6, max_drop=1, drop_unit="sds", drop_group_size=2)
    for _ in range(6):
        make.worked_through(batch)
    with django_assert_num_queries(6):
        study_figures(batch.study, at=make.NOON)


def test_counts_joins_by_the_hour_so_that_a_flood_is_seen() -> None:
    batch = make.running_batch(wanted=9)
    later = make.NOON + timedelta(minutes=70)
    for at in (make.NOON, make.NOON + timedelta(minutes=59), later, later - timedelta(days=2)):
        make.joined(batch, at=at)
    for answer in (JoinAnswer.FULL, JoinAnswer.FULL, JoinAnswer.DECLINED):
        count_answer(batch.study, answer, at=later)
    figures = study_figures(batch.study, at=later)
    assert figures.joins == (
        {"hour": make.NOON + timedelta(hours=1), "consented": 1, "declined": 1, "full": 2},
        {"hour": make.NOON, "consented": 2, "declined": 0, "full": 0},
    )
    assert (figures.declined, figures.found_full) == (1, 2)
