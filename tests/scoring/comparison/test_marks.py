"""What stands at the figure of a system whose answers show no skill by themselves, or that was told
to think first: in the comparison and on the leaderboard."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Batch
from scoring.models import Leaderboard, Run
from scoring.runs.import_report import form_in_words
from tests.every import every
from tests.made_once import once_a_module
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db

NO_SKILL, REASONED = "its figure shows no skill", "people were not"


def made_batch() -> Batch:
    batch = measured.cell([0, 1, 2], tests=12)
    Leaderboard.objects.create(benchmark=batch.study.benchmark, is_public=True)
    return batch


batch_once = once_a_module(made_batch)


@pytest.fixture
def batch(batch_once: Batch) -> Batch:
    return deepcopy(batch_once)


def answered(batch: Batch, given: list[str]) -> Run:
    """Each test item by one of these in turn."""
    items = batch.test_set.items.values_list("example_id", flat=True)
    answers = {pk: [given[place % len(given)]] for place, pk in enumerate(items)}
    return measured.run(batch.task, answers=answers)


def pages(client: Client, batch: Batch) -> list[str]:
    addresses = [
        f"/studies/{batch.study.slug}/comparison/",
        f"/benchmarks/{batch.study.benchmark.name}/leaderboard/",
    ]
    return [client.get(address).content.decode() for address in addresses]


@pytest.mark.parametrize(
    "given",
    [["good"], ["Context: more", "And so on", "good", "bad"], [""]],
    ids=["one label", "no label", "empty"],
)
def test_marks_a_system_whose_answers_show_no_skill(
    admin_client: Client, batch: Batch, given: list[str]
) -> None:
    run = answered(batch, given)
    assert every(NO_SKILL in page for page in pages(admin_client, batch))
    page = admin_client.get(reverse("admin:scoring_run_change", args=[run.pk])).content.decode()
    assert "So its figure shows no skill" in page


def test_marks_no_other(admin_client: Client, batch: Batch) -> None:
    run = measured.run(batch.task, wrong=3)
    assert not any(NO_SKILL in page or REASONED in page for page in pages(admin_client, batch))
    assert not any("no skill" in line for line in form_in_words(run.report, ["bad", "good"]))


def test_says_nothing_of_a_handful_of_answers(admin_client: Client) -> None:
    few = measured.cell([0, 1], tests=4)
    answered(few, ["good"])
    assert NO_SKILL not in pages(admin_client, few)[0]


def test_marks_a_system_that_was_told_to_think_first(admin_client: Client, batch: Batch) -> None:
    measured.run(batch.task, wrong=3, report={"asked": {"reasoning": True}})
    assert every(REASONED in page for page in pages(admin_client, batch))
