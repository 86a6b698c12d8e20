from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from scoring.core.intervals import cell_interval, new_items_limits
from scoring.core.people_designs import (
    PeopleDesign,
    ScoreModel,
    planned_cell,
    recommended,
    with_chances,
)
from scoring.core.power import Contrast, logit_model, planned_power
from scoring.core.sample_size import (
    PUBLISHED_ACCURACIES,
    PUBLISHED_EPISODES,
    PUBLISHED_HOURS,
    plan_people,
    published_examples,
    simulate_intervals,
)
from scoring.core.variance import Components
from tests.every import every

PLAN = {
    "budget": 60,
    "rate": 12.0,
    "onboarding_s": 300,
    "shots": 30,
    "train_s": 12,
    "item_s": 8,
    "max_items": 210,
    "annotator_var": 0.0016,
    "item_var": 0.072,
    "residual_var": 0.0864,
}
FIGURES = ("coverage", "coverage_se", "width", "width_se", "bias")


@cache
def plan(**changes: Any) -> tuple[PeopleDesign, ...]:
    """Several tests look at the same one."""
    return plan_people(**{**PLAN, **changes})


def test_meets_the_published_simulation_within_its_error(reference: Callable) -> None:
    rows = reference("flex_sample_size")["rows"]
    columns = ([row[name] for row in rows] for name in ("accuracy", "episodes", "test_examples"))
    found = simulate_intervals(*columns, replicates=5000, seed=11)
    for figure in ("coverage", "width"):
        known = np.array([row[figure] for row in rows])
        known_se = np.array([row[f"{figure}_se"] for row in rows])
        # Four standard errors: one false alarm in a thousand runs of the sixteen figures.
        error = np.hypot(known_se, getattr(found, f"{figure}_se"))
        assert (abs(getattr(found, figure) - known) < 4 * error).all(), figure


def test_meets_the_published_cost_model(reference: Callable) -> None:
    known = reference("flex_sample_size")
    for row in known["rows"]:
        assert published_examples(row["budget_hours"], row["episodes"]) == row["test_examples"]
    grid = {"acc": PUBLISHED_ACCURACIES, "budget_hours": PUBLISHED_HOURS}
    grid["episodes"] = PUBLISHED_EPISODES
    assert {name: sorted(values) for name, values in grid.items()} == {
        name: known["grid"][name] for name in grid
    }
    feasible = published_examples(*np.meshgrid(PUBLISHED_HOURS, PUBLISHED_EPISODES)) > 0
    assert len(PUBLISHED_ACCURACIES) * feasible.sum() == known["grid"]["feasible_configs"]


def test_finds_ninety_episodes_best_for_forty_eight_hours() -> None:
    """FLEX's conclusion: of the designs with at least 60 episodes, the narrowest."""
    episodes = np.array([60, 75, 90, 105, 120, 135])
    accuracies = np.arange(0.3, 0.96, 0.05)[:, None]
    found = simulate_intervals(
        accuracies,
        episodes,
        published_examples(48, episodes),
        replicates=150,
        resamples=300,
        seed=1,
    )
    assert episodes[found.width.mean(axis=0).argmin()] == 90


def plain_simulation(
    accuracy: float, episodes: int, examples: int, replicates: int
) -> tuple[float, float]:
    """The simulation example by example, resample by resample."""
    rng = np.random.default_rng(99)
    held, widths = [], []
    for _ in range(replicates):
        chances = accuracy + rng.normal(0, 0.05, episodes)
        right = [[rng.random() <= p for _ in range(examples)] for p in chances]
        means = np.mean(right, axis=1)
        boot = [rng.choice(means, episodes).mean() for _ in range(200)]
        low, high = np.percentile(boot, [2.5, 97.5])
        held.append(low <= accuracy <= high)
        widths.append(high - low)
    return float(np.mean(held)), float(np.mean(widths))


