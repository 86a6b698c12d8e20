"""The answer that a comparison opens with: seen at once, in any window and with large letters."""

import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import Study
from annotation.studies.lifecycle import close_study, start_study
from tests import make
from tests.browser.conftest import LAPTOP, PHONE
from tests.browser.test_accessibility import OPTIONS, findings_of_axe
from tests.scoring.comparison import measured

pytestmark = pytest.mark.django_db(transaction=True)

HEADLINE, PEOPLE, LINE = ".answer .lead", ".answer .lead + p:not(.lead)", ".forest li .line"
FIRST_LINE = ".heads + ul > :first-child > details > summary .line"
BOTTOMS = "found => found.map((element) => element.getBoundingClientRect().bottom)"
LETTERS = "size => { document.documentElement.style.fontSize = size; }"
OUTSIDE = """() => [...document.querySelectorAll(".answer *")]
  .filter((element) => element.checkVisibility() && !element.closest("svg"))
  .filter((element) => element.getBoundingClientRect().right > innerWidth)
  .map((element) => element.outerHTML.slice(0, 120))"""
# What is read aloud, and what is left without colours.
WORDS = """lines => lines.map((line) => [...line.querySelectorAll(".apart, .state")]
  .map((part) => {
    const words = part.cloneNode(true);
    words.querySelectorAll("[aria-hidden]").forEach((sign) => sign.remove());
    return words.textContent.trim();
  }))"""


@pytest.fixture
def study() -> Study:
    """Closed: five people on each of two tasks, beside two systems that are worse, two that are as
    good, and one that came later."""
    benchmark = make.benchmark()
    names = ("Places that travellers tell of", "Right-or-wrong statements")
    tasks = [make.task(benchmark, tests=20, name=name) for name in names]
    made = make.study(benchmark, title="Reading short texts")
    batches = [make.batch(made, task, wanted=5) for task in tasks]
    start_study(made, at=make.NOON)
    for task, batch in zip(tasks, batches, strict=True):
        for number in range(5):
            make.worked_through(batch, wrong=2 + number % 3)
        measured.run(task, wrong=16)
        measured.run(task, wrong=15, system="Mistral-7B-Instruct-v0.3", method="PT")
        measured.run(task, wrong=4, system="Meta-Llama-3.1-70B-Instruct", method="ICL")
        measured.run(task, wrong=3, system="GPT-4o-mini-2024-07-18", method="ICL")
    close_study(made, at=timezone.now())
    measured.run(tasks[0], wrong=9, system="T5")
    return made


@pytest.fixture
def answered(researcher: Page, live_server: LiveServer, study: Study) -> Page:
    researcher.goto(f"{live_server.url}/studies/{study.slug}/comparison/")
    return researcher


def test_is_seen_at_once(answered: Page) -> None:
    for size, seen in ((LAPTOP, [HEADLINE, PEOPLE, FIRST_LINE]), (PHONE, [HEADLINE])):
        answered.set_viewport_size({"width": size[0], "height": size[1]})
        for letters in ("100%", "150%"):
            answered.reload()
            answered.evaluate(LETTERS, letters)
            for part in seen:
                assert max(answered.locator(part).evaluate_all(BOTTOMS)) <= size[1], (size, letters)
            answered.locator(".forest summary").first.click()
            answered.locator(".footing summary").click()
            assert answered.evaluate(OUTSIDE) == [], (size, letters)
            assert findings_of_axe(answered, OPTIONS) == [], (size, letters)


def test_is_read_without_colours_and_signs(answered: Page) -> None:
    expect(answered.locator(HEADLINE)).to_contain_text("People probably beat BERT-Base")
    lines = answered.locator(LINE).evaluate_all(WORDS)
    # Five systems, four of them with both tasks; that of one has no difference over both.
    *whole, [over_both, counted], alone = lines
    assert (len(whole), over_both) == (12, "")
    assert any(word in counted for word in ("sure", "probable", "open"))
    for difference, state in (*whole, alone):
        assert difference[0] in "+−0123456789"
        assert re.fullmatch(r"open(, people seem (ahead|behind))?|.*, (sure|probable)", state)


def test_opens_into_tasks_without_scripts(browser: Browser, answered: Page) -> None:
    context = browser.new_context(java_script_enabled=False)
    cookies: Any = answered.context.cookies()
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(answered.url)
    task = page.locator(".forest .task").first
    expect(task).to_be_hidden()
    page.locator(".forest summary").first.click()
    expect(task).to_be_visible()
    context.close()
