"""The pages of a comparison, the leaderboard and the planner, in a browser: axe, width, paper."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Batch
from tests.browser.conftest import PHONE
from tests.browser.test_accessibility import OPTIONS, WIDER
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = {
    "comparison": "/studies/{study}/comparison/",
    "analysis": "/studies/{study}/comparison/analysis/",
    "items": "/studies/{study}/comparison/items/",
    "report": "/studies/{study}/report/",
    "leaderboard": "/benchmarks/{benchmark}/leaderboard/",
    "plan": "/plan/",
}
# What a table's frame hides of it.
HIDDEN = """() => [...document.querySelectorAll(".scroll")]
  .filter((frame) => getComputedStyle(frame).overflowX !== "visible").length"""


@pytest.fixture
def batch() -> Batch:
    made = measured.cell([3, 4, 5, 6, 4])
    measured.run(made.task, wrong=2)
    measured.reported(made.study.benchmark, made.task.slug)
    made.study.title = "A title that is too long for the width of a phone, as titles are"
    made.study.save()
    return made


def visit(page: Page, live_server: LiveServer, batch: Batch, name: str) -> None:
    study = batch.study
    address = PAGES[name].format(study=study.slug, benchmark=study.benchmark.name)
    page.goto(live_server.url + address)
    if name == "analysis":
        # The first view ordered it, and tests run jobs at once.
        page.goto(live_server.url + address)
        expect(page.locator("#tests")).to_be_visible()
    for figure in page.locator(".figure").all():
        expect(figure.locator("svg")).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
def test_finds_nothing_wrong_on_a_phone(
    researcher: Page, live_server: LiveServer, batch: Batch, name: str
) -> None:
    researcher.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    visit(researcher, live_server, batch, name)
    found = Axe().run(researcher, options=OPTIONS).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:160]) for rule in found] == []
    assert researcher.evaluate(WIDER) == 0


@pytest.mark.parametrize("name", ["comparison", "analysis"])
def test_prints_tables_whole_and_nothing_to_press(
    researcher: Page, live_server: LiveServer, batch: Batch, name: str
) -> None:
    visit(researcher, live_server, batch, name)
    researcher.emulate_media(media="print")
    assert researcher.evaluate(HIDDEN) == 0
    for pressed in (".choices", ".tabs", ".actions >> nth=0"):
        expect(researcher.locator(pressed)).to_be_hidden()


def test_shows_an_item_with_its_words_on_a_phone(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    width, height = PHONE
    researcher.set_viewport_size({"width": width, "height": height})
    visit(researcher, live_server, batch, "items")
    row = researcher.locator(".item-list tbody tr").first
    for part in row.locator("th, td").all():
        left, wide = part.evaluate("e => [e.getBoundingClientRect().x, e.offsetWidth]")
        assert 0 <= left <= left + wide <= width
    assert row.evaluate("e => e.offsetHeight") < height / 2
