"""Parts of a test set: balanced, linked, the same from the same seed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.core.comparison import paired_difference
from scoring.core.intervals import cell_interval
from scoring.core.parts import is_linked, lay_out
from scoring.core.sample_size import plan_people
from tests.every import every


def names(count: int) -> list[str]:
    return [f"item {number}" for number in range(count)]


@given(st.integers(2, 60), st.integers(2, 5), st.integers(3, 12), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_gives_every_item_its_people_and_everybody_as_many_items(
    more: int, viewers: int, size: int, seed: int
) -> None:
    items = names(size + more)
    parts = lay_out(items, size, viewers, seed=seed)
    assert len(parts) == -(-len(items) * viewers // size)
    assert {len(set(part)) for part in parts} == {len(part) for part in parts}
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert max(sizes) <= size
    held = [item for part in parts for item in part]
    assert {held.count(item) for item in items} == {viewers}
    assert is_linked(parts)


def test_needs_99_people_for_1319_items_in_parts_of_40_with_3_people_each() -> None:
    parts = lay_out(names(1319), 40, 3, seed=1)
    assert len(parts) == 99
    assert parts == lay_out(list(reversed(names(1319))), 40, 3, seed=1)
    assert parts != lay_out(names(1319), 40, 3, seed=2)


def test_sees_parts_that_do_not_hang_together() -> None:
    assert not is_linked([["a", "b"], ["b", "a"], ["a"], ["c"], ["c", "d"], ["d"]])
    assert not is_linked([["a", "b"], ["b", "c"], ["c", "d"]])
    assert is_linked([["a", "b"], ["b", "c"], ["c", "a"]])
    assert is_linked([["a", "b"], ["a", "b"]])


@pytest.mark.parametrize(
    ("size", "viewers", "sentence"),
    [(0, 2, "A part holds 1 to 9"), (10, 2, "1 to 9"), (3, 1, "two people"), (1, 2, "No layout")],
)
def test_refuses_what_cannot_be_laid_out(size: int, viewers: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        lay_out(names(9), size, viewers, seed=1)


def expected(mean: float, sd: float) -> float:
    """Of a share that is logistic in a normal, by Gauss and Hermite."""
    places, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ (1 / (1 + np.exp(-(mean + sd * places)))) / weights.sum())


def test_covers_means_and_differences_over_parts() -> None:
    """50 people on 660 items, three to an item: right or wrong by a person's skill and an item's
    ease, beside a system whose items hang together with people's."""
    items = 660
    places = {name: number for number, name in enumerate(names(items))}
    layout = [[places[name] for name in part] for part in lay_out(names(items), 40, 3, seed=1)]
    rng = np.random.default_rng(1)
    of_people, of_system = expected(0.5, np.hypot(0.4, 1)), expected(0.8, 1)
    covered = np.zeros(2)
    draws = 400
    for _ in range(draws):
        skill, drawn = rng.normal(0, 0.4, len(layout)), rng.normal(0.5, 1, items)
        scores = np.full((len(layout), items), np.nan)
        for person, part in enumerate(layout):
            right = 1 / (1 + np.exp(-(skill[person] + drawn[part])))
            scores[person, part] = rng.random(len(part)) < right
        system = (rng.random((1, items)) < 1 / (1 + np.exp(-(0.3 + drawn)))).astype(float)
        interval = cell_interval(scores)
        apart = paired_difference(scores, system)
        covered += [
            interval.low <= of_people <= interval.high,
            apart.low <= of_people - of_system <= apart.high,
        ]
    assert every(0.93 <= share <= 0.98 for share in covered / draws), covered / draws


def test_plans_what_parts_then_give() -> None:
    """The planned standard error beside that of simulated cells, over answers with these
    components."""
    rng = np.random.default_rng(3)
    annotator_var, item_var, residual_var = 0.01, 0.04, 0.15
    costs: dict[str, Any] = {
        "rate": 12,
        "onboarding_s": 60,
        "shots": 0,
        "train_s": 0,
        "item_s": 15,
        "fee": 0.0,
    }
    parts: dict[str, Any] = {
        "annotator_var": annotator_var,
        "item_var": item_var,
        "residual_var": residual_var,
    }
    designs = plan_people(budget=150, max_items=300, **costs, **parts, viewers=3)
    design = next(one for one in designs if one.seen == 300 and one.annotators == 45)
    assert design.items == 20
    layout = lay_out(names(300), design.items, 3, seed=2)
    assert len(layout) == design.annotators
    places = {name: number for number, name in enumerate(names(300))}
    # The person and the item of every answer.
    pairs = [(person, places[name]) for person, part in enumerate(layout) for name in part]
    who, what = np.array(pairs).T
    people = rng.normal(0, annotator_var**0.5, (1_500, len(layout)))
    items = rng.normal(0, item_var**0.5, (1_500, 300))
    noise = rng.normal(0, residual_var**0.5, (1_500, len(pairs)))
    means = (people[:, who] + items[:, what] + noise).mean(axis=1)
    assert np.std(means) == pytest.approx(design.se, rel=0.06)


def test_plans_no_more_items_than_there_are() -> None:
    given: dict[str, Any] = {"rate": 12, "onboarding_s": 60, "shots": 0, "train_s": 0, "item_s": 15}
    parts: dict[str, Any] = {"annotator_var": 0.01, "item_var": 0.04, "residual_var": 0.15}
    designs = plan_people(budget=10_000, max_items=1319, viewers=3, **given, **parts)
    design = next(one for one in designs if one.annotators == 99)
    assert (design.items, design.seen) == (40, 1319)
    assert {design.seen for design in designs} == {1319}
    with pytest.raises(ValueError, match="coverage of parts is not simulated"):
        plan_people(budget=99, max_items=9, viewers=2, min_coverage=0.9, **given, **parts)
