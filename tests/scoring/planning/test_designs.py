import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from annotation.models.errors import BadInput
from scoring.planning.designs import Assumptions, Contrast, design_of, make_plan

# Few items, so that the slow oracle can try every design.
SMALL = Assumptions(max_items=40)


def test_recommends_the_narrowest_design_that_a_budget_buys() -> None:
    plan = make_plan(Assumptions(max_items=210), budget=30)
    best = plan.recommended
    assert best is not None
    assert (best.design.annotators, best.design.items) == (5, 142)
    assert best.design.width == min(each.design.width for each in plan.frontier)
    assert best.design.coverage >= 0.94
    assert best.design.cost <= 30


def test_gives_the_designs_of_the_reference(oracles: Path) -> None:
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
        assert plan.recommended is not None
        assert plan.three is not None
        for planned, known in (
            (plan.recommended, example["best"]),
            (plan.three, example["three_annotators"]),
        ):
            assert (planned.design.annotators, planned.design.items) == (known["n"], known["m"])
            assert 100 * planned.design.width == pytest.approx(known["width_pp"], abs=0.001)
            assert planned.design.cost == pytest.approx(known["cost"], abs=0.006)
        sizes = [(each.design.annotators, each.design.items) for each in plan.frontier]
        assert sizes == [(row["n"], row["m"]) for row in example["frontier"]]


def test_finds_the_cheapest_design_of_a_wanted_width() -> None:
    plan = make_plan(SMALL, width=0.28, min_coverage=None)
    every = [design_of(SMALL, n, m) for n, m in product(range(3, 40), range(20, 41))]
    cheapest = min(design.cost for design in every if design.width <= 0.28)
    assert plan.recommended is not None
    assert plan.recommended.design.width <= 0.28
    assert plan.recommended.design.cost == pytest.approx(cheapest)


def test_reaches_by_width_what_it_bought_by_budget() -> None:
    bought = make_plan(Assumptions(), budget=60, min_coverage=None).recommended
    assert bought is not None
    again = make_plan(Assumptions(), width=bought.design.width, min_coverage=None).recommended
    assert again is not None
    assert again.design.cost <= bought.design.cost
    assert again.design.cost == pytest.approx(bought.design.cost, rel=0.02)


def test_shows_three_annotators_whatever_is_wanted() -> None:
    plan = make_plan(Assumptions(), width=0.12, min_coverage=None)
    assert plan.three is not None
    assert (plan.three.design.annotators, plan.three.design.items) == (3, 200)
    assert plan.three.is_exploratory
    assert 3 not in [each.design.annotators for each in plan.frontier]


def test_counts_the_different_people_of_all_batches() -> None:
    plan = make_plan(
        Assumptions(batches=180, shots=0, max_items=40), budget=20_000, min_coverage=None
    )
    assert plan.three is not None
    assert plan.three.design.people == 540
    assert "different people" in plan.notes[-1]


def test_buys_fewer_items_where_a_platform_takes_a_fee() -> None:
    plain = make_plan(Assumptions(), budget=30, min_coverage=None).frontier
    with_fee = make_plan(Assumptions(fee=0.33), budget=30, min_coverage=None).frontier
    assert with_fee[2].design.items < plain[2].design.items
    assert with_fee[2].design.cost <= 30


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
        found = make_plan(Assumptions(), budget=100, contrast=contrast, min_coverage=None)
        assert found.recommended is not None
        powers.append(found.recommended.power)
    assert powers[1] > powers[0]
    assert powers[2] > powers[0]


def test_says_what_three_annotators_cost_where_the_budget_buys_nothing() -> None:
    plan = make_plan(Assumptions(), budget=5)
    assert (plan.frontier, plan.recommended, plan.three) == ((), None, None)
    assert plan.notes == (
        "This budget pays for no design: 3 annotators on 20 items each cost 8.20.",
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
