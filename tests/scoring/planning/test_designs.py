import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models.errors import BadInput
from scoring.core.intervals import cell_interval
from scoring.core.people_designs import ScoreModel, recommended
from scoring.core.power import Contrast
from scoring.planning.designs import Assumptions, design_of, usual_components
from scoring.planning.plans import ENOUGH, make_plan
from scoring.planning.tables import plan_table

# Few items, so that the slow oracle can try every design.
SMALL = Assumptions(max_items=40)
# Quick answers, so that the narrowest designs have enough people for a claim; people much alike.
ALIKE: dict[str, Any] = {"annotator_var": 0.0016, "item_var": 0.072, "residual_var": 0.0864}
SHORT = Assumptions(train_s=12, item_s=8, **ALIKE)


def test_recommends_the_cheapest_within_a_tenth_of_the_narrowest() -> None:
    plan = make_plan(SHORT, budget=2000, min_coverage=None)
    designs = list(plan.frontier)
    narrowest = min(design.width for design in designs)
    nearly = [design for design in designs if design.width <= 1.1 * narrowest]
    assert plan.recommended is not None
    assert plan.recommended == min(nearly, key=lambda design: design.cost)
    assert plan.recommended == recommended(designs)
    assert plan.recommended.cost < 200


def test_recommends_a_design_that_allows_the_claim_that_is_wanted() -> None:
    alike = Assumptions(**ALIKE)
    plain = make_plan(alike, budget=30, min_coverage=None).recommended
    claim = make_plan(alike, budget=30, min_coverage=None, contrast=Contrast(0.05))
    assert plain is not None
    assert plain.has_too_few
    assert claim.recommended is not None
    assert not claim.recommended.has_too_few


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


@pytest.mark.parametrize("mean", [0.5, 0.8, 0.9])
def test_promises_the_width_that_the_table_will_show(mean: float) -> None:
    """Simulated cells go through the table's own interval."""
    people = 0.0009
    rest = mean * (1 - mean) - people
    a = Assumptions(
        mean=mean,
        annotator_var=people,
        item_var=0.45 * rest,
        residual_var=0.55 * rest,
        max_items=100,
    )
    model = ScoreModel(mean, *_shares(a))
    rng = np.random.default_rng(1)
    widths = []
    for scores in model.draw(8, 100, replicates=150, rng=rng):
        cell = cell_interval(scores)
        widths.append(cell.high - cell.low)
    assert design_of(a, 8, 100).width == pytest.approx(np.mean(widths), rel=0.1)


def _shares(a: Assumptions) -> tuple[float, float]:
    model = ScoreModel.of_components(a.components)
    return model.annotator_share, model.item_share


def test_shows_the_width_that_each_amount_of_money_buys() -> None:
    plan = make_plan(SHORT, budget=60, min_coverage=None)
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
    bought = make_plan(SHORT, budget=60, min_coverage=None).recommended
    assert bought is not None
    again = make_plan(SHORT, width=bought.width, min_coverage=None).recommended
    assert again is not None
    assert again.cost <= bought.cost
    assert again.cost == pytest.approx(bought.cost, rel=0.02)


