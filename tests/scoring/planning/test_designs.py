import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models.errors import BadInput
from scoring.core.intervals import split_interval
from scoring.core.people_designs import ScoreModel, recommended
from scoring.planning.plans import Assumptions, Contrast, design_of, make_plan

# Few items, so that the slow oracle can try every design.
SMALL = Assumptions(max_items=40)


def test_recommends_the_cheapest_within_a_tenth_of_the_narrowest() -> None:
    plan = make_plan(Assumptions(), budget=2000, min_coverage=None)
    designs = list(plan.frontier)
    narrowest = min(design.width for design in designs)
    nearly = [design for design in designs if design.width <= 1.1 * narrowest]
    assert plan.recommended is not None
    assert plan.recommended == min(nearly, key=lambda design: design.cost)
    assert plan.recommended == recommended(designs)
    assert plan.recommended.cost < 200


def test_recommends_a_design_that_allows_the_claim_that_is_wanted() -> None:
    plain = make_plan(Assumptions(), budget=30, min_coverage=None).recommended
    claim = make_plan(Assumptions(), budget=30, min_coverage=None, contrast=Contrast(0.05))
    assert plain is not None
    assert plain.is_exploratory
    assert claim.recommended is not None
    assert not claim.recommended.is_exploratory


def test_simulates_what_it_recommends() -> None:
    best = make_plan(Assumptions(max_items=210), budget=30).recommended
    assert best is not None
    assert best.coverage >= 0.94
    assert best.cost <= 30


def test_gives_the_sizes_of_the_reference(oracles: Path) -> None:
    reference = json.loads((oracles / "human_sample_size.json").read_text())
    for example in reference["examples"]:
        parts = example["components"]
        plan = make_plan(
            Assumptions(
                rate=example["rate"],
                onboarding_s=example["onboard_s"],
                shots=example["k"],
                train_s=example["s_train"],
                item_s=example["s_item"],
                max_items=example["M"],
                annotator_var=parts["A"],
                item_var=parts["I"],
                residual_var=parts["R"],
            ),
            budget=example["budget"],
            min_coverage=None,
        )
        assert plan.three is not None
        known = example["three_annotators"]
        assert (plan.three.annotators, plan.three.items) == (known["n"], known["m"])
        assert plan.three.cost == pytest.approx(known["cost"], abs=0.006)
        sizes = [(planned.annotators, planned.items) for planned in plan.frontier]
        assert sizes == [(row["n"], row["m"]) for row in example["frontier"]]


@pytest.mark.parametrize("batches", [1, 5])
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.9])
def test_promises_the_width_that_the_table_will_show(mean: float, batches: int) -> None:
    """Simulated cells of all batches together go through the table's own interval."""
    people = 0.0009
    rest = mean * (1 - mean) - people
    a = Assumptions(
        mean=mean,
        annotator_var=people,
        item_var=0.45 * rest,
        residual_var=0.55 * rest,
        batches=batches,
        max_items=100,
    )
    model = ScoreModel(mean, *_shares(a))
    rng = np.random.default_rng(1)
    splits = np.repeat(range(batches), 5)
    widths = []
    for scores in model.draw(5 * batches, 100, replicates=150, rng=rng):
        cell = split_interval(scores, splits).cell
        widths.append(cell.high - cell.low)
    assert design_of(a, 5, 100).width == pytest.approx(np.mean(widths), rel=0.1)


def _shares(a: Assumptions) -> tuple[float, float]:
    model = ScoreModel.from_components(
        annotator_var=a.annotator_var, item_var=a.item_var, residual_var=a.residual_var
    )
    return model.annotator_share, model.item_share


def test_shows_the_width_that_each_amount_of_money_buys() -> None:
    plan = make_plan(Assumptions(), budget=60, min_coverage=None)
    money, widths = zip(*plan.curve, strict=True)
    assert list(money) == sorted(money)
    assert list(widths) == sorted(widths, reverse=True)
    assert money[0] < 60 < money[-1]
    best = plan.recommended
    assert best is not None
    within = [width for cost, width in plan.curve if cost <= best.cost]
    assert within[-1] >= best.width - 1e-9


