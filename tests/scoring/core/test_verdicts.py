from collections.abc import Callable
from functools import partial
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.core.comparison import PEOPLE, paired_difference, paired_without_each, runs_on
from scoring.core.verdicts import (
    AHEAD,
    BEHIND,
    SAME,
    AverageDifference,
    Member,
    holds_without_each,
    likeliest,
    verdicts,
)

STATES = {"too few people": "too_few"}


def a_difference(
    difference: float, se: float = 0.02, df: float = 30, people: int | None = 8
) -> AverageDifference:
    return AverageDifference(difference, se, df, nan, nan, nan, nan, people)


def member(test: AverageDifference, *without: AverageDifference, **about: Any) -> Member:
    return Member(test, lambda: without, **about)


def scores_of(rows: list) -> np.ndarray:
    return np.array([[np.nan if score is None else score for score in row] for row in rows])


def member_of(row: dict, lacks: tuple[str, ...] = ()) -> Member:
    """Of a row of known differences."""
    people = list(map(str, row["people_splits"] or [""]))
    runs, is_other = runs_on(people, list(map(str, row["run_splits"] or row["system"])))
    both = scores_of(row["people"]), scores_of(row["system"])[runs]
    test = paired_difference(*both, clusters=row["clusters"])
    without = paired_without_each(*both, clusters=row["clusters"])
    return Member(test, lambda: without, lacks, "other shot sets" * is_other)


def assert_states(found: Member, row: dict) -> None:
    """Direction and p at each margin, whole and without each annotator."""
    for margin, known in row["verdicts"].items():
        direction, p = likeliest(found.test, margin=float(margin))
        assert p == pytest.approx(known["p"], abs=1e-9)
        # Where nothing points anywhere, the known direction is that of rounding.
        assert direction == (known["direction"] if p <= 1 - 1e-9 else "")
        left = (row["leave_one_out"] or {}).get(margin)
        if left is None:
            continue
        others = [likeliest(one, margin=float(margin)) for one in found.without()]
        assert [p for _, p in others] == pytest.approx(left["p"], abs=1e-9)
        assert [d or k for (d, _), k in zip(others, left["directions"], strict=True)] == left[
            "directions"
        ]
        holds = holds_without_each(found.test, found.without(), margin=float(margin))
        assert holds == left["holds"]


def test_meets_the_known_verdicts(reference: Callable) -> None:
    for row in reference("differences")["rows"]:
        assert_states(member_of(row), row)


def test_meets_the_known_families(reference: Callable) -> None:
    known = reference("differences")
    for family in known["families"]:
        lacks = () if family["floor"] else ("no floor was set",)
        members = [member_of(known["rows"][place], lacks) for place in family["rows"]]
        found_each = verdicts(members, margin=family["margin"])
        for found, row in zip(found_each, family["results"], strict=True):
            state = STATES.get(row["state"], row["state"])
            assert (found.certainty or found.outcome) == state
            adjusted = nan if row["p_holm"] is None else row["p_holm"]
            assert found.p_holm == pytest.approx(adjusted, abs=1e-9, nan_ok=True)


def test_meets_the_known_verdicts_between_shots(reference: Callable) -> None:
    for row in reference("differences")["shots"]:
        both = scores_of(row["people"]), scores_of(row["other_people"])
        without = paired_without_each(*both, sides=PEOPLE)
        found = Member(paired_difference(*both, sides=PEOPLE), partial(list, without))
        assert_states(found, row)
        for margin, state in row["state_alone"].items():
            [alone] = verdicts([found], margin=float(margin))
            assert (alone.certainty or alone.outcome) == STATES.get(state, state)


@given(st.floats(-1, 1), st.floats(0.001, 0.3), st.floats(1, 300), st.sampled_from([0, 0.02, 0.1]))
def test_decides_where_the_interval_does(d: float, se: float, df: float, margin: float) -> None:
    half = stats.t.ppf(0.975, df) * se
    low, high = d - half, d + half
    by_interval = {
        AHEAD: low > margin,
        BEHIND: high < -margin,
        SAME: -margin < low and high < margin,
    }
    likely, p = likeliest(a_difference(d, se, df), margin=margin)
    decided = [direction for direction, holds in by_interval.items() if holds]
    if abs(p - 0.05) > 1e-9:
        assert decided == ([likely] if p < 0.05 else [])