def test_takes_ten_points_between_people_for_usual_and_fewer_near_the_ends() -> None:
    usual = usual_components(0.8)
    assert (usual.annotator, usual.item, usual.residual) == pytest.approx((0.01, 0.0256, 0.1244))
    assert Assumptions().components == usual
    easy = usual_components(0.98)
    assert (easy.annotator, easy.item) == pytest.approx((0.00196, 0.0196**2))


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"annotator_var": 0.1, "item_var": 0.1, "residual_var": 0.1}, "vary by at most 0.25"),
        ({"mean": 0.9}, "average 90 vary by at most 0.09; annotators, items and rest add up"),
        ({"item_var": 0.15, "residual_var": 0.0}, "nothing is left to chance"),
    ],
)
def test_refuses_variances_that_no_scores_have(parts: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        Assumptions(**parts)


def test_recommends_within_a_budget_what_shows_the_difference() -> None:
    """And where none does the one of the whole budget that has the best chance."""
    plan = make_plan(Assumptions(), budget=300, contrast=Contrast(0.2))
    best = plan.recommended
    assert best is not None
    assert best.chances is not None
    assert best.chances.probable >= ENOUGH
    assert best.cost < 200
    weak = make_plan(Assumptions(), budget=60, contrast=Contrast(0.1))
    assert weak.recommended is not None
    assert weak.recommended.cost == pytest.approx(60, abs=1)
    powers = [design.power or 0 for design in weak.frontier]
    assert weak.recommended.power in sorted(powers)[-5:]
    assert weak.notes[0].startswith("Too weak to be worth its money.")


def test_shows_three_annotators_whatever_is_wanted() -> None:
    plan = make_plan(Assumptions(), width=0.12, min_coverage=None)
    assert plan.three is not None
    assert (plan.three.annotators, plan.three.items) == (3, 200)
    assert plan.three.has_too_few
    assert 3 not in [planned.annotators for planned in plan.frontier]


def test_spreads_people_over_splits_and_counts_them_together() -> None:
    alone = make_plan(Assumptions(), budget=100, min_coverage=None)
    spread = make_plan(Assumptions(splits=5), budget=100, min_coverage=None)
    assert spread.recommended == alone.recommended
    assert spread.frontier[0].annotators == 5
    assert spread.three == alone.three


def test_buys_fewer_items_where_a_platform_takes_a_fee() -> None:
    plain = make_plan(Assumptions(), budget=30, min_coverage=None).frontier
    with_fee = make_plan(Assumptions(fee=0.33), budget=30, min_coverage=None).frontier
    assert with_fee[2].items < plain[2].items
    assert with_fee[2].cost <= 30


def test_names_the_cheapest_design_that_is_strong_enough() -> None:
    plan = make_plan(Assumptions(), budget=25, contrast=Contrast(0.15))
    enough = plan.strong_enough
    assert enough is not None
    assert enough.chances is not None
    assert plan.chance is not None
    assert plan.chance < 0.8 <= enough.chances.probable < 0.85
    told = f"{enough.annotators} people on {enough.items} items each, for {enough.cost:.2f} USD."
    assert plan.notes[0].endswith(told)
    paid = make_plan(Assumptions(), budget=enough.cost, contrast=Contrast(0.15), min_coverage=None)
    # For that money no design promises much more.
    assert 0.79 < max(design.power or 0 for design in paid.frontier) < 0.87


def test_names_the_items_that_it_would_take() -> None:
    plan = make_plan(Assumptions(max_items=60), budget=60, contrast=Contrast(0.1))
    enough = plan.strong_enough
    assert enough is not None
    assert enough.items > 60
    assert "takes more items" in plan.notes[0]


@pytest.mark.parametrize(
    ("contrast", "sentence"),
    [
        (Contrast(0.001), "No design that anybody could run finds the difference in 80 %"),
        (Contrast(0.02, margin=0.02), "within the margin"),
        (Contrast(0.9), "no right or wrong answers"),
        (Contrast(-0.02, comparisons=9), "Too weak"),
    ],
)
def test_says_where_the_difference_is_not_shown(contrast: Contrast, sentence: str) -> None:
    plan = make_plan(Assumptions(), budget=100, contrast=contrast, min_coverage=None)
    assert sentence in " ".join(plan.notes)


def test_says_that_chances_are_those_of_right_or_wrong_answers() -> None:
    partly = Assumptions(mean=0.8, item_var=0.03, residual_var=0.03)
    plan = make_plan(partly, budget=100, contrast=Contrast(0.1), min_coverage=None)
    assert plan.notes[-1].startswith("The chances are those of right or wrong answers")


def test_says_nothing_where_the_plan_is_strong_enough() -> None:
    plan = make_plan(Assumptions(), budget=200, contrast=Contrast(0.25))
    assert plan.chance is not None
    assert plan.chance >= 0.8
    assert plan.strong_enough is None
    assert plan.notes == ("No verdict can be sure: 5 people, and it takes 8.",)


def test_is_too_weak_with_too_few_people_for_any_claim() -> None:
    plan = make_plan(Assumptions(), budget=13, contrast=Contrast(0.1), min_coverage=None)
    assert plan.recommended is not None
    assert plan.recommended.has_too_few
    assert plan.chance == 0
    assert plan.strong_enough is not None


def test_says_what_three_annotators_cost_where_the_budget_buys_nothing() -> None:
    plan = make_plan(Assumptions(), budget=5)
    assert (plan.frontier, plan.recommended, plan.three) == ((), None, None)
    assert plan.notes == (
        "This budget pays for no design: 3 annotators on 20 items each cost 13.00 USD.",
    )


def test_passes_by_a_design_whose_interval_does_not_hold() -> None:
    plan = make_plan(Assumptions(), budget=30, min_coverage=0.999)
    assert plan.recommended is None
    assert "covers the truth" in plan.notes[0]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({}, "a budget, a width for the interval, or a difference"),
        ({"contrast": Contrast(0.02, margin=0.02)}, "neither ahead nor behind"),
        ({"budget": 1, "width": 0.1}, "either a budget or a width"),
        ({"budget": -1}, "budget is"),
        ({"width": 0}, "above 0"),
        ({"width": 0.001}, "ask for a wider one"),
    ],
)
def test_refuses_what_cannot_be_planned(wanted: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        make_plan(Assumptions(), **wanted)


def test_plans_for_a_difference_the_cheapest_design_that_shows_it() -> None:
    plan = make_plan(Assumptions(), contrast=Contrast(0.1))
    best = plan.recommended
    assert best is not None
    assert best.chances is not None
    assert best.chances.probable >= ENOUGH
    assert plan.strong_enough is None
    # None that the formula lets show it costs less by more than its error.
    assert best.cost <= 1.1 * min(design.cost for design in plan.frontier)


def test_says_how_many_items_a_small_difference_takes() -> None:
    plan = make_plan(Assumptions(max_items=60), contrast=Contrast(0.1))
    assert (plan.recommended, plan.frontier) == (None, ())
    enough = plan.strong_enough
    assert enough is not None
    assert enough.items > 60
    [note] = plan.notes
    assert note.startswith("60 items cannot show 10 points with a chance of 80 %. That would take ")
    takes = f"{enough.items} items and {enough.annotators} people ({enough.cost:.2f} USD)"
    assert takes in note


@pytest.mark.parametrize(("asked", "sign"), [(0.05, 1), (-0.05, -1)])
def test_says_which_difference_the_items_that_there_are_would_show(asked: float, sign: int) -> None:
    plan = make_plan(Assumptions(max_items=100, shots=0), contrast=Contrast(asked))
    assert plan.with_all_items is not None
    points, design = plan.with_all_items
    assert (design.annotators, design.items) == (5, 100)
    assert design.chances is not None
    assert design.chances.probable >= ENOUGH
    [note] = plan.notes
    shown = f"These 100 show {points} points, with 5 people ({design.cost:.2f} USD)."
    assert note.endswith(shown)
    named = [line.cells["design"] for line in plan_table(plan).lines]
    assert named[-2:] == ["for this difference", f"on these items, {points} points"]
    # It can be planned, and a point less takes more people or cannot be.
    wanted = make_plan(plan.assumptions, contrast=Contrast(sign * points / 100)).recommended
    assert wanted is not None
    less = make_plan(plan.assumptions, contrast=Contrast(sign * (points - 1) / 100)).recommended
    assert less is None or less.annotators > 5


def test_says_where_too_few_items_show_no_difference_at_all() -> None:
    plan = make_plan(Assumptions(max_items=20), contrast=Contrast(-0.1))
    assert plan.with_all_items is None
    assert plan.notes[0].endswith("More people do not help.")
