"""The pages by which things leave a study, in a browser: a phone and a laptop, light and dark."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Batch
from scoring.bundle.packing import store, verify_bundle
from tests import make
from tests.browser.conftest import LAPTOP, PHONE
from tests.browser.test_accessibility import findings_at
from tests.scoring.bundle.packed import packed, zipped
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db(transaction=True)

VIEWS = [(size, scheme) for size in (PHONE, LAPTOP) for scheme in ("light", "dark")]


@pytest.fixture
def batch() -> Batch:
    made = measured.cell([0, 2, 4], tests=3, training=1)
    measured.run(made.task)
    return made


def addresses(batch: Batch, folder: Path) -> list[str]:
    study = batch.study
    bundle = zipped(packed(study), folder / "bundle.zip")
    imported, _is_new = store(verify_bundle(bundle), owner=None)
    example = batch.test_set.examples.order_by("pk")[0]
    return [
        reverse("annotation:exports", args=[study.slug]),
        reverse("scoring:correct_gold", args=["study", study.slug, example.pk]),
        reverse("scoring:imported_studies"),
        reverse("scoring:imported_study", args=[imported.pk]),
    ]


def test_finds_nothing_wrong(
    researcher: Page, live_server: LiveServer, batch: Batch, tmp_path: Path
) -> None:
    wrong = {}
    for address in addresses(batch, tmp_path):
        researcher.goto(live_server.url + address)
        wrong[address] = findings_at(researcher, VIEWS)
    assert {address: found for address, found in wrong.items() if found} == {}


def test_takes_a_bundle_out_and_shows_it_elsewhere(
    researcher: Page, live_server: LiveServer, batch: Batch, tmp_path: Path
) -> None:
    researcher.goto(live_server.url + reverse("annotation:watch", args=[batch.study.slug]))
    researcher.get_by_role("link", name="Data").click()
    with researcher.expect_download() as waiting:
        researcher.get_by_role("button", name="Make the bundle").click()
    path = tmp_path / "bundle.zip"
    waiting.value.save_as(path)
    researcher.goto(live_server.url + reverse("scoring:imported_studies"))
    researcher.get_by_label("A bundle").set_input_files(path)
    researcher.get_by_role("button", name="Check and show").click()
    researcher.get_by_role("link", name="Open").click()
    expect(researcher.get_by_role("heading", name=batch.study.title)).to_be_visible()


def test_corrects_gold_in_two_steps(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    example = batch.test_set.examples.order_by("pk")[0]
    item = reverse("scoring:item", args=["study", batch.study.slug, example.pk])
    researcher.goto(live_server.url + item)
    researcher.get_by_role("link", name="Correct the gold").click()
    label = next(label for label in make.LABELS if [label] != measured.gold(example))
    researcher.get_by_label("Gold", exact=True).fill(label)
    researcher.get_by_label("Reason").fill("It was mislabelled.")
    researcher.get_by_role("button", name="See what it would change").click()
    researcher.get_by_role("button", name="Apply this correction").click()
    expect(researcher.get_by_text("The gold is corrected")).to_be_visible()
    assert batch.task.latest_gold_version().number == 2