def test_agrees_with_a_plain_loop() -> None:
    coverage, width = plain_simulation(0.6, 8, 15, replicates=300)
    found = simulate_intervals(0.6, 8, 15, replicates=4000, resamples=200, seed=1)
    assert found.coverage == pytest.approx(coverage, abs=4 * np.sqrt(0.1 * 0.9 / 300))
    assert found.width == pytest.approx(width, rel=0.06)


def test_gives_a_shape_that_its_inputs_broadcast_to() -> None:
    found = simulate_intervals([[0.5], [0.7]], [5, 10, 20], 30, replicates=50, seed=1)
    assert found.coverage.shape == found.width_se.shape == (2, 3)
    assert np.shape(simulate_intervals(0.5, 5, 30, replicates=50, seed=1).width) == ()


def test_gives_the_same_numbers_on_any_number_of_workers_and_in_any_company() -> None:
    accuracy, episodes, examples = [0.5, 0.7, 0.9], [5, 20, 5], [30, 40, 30]
    one = simulate_intervals(accuracy, episodes, examples, replicates=450, seed=3, workers=1)
    two = simulate_intervals(accuracy, episodes, examples, replicates=450, seed=3, workers=3)
    alone = simulate_intervals(0.7, 20, 40, replicates=450, seed=3)
    other = simulate_intervals(accuracy, episodes, examples, replicates=450, seed=4)
    for figure in FIGURES:
        assert (getattr(one, figure) == getattr(two, figure)).all()
        assert getattr(one, figure)[1] == getattr(alone, figure)
    assert (one.width != other.width).any()


def test_states_standard_errors_that_repeated_runs_bear_out() -> None:
    for episodes in (3, 30):
        runs = [simulate_intervals(0.7, episodes, 50, replicates=200, seed=s) for s in range(80)]
        for figure in ("coverage", "width"):
            spread = np.std([getattr(run, figure) for run in runs], ddof=1)
            stated = np.mean([getattr(run, f"{figure}_se") for run in runs])
            assert 0.75 < spread / stated < 1.3, (episodes, figure)


def test_holds_the_clipped_mean_where_it_loses_the_nominal_one() -> None:
    nominal = simulate_intervals(0.95, 150, 112, replicates=1000, seed=1)
    clipped = simulate_intervals(0.95, 150, 112, replicates=1000, seed=1, target="clipped")
    assert nominal.coverage < 0.85
    assert clipped.coverage > 0.92
    assert clipped.width == nominal.width
    far = simulate_intervals(0.5, 30, 50, replicates=400, seed=1, target="clipped")
    assert far.coverage == simulate_intervals(0.5, 30, 50, replicates=400, seed=1).coverage


def test_approaches_the_normal_interval_with_many_episodes() -> None:
    found = simulate_intervals(0.6, 400, 100, replicates=400, seed=2)
    sd = np.sqrt((0.05**2 + (0.24 - 0.05**2) / 100) / 400)
    assert found.width == pytest.approx(2 * 1.96 * sd, rel=0.02)
    assert found.coverage == pytest.approx(0.945, abs=0.04)
    assert found.bias == pytest.approx(sd * np.sqrt(2 / np.pi), rel=0.1)


