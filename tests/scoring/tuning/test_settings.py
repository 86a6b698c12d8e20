"""The papers' settings, as their released code has them."""

from dataclasses import asdict
from typing import Any

import pytest

from annotation.models.errors import BadInput
from scoring.tuning.settings import CLUES, LM_BFF, UNIFEW, changed


@pytest.mark.parametrize(("shots", "steps"), [(10, 40), (20, 60), (30, 80), (16, 40)])
def test_prompt_tuning_takes_the_steps_of_clues(shots: int, steps: int) -> None:
    """MAX_STEP in prompt_finetuning/experiments.sh."""
    assert LM_BFF.steps_for(shots) == steps


def test_fine_tuning_takes_three_epochs() -> None:
    assert [CLUES.steps_for(shots) for shots in (10, 16, 17, 90)] == [3, 3, 6, 18]
    assert (CLUES.optimizer, CLUES.learning_rate, CLUES.batch_size) == ("adamax", 5e-5, 16)


def test_unifew_takes_as_many_steps_whatever_the_shots() -> None:
    assert UNIFEW.steps_for(5) == UNIFEW.steps_for(500) == 400


def test_shows_every_setting() -> None:
    shown = CLUES.in_words()
    for name, value in asdict(CLUES).items():
        assert f"{name}={value}" in shown


def test_epochs_count_once_they_are_given() -> None:
    assert changed(UNIFEW, {"epochs": 2}).steps_for(5) == 6
    assert changed(UNIFEW, {"epochs": 2, "steps": 7}).steps_for(5) == 7
    assert changed(CLUES, {"seed": None, "steps": None}) == CLUES


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"learning_rate": 0.0}, "--learning-rate must be more than 0"),
        ({"learning_rate": float("nan")}, "--learning-rate must be a number"),
        ({"clip": float("inf")}, "--clip must be a number"),
        ({"batch_size": -1}, "--batch-size must be more than 0"),
        ({"steps": 0}, "--steps must be 1 or more"),
        ({"epochs": 0}, "--epochs must be 1 or more where --steps is not given"),
        ({"clip": -1.0}, "--clip must be 0 or more"),
        ({"warmup": 2.0}, "from 0 to 1"),
        ({"stride": 384}, "--stride must be less than --max-length"),
    ],
)
def test_refuses_what_cannot_be(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        changed(CLUES, given)
