"""The pages of a comparison, the leaderboard and the planner, in a browser: axe, width, paper."""

import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Batch
from tests import make
from tests.browser.conftest import LAPTOP, PHONE
from tests.browser.test_accessibility import OPTIONS, findings_of_axe
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
    make.closed(made.study)
    return made


def test_a_benchmarks_further_pages_open_from_its_menu(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    researcher.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    researcher.goto(f"{live_server.url}/benchmarks/{batch.task.benchmark.name}/comparison/")
    # A name and its score stand beside each other.
    name, score = (researcher.locator(f".forest li .{part}").first for part in ("who", "score"))
    expect(name).to_be_visible()
    high, line = (part.bounding_box() for part in (name, score))
    assert high
    assert line
    # However much is said beside the name, as of items that people dispute.
    assert high["x"] + high["width"] <= line["x"]
    assert high["y"] <= line["y"] <= high["y"] + high["height"]
    researcher.get_by_role("link", name="Leaderboard").click()
    expect(researcher).to_have_url(re.compile("/leaderboard/"))


# How high the pages may be: a reader of the whole page comes to its end.
HIGHEST = {"laptop": 2400, "phone": 4200}


def visit(page: Page, live_server: LiveServer, batch: Batch, name: str) -> None:
    study = batch.study
    address = PAGES[name].format(study=study.slug, benchmark=study.benchmark.name)
    page.goto(live_server.url + address)
    if name == "analysis":
        # The first view ordered it, and tests run jobs at once.
        page.goto(live_server.url + address)
        expect(page.locator("#tests")).to_be_visible()
    for figure in page.locator(".figure").all():
        if figure.is_visible():
            # A phone's is drawn once it comes into sight.
            figure.scroll_into_view_if_needed()
            expect(figure.locator("svg")).to_be_visible()


def test_finds_nothing_wrong_on_a_phone(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    researcher.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    wrong = {}
    for name in PAGES:
        visit(researcher, live_server, batch, name)
        wrong[name] = findings_of_axe(researcher, OPTIONS)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_prints_tables_whole_and_nothing_to_press(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    for name in ("comparison", "analysis"):
        researcher.emulate_media(media="screen")
        visit(researcher, live_server, batch, name)
        researcher.emulate_media(media="print")
        assert researcher.evaluate(HIDDEN) == 0, name
        for pressed in (".toolbar", ".tabs", ".crumbs"):
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


def test_is_short_and_scrolls_no_table_sideways(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    for screen, size in (("laptop", LAPTOP), ("phone", PHONE)):
        researcher.set_viewport_size({"width": size[0], "height": size[1]})
        visit(researcher, live_server, batch, "comparison")
        height = researcher.evaluate("document.documentElement.scrollHeight")
        assert height < HIGHEST[screen], screen
        frames = researcher.locator(".scroll")
        assert frames.count() == 1
        assert frames.evaluate("frame => frame.scrollWidth <= frame.clientWidth + 1"), screen


def test_a_wide_table_begins_closed_on_a_phone_and_open_on_a_laptop(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    wide = researcher.locator(".figures.systems, .figures.people").first
    for size, is_open in ((LAPTOP, True), (PHONE, False)):
        researcher.set_viewport_size({"width": size[0], "height": size[1]})
        visit(researcher, live_server, batch, "comparison")
        researcher.goto(f"{researcher.url.partition('?')[0]}?view=wide")
        expect(wide).to_be_visible(visible=is_open)
    assert researcher.evaluate("document.documentElement.scrollHeight") < HIGHEST["phone"]
    researcher.get_by_role("heading", name="People, by shots").click()
    expect(wide).to_be_visible()


def test_acts_on_a_choice_at_once_and_keeps_it_in_the_link(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    visit(researcher, live_server, batch, "comparison")
    expect(researcher.get_by_role("heading", name="at 3 shots")).to_be_visible()
    researcher.locator("#choice-at").select_option("10")
    expect(researcher.get_by_role("heading", name="at 10 shots")).to_be_visible()
    assert "at=10" in researcher.url
    assert "at=10" in (researcher.get_by_role("link", name="Items").get_attribute("href") or "")
    researcher.reload()
    expect(researcher.get_by_role("heading", name="at 10 shots")).to_be_visible()
    expect(researcher.locator("#choice-at")).to_have_value("10")


def test_opens_a_figure_of_people_into_its_annotators(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    visit(researcher, live_server, batch, "comparison")
    pseudonym = batch.assignments.earliest("pk").annotator.pseudonym
    expect(researcher.get_by_text(pseudonym)).to_be_hidden()
    researcher.locator(".people .opens summary").first.click()
    expect(researcher.get_by_text(pseudonym)).to_be_visible()


def test_opens_a_test_into_all_its_figures(
    researcher: Page, live_server: LiveServer, batch: Batch
) -> None:
    visit(researcher, live_server, batch, "analysis")
    tests = researcher.locator("#tests")
    expect(tests.locator(".further dl").first).to_be_hidden()
    tests.locator(".further summary").first.click()
    expect(tests.locator(".further dl").first).to_contain_text("SE")


def test_sorts_a_table_and_says_so(researcher: Page, live_server: LiveServer, batch: Batch) -> None:
    visit(researcher, live_server, batch, "analysis")
    researcher.locator("#tests").get_by_role("link", name="People minus system").click()
    expect(researcher.locator("#tests th[aria-sort=descending]")).to_be_visible()
    assert "sort=tests%3A-difference" in researcher.url


def test_leads_back_to_the_study(researcher: Page, live_server: LiveServer, batch: Batch) -> None:
    visit(researcher, live_server, batch, "comparison")
    researcher.locator(".crumbs").get_by_role("link", name=batch.study.title).click()
    researcher.wait_for_url(f"**/studies/{batch.study.slug}/watch/")