def test_tells_nothing_where_the_budget_buys_no_example() -> None:
    found = simulate_intervals(0.5, [150, 5], published_examples(24, [150, 5]), seed=1)
    assert np.isnan([getattr(found, figure)[0] for figure in FIGURES]).all()
    assert np.isfinite(found.coverage[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"accuracy": 1.5}, "between 0 and 1"),
        ({"episodes": 0}, "at least one episode"),
        ({"examples": 2.5}, "whole numbers"),
        ({"replicates": 0}, "at least one replicate"),
        ({"episode_sd": -0.1}, "cannot be negative"),
        ({"target": "mean"}, "'mean'"),
        ({"level": 95}, "level is 95"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_rejects_a_bad_simulation(changes: dict, message: str) -> None:
    values = {"accuracy": 0.5, "episodes": 5, "examples": 10, "seed": 1, **changes}
    with pytest.raises(ValueError, match=message):
        simulate_intervals(**values)


def test_meets_every_design_of_every_reference_frontier(reference: Callable) -> None:
    for example in reference("human_sample_size")["examples"]:
        parts = example["components"]
        found = plan(
            budget=example["budget"],
            rate=example["rate"],
            onboarding_s=example["onboard_s"],
            shots=example["k"],
            train_s=example["s_train"],
            item_s=example["s_item"],
            max_items=example["M"],
            annotator_var=parts["A"],
            item_var=parts["I"],
            residual_var=parts["R"],
        )
        by_size = {design.annotators: design for design in found}
        assert by_size.keys() == {row["n"] for row in example["frontier"]}
        for row in example["frontier"]:
            design = by_size[row["n"]]
            assert design.items == row["m"]
            assert design.cost == pytest.approx(row["cost"], abs=0.0051)
            assert 100 * design.width == pytest.approx(row["width_pp"], abs=0.00051)
            assert 100 * design.se == pytest.approx(row["se_pp"], abs=0.00051)
            assert design.df == pytest.approx(row["df"], abs=0.0051)
        assert (found[0].annotators, found[0].items) == (example["best"]["n"], example["best"]["m"])


def test_lists_designs_narrowest_first_within_the_budget() -> None:
    found = plan()
    assert [d.width for d in found] == sorted(d.width for d in found)
    assert every(d.cost <= 60 + 1e-9 for d in found)
    assert 3 in {d.annotators for d in found}
    assert np.isnan(found[0].coverage)


def test_spends_what_another_item_would_not_leave() -> None:
    for design in plan():
        one_more = design.annotators * 8 * 12 / 3600
        assert design.items == 210 or design.cost + one_more > 60


NEAR_1 = {"annotator_var": 0.0001, "item_var": 0.01, "residual_var": 0.0094}


@pytest.mark.parametrize("components", [{}, NEAR_1])
def test_promises_the_width_that_cells_have(components: dict) -> None:
    design = plan(min_coverage=0.9, **components)[0]
    model = model_of({**PLAN, **components})
    drawn = model.draw(
        design.annotators, design.items, replicates=200, rng=np.random.default_rng(1)
    )
    cells = [cell_interval(y) for y in drawn]
    assert np.mean([c.high - c.low for c in cells]) == pytest.approx(design.width, rel=0.03)


def test_tells_the_widths_that_most_studies_get() -> None:
    design = plan(min_coverage=0.9, **NEAR_1)[0]
    model = model_of(NEAR_1)
    drawn = model.draw(
        design.annotators, design.items, replicates=2000, rng=np.random.default_rng(2)
    )
    low, high = new_items_limits(drawn.astype(float), 0.95)
    for width, share in zip(design.widths, (0.05, 0.8, 0.95), strict=True):
        assert np.mean(high - low <= width) == pytest.approx(share, abs=0.03)
    assert plan(**NEAR_1)[0].widths == ()


def test_promises_more_width_near_1_than_the_plain_scale() -> None:
    found = plan(budget=20, min_coverage=0.9, **NEAR_1)
    plain = {(d.annotators, d.items): d.width for d in plan(budget=20, **NEAR_1)}
    assert every(d.width > 1.2 * plain[d.annotators, d.items] for d in found if d.annotators > 4)


def model_of(values: dict[str, Any]) -> ScoreModel:
    parts = (values[name] for name in ("annotator_var", "item_var", "residual_var"))
    return ScoreModel.of_components(Components(*parts))


def test_recommends_the_cheapest_that_is_nearly_as_narrow() -> None:
    found = plan(budget=100, max_items=60, min_coverage=0.94, **NEAR_1)
    chosen = recommended(found)
    assert chosen is not None
    assert chosen.cost < 0.3 * found[0].cost
    assert chosen.width <= 1.1 * found[0].width
    assert every(d.cost >= chosen.cost for d in found if d.width <= 1.1 * found[0].width)
    assert recommended([]) is None


def test_plans_for_these_items() -> None:
    for design in plan(estimand="these_items"):
        n, m = design.annotators, design.items
        variance = 0.0016 / n + 0.0864 / (n * m) + 0.072 / m * (1 - m / 210)
        assert design.df == n - 1
        assert design.width == pytest.approx(2 * stats.t.ppf(0.975, n - 1) * np.sqrt(variance))


def test_keeps_the_narrowest_designs_that_cover_enough() -> None:
    frontier, chosen = plan(budget=30), plan(budget=30, min_coverage=0.94)
    assert 1 <= len(chosen) <= 10
    assert every(design.coverage >= 0.94 for design in chosen)
    assert every(0 < design.coverage_se < 0.005 for design in chosen)
    sizes = {(d.annotators, d.items) for d in frontier}
    assert {(d.annotators, d.items) for d in chosen} <= sizes
    assert [d.width for d in chosen] == sorted(d.width for d in chosen)
    assert chosen == plan.__wrapped__(budget=30, min_coverage=0.94)


def test_looks_further_when_the_narrowest_do_not_cover_enough() -> None:
    """For these items a part of the test set misses the rest of it, so those designs drop out."""
    kept = plan(budget=40, estimand="these_items", min_coverage=0.94)
    assert kept
    narrowest = plan(budget=40, estimand="these_items")[0]
    assert narrowest.items < PLAN["max_items"]
    assert {design.items for design in kept} == {PLAN["max_items"]}
    assert plan(budget=20)
    assert plan(budget=20, min_coverage=0.999) == ()


def test_tells_what_one_cell_will_give() -> None:
    assumed: dict[str, Any] = {"mean": 0.8, "annotator_var": 0.0016, "item_var": 0.072}
    contrast = Contrast(0.1, comparisons=6)
    model = logit_model(*assumed.values(), contrast)
    cell = with_chances(planned_cell(annotators=8, items=200, **assumed), model, contrast, 0)
    assert cell.width == pytest.approx(0.0992, abs=0.002)
    assert cell.widths[0] < cell.width < cell.widths[1] < cell.widths[2]
    promised = planned_power(**assumed, difference=0.1, annotators=8, items=200, runs=1)
    assert cell.power == promised
    assert cell.chances is not None
    assert cell.chances.probable == pytest.approx(promised, abs=0.07)
    assert cell.chances.sure < cell.chances.probable
    plain = planned_cell(annotators=3, items=200, **assumed)
    assert (plain.power, plain.chances, plain.has_too_few) == (None, None, True)
    assert np.isnan(plain.cost)
    with pytest.raises(ValueError, match="two annotators and two items"):
        planned_cell(annotators=1, items=200, **assumed)


def test_adds_the_fee_of_the_platform() -> None:
    dear, cheap = plan(fee=1 / 3), plan()
    at_three = [next(d.cost for d in found if d.annotators == 3) for found in (dear, cheap)]
    assert at_three[0] == pytest.approx(at_three[1] * 4 / 3)


def test_buys_nothing_with_too_little() -> None:
    assert plan(budget=5) == ()


def test_plans_for_a_test_set_smaller_than_its_own_minimum() -> None:
    assert {design.items for design in plan(max_items=12)} == {12}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": -1}, "budget is -1"),
        ({"rate": 0}, "rate is 0"),
        ({"item_s": 0}, "item_s is 0"),
        ({"max_items": 0}, "max_items is 0"),
        ({"annotator_var": -0.1}, "annotator_var is -0.1"),
        ({"fee": float("nan")}, "fee is nan"),
        ({"estimand": "E1"}, "'E1'"),
        ({"residual_var": 0.3, "min_coverage": 0.9}, "at most 0.25"),
    ],
)
def test_rejects_a_bad_plan(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(**changes)
