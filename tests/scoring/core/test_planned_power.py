from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scoring.core.comparison import paired_difference
from scoring.core.power import (
    Contrast,
    _draw,
    _p_values,
    logit_model,
    planned_power,
    power_of,
    simulated_chances,
)
from scoring.core.variance import t_chance
from tests.every import every

USUAL: dict[str, Any] = {
    "mean": 0.8,
    "annotator_var": 0.0016,
    "item_var": 0.072,
    "difference": 0.05,
    "annotators": 8,
    "items": 200,
    "runs": 5,
}


def power(**changes: Any) -> float:
    return planned_power(**{**USUAL, **changes})


def contrast_of(design: dict[str, Any]) -> Contrast:
    names = ("difference", "runs", "run_sd", "rho", "margin", "comparisons")
    return Contrast(*(design[name] for name in names))


def test_meets_the_reference(reference: Callable) -> None:
    for row in reference("human_power")["rows"]:
        d = row["design"]
        contrast = contrast_of(d)
        of_people = d["mean"], d["annotator_variance"], d["item_variance"]
        model, known = logit_model(*of_people, contrast), row["model"]
        found = {
            "mu": model.mu,
            "a": model.a,
            "b": model.b,
            "system_mu": model.system_mu,
            "system_s": model.s,
            "R": model.people.residual,
            "As": model.system.annotator,
            "Rs": model.system.residual,
            "item_difference": model.item_difference_var,
        }
        assert found == pytest.approx({name: known[name] for name in found}, abs=1e-9)
        promised = [
            planned_power(
                mean=d["mean"],
                annotator_var=d["annotator_variance"],
                item_var=d["item_variance"],
                difference=d["difference"],
                annotators=d["n"],
                items=d["m"],
                runs=d["runs"],
                run_sd=d["run_sd"],
                correlation=d["rho"],
                margin=d["margin"],
                alpha=alpha,
            )
            for alpha in (0.05, 0.05 / d["comparisons"])
        ]
        known_power = [row["promised_power"], row["promised_power_alpha_over_k"]]
        assert promised == pytest.approx(known_power, abs=1e-9)


def test_simulates_what_the_reference_simulated(reference: Callable) -> None:
    for row in reference("human_power")["rows"]:
        d, contrast = row["design"], contrast_of(row["design"])
        model = logit_model(d["mean"], d["annotator_variance"], d["item_variance"], contrast)
        found = simulated_chances(model, contrast, d["n"], d["m"], draws=4000)
        assert found is not None
        for chance, known, error in (
            (found.probable, row["simulated_power"], row["simulated_se"]),
            # The reference leaves out that none is below eight people.
            (found.sure, row["simulated_sure"] * (d["n"] >= 8), row["simulated_sure_se"]),
        ):
            # Four standard errors, of which this has fewer draws than the reference.
            assert chance == pytest.approx(known, abs=4 * error * np.sqrt(1 + 10_000 / 4000))


@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("difference", [0.1, -0.1])
def test_simulates_by_the_test_itself(runs: int, difference: float) -> None:
    contrast = Contrast(difference, runs, margin=0.02)
    model = logit_model(0.8, 0.0036, 0.03, contrast)
    people, system = _draw(model, contrast, 6, 30, 20, np.random.default_rng(4))
    found = _p_values(people, system, contrast)
    for k in range(20):
        for left_out in range(7):
            kept = np.delete(people[k], left_out - 1, axis=0) if left_out else people[k]
            test = paired_difference(kept.astype(float), system[k])
            beyond = np.sign(difference) * test.difference - 0.02
            known = t_chance(beyond / test.se, test.df)
            assert found[k, left_out] == pytest.approx(known, abs=1e-6)


def test_draws_answers_with_the_assumed_components() -> None:
    contrast = Contrast(0.05, runs=6)
    model = logit_model(0.8, 0.0036, 0.03, contrast)
    people, system = _draw(model, contrast, 60, 100, 300, np.random.default_rng(5))
    assert people.mean() == pytest.approx(0.8, abs=0.003)
    assert system.mean() == pytest.approx(0.75, abs=0.004)
    noise = model.people.residual
    between = people.mean(axis=2).var(axis=1, ddof=1).mean() - noise / 100
    assert between == pytest.approx(0.0036, rel=0.05)
    apart = people.mean(axis=1) - system.mean(axis=1)
    expected = model.item_difference_var + noise / 60 + model.system.residual / 6
    assert apart.var(axis=1, ddof=1).mean() == pytest.approx(expected, rel=0.03)


def test_grows_with_the_difference_the_people_the_items_and_the_runs() -> None:
    usual = power()
    larger = {"difference": 0.08, "annotators": 16, "items": 400, "runs": 10, "correlation": 0.9}
    assert every(power(**{name: value}) > usual for name, value in larger.items())
    smaller = {"margin": 0.02, "alpha": 0.01, "run_sd": 0.04, "annotator_var": 0.01}
    assert every(power(**{name: value}) < usual for name, value in smaller.items())


def test_is_that_of_the_mirrored_scores() -> None:
    assert power() == pytest.approx(power(mean=0.2, difference=-0.05), abs=1e-9)


@pytest.mark.parametrize(
    "changes",
    [{"annotators": 4}, {"margin": 0.05}, {"difference": -0.05, "margin": 0.06}, {"difference": 0}],
)
def test_promises_nothing_where_nothing_can_be_shown(changes: dict[str, Any]) -> None:
    assert np.isnan(power(**changes))
    design = {**USUAL, "margin": 0.0, **changes}
    contrast = Contrast(design["difference"], margin=design["margin"])
    model = logit_model(0.8, 0.0016, 0.072, contrast)
    assert np.isnan(power_of(model, contrast, design["annotators"], 200))
    assert simulated_chances(model, contrast, design["annotators"], 200) is None


def test_is_sure_less_often_among_many() -> None:
    contrast = Contrast(0.1)
    model = logit_model(0.8, 0.0016, 0.072, contrast)
    alone = simulated_chances(model, contrast, 8, 200)
    among = simulated_chances(model, replace(contrast, comparisons=9), 8, 200)
    assert alone is not None
    assert among is not None
    assert alone.probable == among.probable
    assert among.sure < alone.sure <= alone.probable
    assert alone == simulated_chances(model, contrast, 8, 200)


def test_takes_people_or_items_that_do_not_differ() -> None:
    model = logit_model(0.8, 0.0, 0.0, Contrast(0.05))
    assert (model.a, model.b, model.item_difference_var) == (0, 0, pytest.approx(0, abs=1e-12))
    assert power(annotator_var=0.0) > power()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mean": 1.0}, "both must lie between 0 and 100 %"),
        ({"difference": 0.9}, "both must lie between 0 and 100 %"),
        ({"difference": 1.5}, "difference is 1.5"),
        ({"annotator_var": -0.1}, "cannot be negative"),
        ({"item_var": 0.16}, "mean of 80 % do not vary"),
        ({"runs": 0}, "at least one run"),
        ({"run_sd": -0.1}, "SD over runs is -0.1"),
        ({"correlation": 1.1}, "correlation is 1.1"),
        ({"margin": -0.1}, "margin is -0.1"),
        ({"items": 0}, "takes annotators, items"),
        ({"alpha": 1.0}, "alpha between 0 and 1"),
    ],
)
def test_rejects_what_cannot_be(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        power(**changes)
