"""Time that is paid, and what it amounts to."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from annotation.models import Assignment, Outcome, OutcomeRule
from annotation.work.finishing import amount_due, earned, paid_ms
from tests import make

pytestmark = pytest.mark.django_db


def _after(seconds: float) -> datetime:
    return make.NOON + timedelta(seconds=seconds)


def _worked_an_hour(**rule: object) -> Assignment:
    """Somebody whose time is worth 12.00, in a study with this rule for those who withdraw."""
    assignment = make.at_work(make.running_batch(hourly_rate=12))
    rules = OutcomeRule.objects.filter(study=assignment.study)
    # What other outcomes pay, and other studies, must not matter.
    rules.update(minimum=77)
    rules.filter(outcome=Outcome.WITHDRAWN).update(**{"minimum": 0, **rule})
    make.running_batch()
    assignment.paid_ms = 3_600_000
    return assignment


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("since", "until", "milliseconds"),
    [
        (None, _after(5), 0),
        (_after(0), _after(1.25), 1_250),
        (_after(0), _after(60), 60_000),
        (_after(0), _after(60.5), 60_000),
        (_after(5), _after(5), 0),
        (_after(5), _after(0), 0),
    ],
)
def test_counts_the_time_between_two_moments_up_to_the_cap(
    since: datetime | None, until: datetime, milliseconds: int
) -> None:
    assert paid_ms(since, until, cap_s=60) == milliseconds


@pytest.mark.parametrize(
    ("milliseconds", "amount"),
    # 1.8 seconds at 10 an hour are half a cent.
    [(3_600_000, "10.00"), (1_799, "0.00"), (1_800, "0.01"), (5_399, "0.01"), (5_400, "0.02")],
)
def test_rounds_half_a_cent_up(milliseconds: int, amount: str) -> None:
    assert str(earned(milliseconds, Decimal(10), "USD")) == amount


def test_pays_whole_yen() -> None:
    """600 an hour: 130.62 s are worth 21.77, and a yen has no cents."""
    assert earned(130_620, Decimal(600), "JPY") == 22
    assert str(earned(130_620, Decimal(600), "CNY")) == "21.77"


@pytest.mark.parametrize(
    ("rule", "amount"),
    [
        ({}, 12),
        ({"minimum": 11}, 12),
        ({"minimum": 13}, 13),
        ({"pays_time": False}, 0),
        ({"pays_time": False, "minimum": Decimal("0.50")}, Decimal("0.50")),
    ],
)
def test_pays_what_the_outcomes_rule_says(rule: dict[str, object], amount: Decimal) -> None:
    assert amount_due(_worked_an_hour(**rule), Outcome.WITHDRAWN) == amount


def test_pays_the_time_where_no_rule_says_otherwise() -> None:
    assignment = _worked_an_hour()
    OutcomeRule.objects.filter(study=assignment.study).delete()
    assert amount_due(assignment, Outcome.COMPLETED) == 12
