"""The planner's page answers numbers of any size at once, in words."""

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db

NUMBERS = (
    *("budget", "width", "rate", "fee", "splits", "onboarding_s", "shots", "train_s", "item_s"),
    *("max_items", "mean", "annotator_sd", "item_share", "answer_sd", "difference", "runs"),
    *("margin", "comparisons", "run_sd", "correlation"),
)
GIANT = {
    "1e308": "1e308",
    "400 digits": str(10**400),
    "5000 digits": "9" * 5000,
    "nine digits": "999999999",
    **{word: word for word in ("nan", "inf", "-inf", "-1")},
}
TINY = ("0", "1e-320", "0.0000001")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("number", GIANT.values(), ids=GIANT)
def test_refuses_a_number_that_nobody_plans_with(
    admin_client: Client, name: str, number: str
) -> None:
    if number == "-1" and name in ("difference", "correlation"):
        number = "-100"
    response = admin_client.get("/plan/", {name: number})
    assert response.status_code == 200
    assert list(response.context["form"].errors) == [name]
    document = admin_client.get("/plan/document/", {name: number})
    assert (document.status_code, document.json()) == (400, {"error": "Correct the marked fields."})


@pytest.mark.parametrize("aim", ["budget", "width"])
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("number", TINY)
def test_answers_the_smallest_numbers(
    admin_client: Client, name: str, number: str, aim: str
) -> None:
    # What is quickly simulated.
    small = {"max_items": "20", "difference": "20", "width": "30"}
    given: dict[str, Any] = {**small, name: number, "aim": aim}
    assert admin_client.get("/plan/", given).status_code == 200


@pytest.mark.parametrize("aim", ["budget", "width"])
def test_answers_the_largest_numbers_together(admin_client: Client, aim: str) -> None:
    form = admin_client.get("/plan/").context["form"]
    largest = {name: form.fields[name].max_value for name in NUMBERS}
    assert admin_client.get("/plan/", {**largest, "aim": aim}).status_code == 200


@pytest.mark.parametrize("number", GIANT.values(), ids=GIANT)
def test_makes_no_study_of_giant_numbers(admin_client: Client, number: str) -> None:
    names = ("shots", "splits", "annotators", "items", "rate")
    response = admin_client.post("/plan/draft/", dict.fromkeys(names, number))
    assert response.status_code == 422
    refused = response.context["draft"].errors.as_data()
    assert [name for name in names if any(e.code != "required" for e in refused[name])] == [*names]
