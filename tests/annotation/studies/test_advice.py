from math import sqrt
from statistics import fmean, stdev

import pytest

from annotation.studies.advice import farthest_below, rule_advice, study_advice
from tests import make


def test_warns_of_a_drop_in_sds_that_three_people_cannot_reach() -> None:
    (sentence,) = rule_advice(max_drop=1.5, drop_unit="sds", group_size=2)
    assert "among 3 people nobody can lie more than 1.155 SD below the mean" in sentence


@pytest.mark.parametrize("people", range(2, 30))
def test_knows_how_far_one_of_some_people_can_lie(people: int) -> None:
    # The extreme case: everybody else has the same score.
    scores = [0.0] + [1.0] * (people - 1)
    assert farthest_below(people) == pytest.approx((fmean(scores) - 0) / stdev(scores))
    assert farthest_below(3) == pytest.approx(2 / sqrt(3))


@pytest.mark.parametrize(
    ("drop", "unit", "size", "warned"),
    [
        (None, "sds", 2, False),
        (15.0, "points", 2, False),
        (1.0, "sds", 2, True),
        (1.0, "sds", 4, True),
        (1.0, "sds", 5, False),
        (2.0, "sds", 5, False),
        (2.1, "sds", 5, True),  # six people reach 2.041
        (2.1, "sds", 10, False),
    ],
)
def test_warns_where_the_group_is_small_or_the_drop_out_of_reach(
    drop: float | None, unit: str, size: int, warned: bool
) -> None:
    assert bool(rule_advice(max_drop=drop, drop_unit=unit, group_size=size)) == warned


@pytest.mark.django_db
def test_names_the_cells_where_the_drop_can_never_count() -> None:
    benchmark = make.benchmark()
    study = make.study(benchmark, max_drop=10, drop_group_size=3)
    large, small = make.task(benchmark, title="Large"), make.task(benchmark, title="Small")
    make.batch(study, large, wanted=4)
    make.batch(study, small, wanted=3)
    make.batch(study, small, zero_shot=True, wanted=1)
    (sentence,) = study_advice(study)
    assert "in: Small, 3 shots." in sentence


@pytest.mark.django_db
def test_says_nothing_about_a_study_without_a_rule() -> None:
    study = make.study(make.benchmark())
    make.batch(study, make.task(study.benchmark), wanted=1)
    assert study_advice(study) == []


@pytest.mark.django_db
def test_warns_of_a_place_that_is_lost_while_an_example_is_read() -> None:
    study = make.study(make.benchmark(), lease_minutes=2, item_cap_s=180)
    assert "kept for 2 minutes" in study_advice(study)[0]