def test_finds_the_cheapest_design_of_a_wanted_width() -> None:
    plan = make_plan(SMALL, width=0.28, min_coverage=None)
    every = [design_of(SMALL, n, m) for n, m in product(range(3, 40), range(20, 41))]
    cheapest = min(design.cost for design in every if design.width <= 0.28)
    assert plan.recommended is not None
    assert plan.recommended.width <= 0.28
    assert plan.recommended.cost == pytest.approx(cheapest)


def test_reaches_by_width_what_it_bought_by_budget() -> None:
    bought = make_plan(Assumptions(), budget=60, min_coverage=None).recommended
    assert bought is not None
    again = make_plan(Assumptions(), width=bought.width, min_coverage=None).recommended
    assert again is not None
    assert again.cost <= bought.cost
    assert again.cost == pytest.approx(bought.cost, rel=0.02)


def test_shows_three_annotators_whatever_is_wanted() -> None:
    plan = make_plan(Assumptions(), width=0.12, min_coverage=None)
    assert plan.three is not None
    assert (plan.three.annotators, plan.three.items) == (3, 200)
    assert plan.three.is_exploratory
    assert 3 not in [planned.annotators for planned in plan.frontier]


def test_counts_the_different_people_of_all_batches() -> None:
    plan = make_plan(
        Assumptions(batches=180, shots=0, max_items=40), budget=20_000, min_coverage=None
    )
    assert plan.three is not None
    assert plan.three.people == 540
    assert "different people" in plan.notes[-1]


def test_buys_fewer_items_where_a_platform_takes_a_fee() -> None:
    plain = make_plan(Assumptions(), budget=30, min_coverage=None).frontier
    with_fee = make_plan(Assumptions(fee=0.33), budget=30, min_coverage=None).frontier
    assert with_fee[2].items < plain[2].items
    assert with_fee[2].cost <= 30


def test_tells_the_power_to_show_a_difference() -> None:
    plan = make_plan(Assumptions(), budget=100, contrast=Contrast(0.1), min_coverage=None)
    best = plan.recommended
    assert best is not None
    assert best.power is not None
    assert best.detectable is not None
    larger = make_plan(
        Assumptions(), budget=100, contrast=Contrast(best.detectable), min_coverage=None
    )
    assert larger.recommended is not None
    assert larger.recommended.power == pytest.approx(0.8, abs=1e-6)
    assert (best.power < 0.8) == (best.detectable > 0.1)


def test_knows_that_a_steadier_system_is_easier_to_tell_apart() -> None:
    powers = []
    for contrast in (Contrast(0.05), Contrast(0.05, item_difference_var=0.0), Contrast(0.05, 5)):
        plan = make_plan(Assumptions(), budget=100, contrast=contrast, min_coverage=None)
        assert plan.recommended is not None
        powers.append(plan.recommended.power)
    assert powers[1] > powers[0]
    assert powers[2] > powers[0]


def test_says_what_three_annotators_cost_where_the_budget_buys_nothing() -> None:
    plan = make_plan(Assumptions(), budget=5)
    assert (plan.frontier, plan.recommended, plan.three) == ((), None, None)
    assert plan.notes == (
        "This budget pays for no design: 3 annotators on 20 items each cost 8.20 USD.",
    )


def test_passes_by_a_design_whose_interval_does_not_hold() -> None:
    plan = make_plan(Assumptions(), budget=30, min_coverage=0.999)
    assert plan.recommended is None
    assert "covers the truth" in plan.notes[0]


def test_rests_on_the_formula_where_scores_cannot_vary_so_much() -> None:
    plan = make_plan(Assumptions(annotator_var=0.1, item_var=0.1, residual_var=0.1), budget=30)
    assert plan.recommended is not None
    assert any("formula alone" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({}, "either a budget or a width"),
        ({"budget": 1, "width": 0.1}, "either a budget or a width"),
        ({"budget": -1}, "budget is"),
        ({"width": 0}, "above 0"),
        ({"width": 0.001}, "ask for a wider one"),
    ],
)
def test_refuses_what_cannot_be_planned(wanted: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        make_plan(Assumptions(), **wanted)