def test_turns_with_the_difference() -> None:
    ahead, behind = (
        likeliest(a_difference(0.1), margin=0.02),
        likeliest(a_difference(-0.1), margin=0.02),
    )
    assert (ahead[0], behind[0]) == (AHEAD, BEHIND)
    assert ahead[1] == pytest.approx(behind[1])


def test_adjusts_over_the_tests_that_allow_a_claim() -> None:
    members = [
        member(a_difference(0.1)),
        member(a_difference(0.043)),
        member(a_difference(0.001)),
        member(a_difference(0.2, people=4)),
        member(a_difference(0.1, nan)),
        member(a_difference(0.1), exploratory="other shot sets"),
        member(a_difference(0.1, people=None)),
    ]
    found = verdicts(members)
    assert [(verdict.outcome, verdict.certainty) for verdict in found] == [
        ("ahead", "sure"),
        ("ahead", "probable"),
        ("open", None),
        ("too_few", None),
        ("open", None),
        ("ahead", "probable"),
        ("ahead", "sure"),
    ]
    assert [verdict.family for verdict in found] == [4] * 7
    assert found[1].reasons == ("sure by itself, not after correcting for 4 comparisons",)
    assert found[5].reasons == ("other shot sets",)
    assert isnan(found[3].p_holm)
    assert isnan(found[5].p_holm)
    assert found[0].p_holm == pytest.approx(4 * found[0].p)
    assert verdicts([]) == ()


def test_calls_people_as_good_within_the_margin() -> None:
    assert verdicts([member(a_difference(0.0))], margin=0.05)[0].outcome == SAME
    assert verdicts([member(a_difference(0.0))])[0].outcome == "open"


def test_points_nowhere_where_p_is_1() -> None:
    assert likeliest(a_difference(0.0)) == ("", 1.0)


def test_is_not_sure_where_one_annotator_carries_it() -> None:
    for without in (a_difference(0.03), a_difference(-0.1), a_difference(0.1, nan)):
        [found] = verdicts([member(a_difference(0.1), a_difference(0.09), without)])
        assert (found.certainty, found.holds) == ("probable", False)
        assert found.reasons == ("falls without one annotator",)
    [found] = verdicts([member(a_difference(0.1), a_difference(0.09), a_difference(0.11))])
    assert (found.certainty, found.holds, found.reasons) == ("sure", True, ())


def test_is_not_sure_without_a_floor() -> None:
    [found] = verdicts([member(a_difference(0.1), lacks=("no floor was set",))])
    assert (found.certainty, found.reasons) == ("probable", ("no floor was set",))


def test_is_not_sure_of_fewer_than_eight_people() -> None:
    for people, certainty in ((7, "probable"), (8, "sure"), (None, "sure")):
        [found] = verdicts([member(a_difference(0.1, people=people))])
        assert found.certainty == certainty
        assert found.reasons == (("fewer than eight people",) if people == 7 else ())


def test_is_not_sure_where_it_falls_with_the_excluded() -> None:
    """Also where only the adjustment lets it fall: its family's other members have theirs, too."""
    found = {}
    for d in (0.1, 0.043, 0.03, -0.1):
        one = member(a_difference(0.1), with_excluded=a_difference(d))
        other = member(a_difference(0.1), with_excluded=a_difference(0.042))
        found[d] = verdicts([one, other])[0].reasons
    falls = ("falls with the excluded",)
    assert found == {0.1: (), 0.043: falls, 0.03: falls, -0.1: falls}


def test_rejects_a_negative_margin() -> None:
    for margin in (-0.1, np.nan):
        with pytest.raises(ValueError, match="margin is"):
            likeliest(a_difference(0.1), margin=margin)
